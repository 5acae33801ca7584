"""Data in the form of PyG's loaders, and mini-batches from their results."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from teddy.data.features import take_rows
from teddy.errors import InputError
from teddy.graph.groups import EdgeType
from teddy.graph.inputs import HeteroInputs
from teddy.models.inputs import input_levels
from teddy.sparsity import check_count
from teddy.tasks.batches import Batch, subgraph, take

_TARGETS = ("y", "train_mask", "val_mask", "test_mask")


def loader_functions(data: Data) -> tuple[Callable[[Data], Any], Callable[..., Batch]]:
    """Return the functions that make the data of a loader and read its batches."""
    if isinstance(data.edge_index, HeteroInputs):
        return hetero_to_load, as_hetero_batch
    if "graph_of_node" in data:
        return graphs_to_load, as_graph_batch
    return graph_to_load, as_batch


def graph_to_load(data: Data) -> Data:
    """Return a graph for loaders: on the CPU, with ``n_id``, without sparse features.

    Training links are ``edge_label_index`` and ``edge_label``.

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
    """Return the graphs of a set for loaders, each with its number ``graph_id``.

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


def as_batch(loaded: Any, data: Data) -> Batch:
    """Read a batch of a loader, a part of a graph, or raise.

    Example:
        >>> as_batch(Data(edge_index=torch.empty(2, 0, dtype=torch.long)), Data(x=torch.eye(3)))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: a batch of the loader has no n_id, expected a loader that slices
        all values of nodes
    """
    nodes, make = _read(loaded, data)
    return Batch(nodes[: num_seeds(loaded, nodes)], make)


def as_graph_batch(loaded: Any, data: Data) -> Batch:
    """Read a batch of a loader, some graphs of a set, or raise."""
    nodes, make = _read(loaded, data)
    graphs, of_node = loaded.get("graph_id"), loaded.get("batch")
    if not isinstance(graphs, Tensor) or graphs.dim() != 1 or not is_within(graphs, len(data.y)):
        raise InputError(
            "graph_id of a batch is no list of graphs, expected a loader that joins all values of "
            "graphs, such as PyG's DataLoader"
        )
    if of_node is None:  # one graph
        of_node = torch.zeros_like(nodes)
    numbers = of_node.unique_consecutive()
    if of_node.shape != nodes.shape or not torch.equal(numbers, torch.arange(graphs.numel())):
        raise InputError(
            f"batch of a batch does not number the nodes of {graphs.numel()} graphs in order, "
            "expected a loader such as PyG's DataLoader"
        )
    return Batch(graphs, partial(make, graph_of_node=of_node))


def _read(loaded: Any, data: Data) -> tuple[Tensor, Callable[..., Data]]:
    """Return the numbers of a batch's nodes, and a function that makes its graph."""
    if not isinstance(loaded, Data):
        raise InputError(f"the loader returned a {type(loaded).__name__}, expected a Data")
    nodes = check_nodes(loaded, data.x.size(0))
    edge_index = check_edges(loaded, nodes.numel(), nodes.numel())
    given, columns = {}, edge_index[0, :0]
    for name, level in {"x": "nodes", **input_levels(data)}.items():
        if level != "whole" and loaded.get(name) is not None:
            count = nodes.numel() if level == "nodes" else edge_index.size(1)
            given[name] = check_values(loaded, name, count)
        elif level == "edges":
            columns = check_nodes(loaded, data.edge_index.size(1), "edge_id")
            check_values(loaded, "edge_id", edge_index.size(1))

    def make(**of_graphs: Tensor) -> Data:
        return subgraph(data, nodes, edge_index, columns, given | of_graphs)

    return nodes, make


def hetero_to_load(data: Data) -> HeteroData:
    """Return a heterogeneous graph for loaders: on the CPU, with ``n_id`` of each node type.

    Args:
        data: ``x``, ``y`` and masks of the nodes that are predicted; their surroundings as
            ``edge_index``.

    Raises:
        InputError: if a node type has no features, so that nodes of a batch are indistinguishable.
    """
    around: HeteroInputs = data.edge_index
    graph = HeteroData()
    types = {name: {"x": x.cpu()} for name, x in around.x_dict.items()}
    types[around.target] = _fields(data)
    for name in sorted({end for kind in around.edge_index_dict for end in kind[::2]} - set(types)):
        raise InputError(
            f"nodes of type '{name}' have no x, expected one for a loader, such as node numbers"
        )
    for name, values in types.items():
        size = data.x.size(0) if name == around.target else values["x"].size(0)
        for key, value in {**values, "n_id": torch.arange(size), "num_nodes": size}.items():
            graph[name][key] = value
    for kind, edge_index in around.edge_index_dict.items():
        graph[kind].edge_index = edge_index.cpu()
        for name, value in _values(around, kind).items():
            graph[kind][name] = value.cpu()
            graph[kind].edge_id = torch.arange(edge_index.size(1))
    return graph


