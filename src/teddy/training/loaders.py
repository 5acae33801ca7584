"""Parts of a graph to learn from, one after the other: any PyG loader, or partitions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.errors import InputError
from teddy.numbers import check_count


@dataclass(frozen=True)
class Batch:
    """Some nodes of a graph and edges between them.

    Attributes:
        nodes: int64 ``[n]``, which they are.
        edges: Makes their ``edge_index``, by places in ``nodes``; called by the process that
            computes the batch, and by no other.
        num_seeds: The first of the nodes, so many, are learned from; the others help them.
        x: Their features, if the loader has changed them.
    """

    nodes: Tensor
    edges: Callable[[], Tensor]
    num_seeds: int
    x: Tensor | None = None


class Loader(ABC):
    """A way to batches.

    Attributes:
        together: Batches whose gradients are summed to those of one step. Processes share them,
            so the steps are the same for any number of processes up to this.
    """

    together: int

    @abstractmethod
    def load(self, graph: Data) -> Iterable[Batch]:
        """Batches of a graph, drawn anew each time one goes through them."""


@dataclass(frozen=True)
class FromFunction(Loader):
    """Any PyG loader, or other iterable of ``Data``, that a function makes of a graph.

    The graph has ``edge_index``, ``n_id`` (the number of each node), ``y``, the masks and, unless
    they are sparse, the features ``x``. A batch must have its share of ``n_id``; ``x``, if it has
    none, and labels are taken from the graph. Where it has a ``batch_size``, as of
    ``NeighborLoader``, so many nodes at its beginning are learned from. Whatever is random must be
    drawn by torch.

    Args:
        make: The function.
        together: Batches of a step.

    Example:
        >>> from torch_geometric.loader import RandomNodeLoader
        >>> graph = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), n_id=torch.arange(4),
        ...     num_nodes=4)
        >>> halves = FromFunction(lambda graph: RandomNodeLoader(graph, num_parts=2))
        >>> [batch.num_seeds for batch in halves.load(graph)]
        [2, 2]
    """

    make: Callable[[Data], Iterable[Data]]
    together: int = 1

    def __post_init__(self) -> None:
        check_count(self.together, "together")

    def load(self, graph: Data) -> Iterable[Batch]:
        """Batches as the loader gives them."""
        try:
            found = self.make(graph)
        except ImportError as error:
            raise InputError(f"the loader can't be used: {error}") from None
        if isinstance(found, Iterator) or not isinstance(found, Iterable):
            raise InputError(
                f"the loader is a {type(found).__name__}, expected what can be gone through anew "
                "in each epoch"
            )
        return _Checked(found, graph.num_nodes)

    def __str__(self) -> str:
        name = getattr(self.make, "__qualname__", type(self.make).__name__)
        return f"{name}:together={self.together}"


class _Checked:
    def __init__(self, found: Iterable[Any], num_nodes: int) -> None:
        self.found, self.num_nodes = found, num_nodes

    def __iter__(self) -> Iterator[Batch]:
        try:
            for data in self.found:
                yield as_batch(data, self.num_nodes)
        except ImportError as error:
            raise InputError(f"the loader can't be used: {error}") from None


def as_batch(data: Any, num_nodes: int) -> Batch:
    """What a loader gave, or one line that says what is wrong with it.

    Example:
        >>> as_batch(Data(edge_index=torch.empty(2, 0, dtype=torch.long)), 3)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: a batch of the loader has no n_id, expected a loader that slices
        whatever nodes have
    """
    if not isinstance(data, Data):
        raise InputError(f"the loader gave a {type(data).__name__}, expected a Data")
    for name in ("n_id", "edge_index"):
        if not isinstance(data.get(name), Tensor):
            raise InputError(
                f"a batch of the loader has no {name}, expected a loader that slices whatever "
                "nodes have"
            )
    nodes, edges = data.n_id, data.edge_index
    if edges.dim() != 2 or edges.size(0) != 2:
        raise InputError(f"edge_index of a batch has shape {list(edges.shape)}, expected [2, E]")
    if nodes.dim() != 1 or not _within(nodes, num_nodes):
        raise InputError(f"n_id of a batch isn't a list of nodes from 0 to {num_nodes - 1}")
    if not _within(edges, nodes.numel()):
        raise InputError(
            f"edges of a batch aren't between its nodes, expected integers from 0 to "
            f"{nodes.numel() - 1}"
        )
    seeds = data.get("batch_size")
    num_seeds = nodes.numel() if seeds is None else check_count(int(seeds), "batch_size", 0)
    x = data.get("x")
    if x is not None and x.size(0) != nodes.numel():
        raise InputError(f"x of a batch has {x.size(0)} rows, expected {nodes.numel()}")
    return Batch(nodes, lambda: edges, min(num_seeds, nodes.numel()), x)


def _within(numbers: Tensor, end: int) -> bool:
    if numbers.is_floating_point() or numbers.is_complex() or numbers.dtype == torch.bool:
        return False
    return not numbers.numel() or 0 <= int(numbers.min()) <= int(numbers.max()) < end


def graph_to_load(data: Data) -> Data:
    """A graph as loaders take it: on the CPU, with ``n_id``, without features that are sparse.

    Example:
        >>> graph_to_load(Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]))).n_id
        tensor([0, 1])
    """
    graph = Data(edge_index=data.edge_index.cpu(), num_nodes=data.x.size(0))
    graph.n_id = torch.arange(data.x.size(0))
    for name in ("y", "train_mask", "val_mask", "test_mask"):
        if name in data:
            graph[name] = data[name].cpu()
    if data.x.layout == torch.strided:
        graph.x = data.x.cpu()
    return graph


def grouped(batches: Iterator[Batch], together: int) -> Iterator[list[Batch]]:
    """The batches of each step.

    Example:
        >>> [len(step) for step in grouped(iter([None] * 5), 2)]
        [2, 2, 1]
    """
    while step := list(islice(batches, together)):
        yield step
