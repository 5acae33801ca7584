"""Mini-batches of any PyG loader, or other iterable, that a function makes of the pruned data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch_geometric.data import Data

from teddy.errors import InputError
from teddy.sparsity import check_count
from teddy.tasks.batches import Batch, check_divisible
from teddy.tasks.loader_data import loader_functions
from teddy.training.loaders import Loader


@dataclass(frozen=True)
class FunctionLoader(Loader):
    """Any PyG loader, or other iterable, that a function makes of the data that training sees.

    The function gets a ``Data``, of graph classification a list of them, or a ``HeteroData``. It
    has ``edge_index``, ``n_id`` (the number of each node), ``y``, the masks, the model's inputs
    and, unless they are sparse, the features ``x``. Where edges have values, ``edge_id`` is the
    number of each edge; a graph of several has its number ``graph_id``.

    A batch must have its share of ``n_id`` (and ``graph_id``) and its ``edge_index``. Features and
    inputs that it has are used; others, and labels, are looked up by these numbers. Where it has a
    ``batch_size``, as of ``NeighborLoader``, so many nodes at its beginning are learned from.
    Whatever is random must be drawn by torch.

    Args:
        make: The function.
        together: Batches of a step.

    Example:
        >>> from torch_geometric.loader import RandomNodeLoader
        >>> import torch
        >>> data = Data(x=torch.eye(4), edge_index=torch.tensor([[0, 1], [1, 0]]))
        >>> halves = FunctionLoader(lambda graph: RandomNodeLoader(graph, num_parts=2))
        >>> [batch.rows.numel() for batch in halves.load(data)]
        [2, 2]
    """

    make: Callable[[Any], Iterable[Any]]
    together: int = 1

    def __post_init__(self) -> None:
        check_count(self.together, "together")

    def load(self, data: Data) -> Iterable[Batch]:
        """Batches as the loader gives them."""
        check_divisible(data)
        to_load, as_read = loader_functions(data)
        try:
            found = self.make(to_load(data))
        except ImportError as error:
            raise InputError(f"the loader can't be used: {error}") from None
        if isinstance(found, Iterator) or not isinstance(found, Iterable):
            raise InputError(
                f"the loader is a {type(found).__name__}, expected what can be gone through anew "
                "in each epoch"
            )
        return _Read(found, partial(as_read, data=data))

    def __str__(self) -> str:
        name = getattr(self.make, "__qualname__", type(self.make).__name__)
        return f"{name}:together={self.together}"


class _Read:
    def __init__(self, found: Iterable[Any], as_read: Callable[[Any], Batch]) -> None:
        self.found, self.as_read = found, as_read

    def __iter__(self) -> Iterator[Batch]:
        try:
            yield from map(self.as_read, self.found)
        except ImportError as error:
            raise InputError(f"the loader can't be used: {error}") from None
