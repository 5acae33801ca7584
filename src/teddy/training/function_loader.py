"""Mini-batches from a function that makes a PyG loader of the pruned data."""

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
    """Loader from a function that makes a PyG loader, or another iterable, of training data.

    The function gets a ``Data``, a list of them for graph classification, or a ``HeteroData``,
    with ``edge_index``, ``n_id`` (the number of each node), ``y``, the masks, the model's inputs
    and, unless sparse, features ``x``. ``edge_id`` is the number of each edge, if edges have
    values, and ``graph_id`` that of a graph in a set.

    A batch must have its ``n_id`` (and ``graph_id``) and ``edge_index``. Its features and inputs
    are used; missing ones, and labels, are looked up by number. With ``batch_size``, as from
    ``NeighborLoader``, the first ``batch_size`` nodes are training rows. Random numbers must be
    drawn by torch.

    Args:
        make: The function.
        together: Number of batches in a step.

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
        """Return the batches of the loader."""
        check_divisible(data)
        to_load, as_read = loader_functions(data)
        try:
            loader = self.make(to_load(data))
        except ImportError as error:
            raise InputError(f"the loader failed, a package is missing: {error}") from None
        if isinstance(loader, Iterator) or not isinstance(loader, Iterable):
            raise InputError(
                f"the loader is a {type(loader).__name__}, expected an iterable for every epoch, "
                "such as a list"
            )
        return _Read(loader, partial(as_read, data=data))

    def __str__(self) -> str:
        name = getattr(self.make, "__qualname__", type(self.make).__name__)
        return f"{name}:together={self.together}"


class _Read:
    def __init__(self, loader: Iterable[Any], as_read: Callable[[Any], Batch]) -> None:
        self.loader, self.as_read = loader, as_read

    def __iter__(self) -> Iterator[Batch]:
        try:
            yield from map(self.as_read, self.loader)
        except ImportError as error:
            raise InputError(f"the loader failed, a package is missing: {error}") from None
