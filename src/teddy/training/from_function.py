"""Mini-batches of any PyG loader, or other iterable, that a function makes of the pruned data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.errors import InputError
from teddy.graph.surroundings import Surroundings
from teddy.models.inputs import input_levels
from teddy.numbers import check_count
from teddy.training.batch_checks import check_edges, check_nodes, check_values, is_within, num_seeds
from teddy.training.hetero_batches import as_hetero_batch, hetero_to_load
from teddy.training.loaders import Batch, Loader
from teddy.training.subgraphs import check_divisible, subgraph

_TARGETS = ("y", "train_mask", "val_mask", "test_mask")


@dataclass(frozen=True)
class FromFunction(Loader):
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
        >>> data = Data(x=torch.eye(4), edge_index=torch.tensor([[0, 1], [1, 0]]))
        >>> halves = FromFunction(lambda graph: RandomNodeLoader(graph, num_parts=2))
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
        to_load, as_read = _KINDS[_kind(data)]
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


def graph_to_load(data: Data) -> Data:
    """A graph as loaders take it: on the CPU, with ``n_id``, without features that are sparse.

    Where links are predicted, the training links are ``edge_label_index`` and ``edge_label``.

    Example:
        >>> graph_to_load(Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]))).n_id
        tensor([0, 1])
    """
    graph = Data(edge_index=data.edge_index.cpu(), num_nodes=data.x.size(0))
    graph.n_id = torch.arange(data.x.size(0))
    if "edge_label_index" in data:
        graph.edge_label_index = data.edge_label_index[:, data.train_mask].cpu()
        graph.edge_label = data.y[data.train_mask].flatten().cpu()
    else:
        for name in _TARGETS:
            if name in data:
                graph[name] = data[name].cpu()
    if data.x.layout == torch.strided:
        graph.x = data.x.cpu()
    levels = input_levels(data)
    for name in levels:
        graph[name] = data[name].cpu() if isinstance(data[name], Tensor) else data[name]
    if "edges" in levels.values():
        graph.edge_id = torch.arange(graph.edge_index.size(1))
    return graph


def graphs_to_load(data: Data) -> list[Data]:
    """The graphs of a set as loaders take them, each with its number ``graph_id``.

    Example:
        >>> data = Data(x=torch.eye(3), edge_index=torch.tensor([[1], [2]]),
        ...     y=torch.tensor([0, 1]), graph_of_node=torch.tensor([0, 1, 1]))
        >>> [(graph.n_id.tolist(), graph.edge_index.tolist()) for graph in graphs_to_load(data)]
        [([0], [[], []]), ([1, 2], [[0], [1]])]
    """
    union, of_node = graph_to_load(data), data.graph_of_node.cpu()
    sizes = torch.bincount(of_node)
    of_edge = of_node[union.edge_index[0]]
    counts = torch.bincount(of_edge, minlength=sizes.numel())
    nodes = torch.arange(of_node.numel()).split(sizes.tolist())
    columns = torch.argsort(of_edge, stable=True).split(counts.tolist())
    levels = {"n_id": "nodes", "edge_id": "edges", "x": "nodes", **input_levels(data)}
    graphs = []
    for number, (own_nodes, own_columns) in enumerate(zip(nodes, columns, strict=True)):
        edge_index = union.edge_index[:, own_columns] - own_nodes[0]
        graph = Data(edge_index=edge_index, num_nodes=own_nodes.numel())
        graph.graph_id = torch.tensor([number])
        for name in _TARGETS:
            if name in union:
                graph[name] = union[name][number : number + 1]
        for name, level in levels.items():
            if name in union:
                graph[name] = union[name][own_nodes if level == "nodes" else own_columns]
        graphs.append(graph)
    return graphs


def as_batch(found: Any, data: Data) -> Batch:
    """Read a part of a graph that a loader gave, or raise.

    Example:
        >>> as_batch(Data(edge_index=torch.empty(2, 0, dtype=torch.long)), Data(x=torch.eye(3)))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: a batch of the loader has no n_id, expected a loader that slices
        whatever nodes have
    """
    nodes, make = _read(found, data)
    return Batch(nodes[: num_seeds(found, nodes)], make)


def as_graph_batch(found: Any, data: Data) -> Batch:
    """Read some graphs of a set that a loader gave, or raise."""
    nodes, make = _read(found, data)
    graphs, of_node = found.get("graph_id"), found.get("batch")
    if not isinstance(graphs, Tensor) or graphs.dim() != 1 or not is_within(graphs, len(data.y)):
        raise InputError(
            "graph_id of a batch isn't a list of graphs, expected a loader that joins whatever "
            "graphs have, such as PyG's DataLoader"
        )
    if of_node is None:  # one graph
        of_node = torch.zeros_like(nodes)
    numbers = of_node.unique_consecutive()
    if of_node.shape != nodes.shape or not torch.equal(numbers, torch.arange(graphs.numel())):
        raise InputError(
            f"batch of a batch doesn't number the nodes of {graphs.numel()} graphs one after the "
            "other, expected a loader such as PyG's DataLoader"
        )
    return Batch(graphs, partial(make, graph_of_node=of_node))


def _read(found: Any, data: Data) -> tuple[Tensor, Callable[..., Data]]:
    """The numbers of a batch's nodes, and a function that makes its graph."""
    if not isinstance(found, Data):
        raise InputError(f"the loader gave a {type(found).__name__}, expected a Data")
    nodes = check_nodes(found, data.x.size(0))
    edge_index = check_edges(found, nodes.numel(), nodes.numel())
    given, columns = {}, edge_index[0, :0]
    for name, level in {"x": "nodes", **input_levels(data)}.items():
        if level != "whole" and found.get(name) is not None:
            count = nodes.numel() if level == "nodes" else edge_index.size(1)
            given[name] = check_values(found, name, count)
        elif level == "edges":
            columns = check_nodes(found, data.edge_index.size(1), "edge_id")
            check_values(found, "edge_id", edge_index.size(1))

    def make(**of_graphs: Tensor) -> Data:
        return subgraph(data, nodes, edge_index, columns, given | of_graphs)

    return nodes, make


def _kind(data: Data) -> str:
    if isinstance(data.edge_index, Surroundings):
        return "hetero"
    return "graphs" if "graph_of_node" in data else "graph"


# From the data that training sees to what a function is given, and from a batch of its loader.
_KINDS: dict[str, tuple[Callable[[Data], Any], Callable[..., Batch]]] = {
    "graph": (graph_to_load, as_batch),
    "graphs": (graphs_to_load, as_graph_batch),
    "hetero": (hetero_to_load, as_hetero_batch),
}