def as_hetero_batch(loaded: Any, data: Data) -> Batch:
    """Read a batch of a loader, a part of a heterogeneous graph, or raise.

    The first ``batch_size`` nodes of the target type are training rows.
    """
    if not isinstance(loaded, HeteroData):
        raise InputError(f"the loader returned a {type(loaded).__name__}, expected a HeteroData")
    around: HeteroInputs = data.edge_index
    features = {around.target: data.x, **around.x_dict}
    nodes = {name: check_nodes(loaded[name], x.size(0)) for name, x in features.items()}
    given = {
        name: check_values(loaded[name], "x", ids.numel())
        for name, ids in nodes.items()
        if loaded[name].get("x") is not None
    }
    edges: dict[EdgeType, Tensor] = {}
    columns: dict[EdgeType, Tensor] = {}
    values: dict[str, dict[EdgeType, Tensor]] = {name: {} for name in around.of_edges}
    for kind, whole in around.edge_index_dict.items():
        store = loaded[kind]
        edges[kind] = check_edges(store, nodes[kind[0]].numel(), nodes[kind[2]].numel())
        for name in _values(around, kind):
            if store.get(name) is not None:
                values[name][kind] = check_values(store, name, edges[kind].size(1))
            else:
                columns[kind] = check_nodes(store, whole.size(1), "edge_id")
                check_values(store, "edge_id", edges[kind].size(1))

    def make() -> Data:
        x = {
            name: given[name] if name in given else take_rows(whole, nodes[name].to(whole.device))
            for name, whole in features.items()
        }
        own = {
            name: {
                kind: values[name][kind] if kind in values[name] else take(value, columns[kind])
                for kind, value in of.items()
            }
            for name, of in around.of_edges.items()
        }
        target = x.pop(around.target)
        return Data(x=target, edge_index=HeteroInputs(x, edges, own, target=around.target))

    target = nodes[around.target]
    return Batch(target[: num_seeds(loaded[around.target], target)], make)


def _values(around: HeteroInputs, kind: EdgeType) -> dict[str, Tensor]:
    """Return values of the edges of a relation by name."""
    return {name: of[kind] for name, of in around.of_edges.items() if kind in of}


def _fields(data: Data) -> dict[str, Tensor]:
    """Return dense features, targets and masks of the target nodes."""
    names = ("x", "y", "train_mask", "val_mask", "test_mask")
    return {n: data[n].cpu() for n in names if n in data and data[n].layout == torch.strided}


def check_nodes(store: Any, count: int, name: str = "n_id") -> Tensor:
    """Return the numbers of a batch's nodes, or edges, in the whole graph, or raise.

    Args:
        store: Batch, or its store of a type.
        count: Number of nodes or edges of the whole graph.
        name: ``n_id``, or ``edge_id``.
    """
    what = {"n_id": "nodes", "edge_id": "edges"}[name]
    numbers = _tensor(store, name, what)
    if numbers.dim() != 1 or not is_within(numbers, count):
        raise InputError(
            f"{name} of a batch is invalid, expected a list of {what} from 0 to {count - 1}"
        )
    return numbers


def check_edges(store: Any, num_sources: int, num_targets: int) -> Tensor:
    """Return the edges of a batch, as indices of its nodes, or raise."""
    edges = _tensor(store, "edge_index", "nodes")
    if edges.dim() != 2 or edges.size(0) != 2:
        raise InputError(f"edge_index of a batch has shape {list(edges.shape)}, expected [2, E]")
    for ends, count in zip(edges, (num_sources, num_targets), strict=True):
        if not is_within(ends, count):
            raise InputError(
                f"edges of a batch are not between its nodes, expected integers from 0 to "
                f"{count - 1}"
            )
    return edges


def check_values(store: Any, name: str, count: int) -> Tensor:
    """Return values of a batch's nodes or edges, or raise if their number differs."""
    value: Tensor = store[name]
    if value.size(0) != count:
        raise InputError(f"{name} of a batch has {value.size(0)} rows, expected {count}")
    return value


def num_seeds(store: Any, nodes: Tensor) -> int:
    """Return the number of training rows, at the beginning of a batch."""
    size = store.get("batch_size")
    return nodes.numel() if size is None else check_count(int(size), "batch_size", 0)


def is_within(numbers: Tensor, end: int) -> bool:
    """Return whether all are integers of at least 0 and below an end.

    Example:
        >>> is_within(torch.tensor([0, 3]), 3), is_within(torch.tensor([0.0]), 3)
        (False, False)
    """
    if numbers.is_floating_point() or numbers.is_complex() or numbers.dtype == torch.bool:
        return False
    return not numbers.numel() or 0 <= int(numbers.min()) <= int(numbers.max()) < end


def _tensor(store: Any, name: str, what: str) -> Tensor:
    value = store.get(name)
    if not isinstance(value, Tensor):
        raise InputError(
            f"a batch of the loader has no {name}, expected a loader that slices all values of "
            f"{what}"
        )
    return value
