"""Mini-batches of a view, and subgraphs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.features import take_rows
from teddy.errors import InputError
from teddy.graph.inputs import ExtraInputs, HeteroInputs
from teddy.models.inputs import input_levels
from teddy.tasks.heads import Head, places


@dataclass(frozen=True)
class Batch:
    """Mini-batch of the data.

    Attributes:
        rows: Training rows of ``y``, int64 ``[n]``: nodes, graphs or links.
        graph: Function that makes the batch's graph, called only by the process that computes the
            batch. Nodes in ``rows`` are the first ones of the graph.
        head: Head of these rows in the graph; None: that of the training.
    """

    rows: Tensor
    graph: Callable[[], Data]
    head: Head | None = None


def subgraph(
    data: Data,
    nodes: Tensor,
    edge_index: Tensor,
    columns: Tensor,
    given: Mapping[str, Any] | None = None,
) -> Data:
    """Return the graph of some nodes, with the inputs that a model takes.

    Args:
        data: Whole graph.
        nodes: Numbers of the nodes, int64 ``[n]``.
        edge_index: Edges between them, as indices in ``nodes``, int64 ``[2, e]``.
        columns: Columns of these edges in the whole ``edge_index``, int64 ``[e]``; not read if
            ``given`` has all edge values.
        given: Features and inputs that replace those of the whole graph.

    Example:
        >>> path = Data(x=torch.eye(3), edge_index=torch.tensor([[0, 1], [1, 2]]),
        ...     edge_weight=torch.tensor([1.0, 2.0]))
        >>> part = subgraph(path, torch.tensor([1, 2]), torch.tensor([[0], [1]]), torch.tensor([1]))
        >>> part.x, part.edge_weight
        (tensor([[0., 1., 0.],
                [0., 0., 1.]]), tensor([2.]))
    """
    given = given or {}
    x = given["x"] if "x" in given else take_rows(data.x, nodes.to(data.x.device))
    part, levels = Data(x=x, edge_index=edge_index), input_levels(data)
    for name, level in levels.items():
        value = given.get(name, data[name])
        if name not in given and level != "whole":
            value = take(value, nodes if level == "nodes" else columns)
        part[name] = value
    if levels:
        part.input_levels = levels
    if "graph_of_node" in data:
        numbers = given.get("graph_of_node")
        if numbers is None:
            numbers = take(data.graph_of_node, nodes).unique_consecutive(return_inverse=True)[1]
        part.graph_of_node = numbers
    return part


def induced(data: Data, nodes: Tensor) -> Data:
    """Return the graph of some nodes and all edges between them.

    Args:
        data: Whole graph.
        nodes: Distinct nodes, int64 ``[n]``.

    Example:
        >>> path = Data(x=torch.eye(3), edge_index=torch.tensor([[0, 1], [1, 2]]))
        >>> induced(path, torch.tensor([2, 1])).edge_index
        tensor([[1],
                [0]])
    """
    place = places(nodes, data.x.size(0))
    ends = place[data.edge_index]
    columns = (ends >= 0).all(dim=0).nonzero().flatten()
    return subgraph(data, nodes, ends[:, columns], columns)


def without_edges(data: Data) -> Data:
    """Return the graph without edges, with all nodes and their inputs.

    Example:
        >>> path = Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]),
        ...     edge_weight=torch.tensor([1.0]))
        >>> without_edges(path).edge_weight
        tensor([])
    """
    bare = copy.copy(data)
    bare.edge_index = data.edge_index[:, :0]
    for name, level in input_levels(data).items():
        if level == "edges":
            bare[name] = data[name][:0]
    return bare


def take(value: Tensor, rows: Tensor) -> Tensor:
    """Return rows of a tensor by number, on the tensor's device."""
    return value.index_select(0, rows.to(value.device))


def check_divisible(data: Data) -> None:
    """Raise if a model input cannot be split by nodes."""
    levels = input_levels(data)
    nodes, whole = (
        {name: data[name] for name, level in levels.items() if level == kind}
        for kind in ("nodes", "whole")
    )
    ExtraInputs(nodes, whole).check_divisible(data.x.size(0))


def first_nodes(data: Data, most: int) -> Data:
    """Return the graph of the first nodes; a heterogeneous graph unchanged."""
    if isinstance(data.edge_index, HeteroInputs):
        return data
    return induced(data, torch.arange(min(most, data.x.size(0)), device=data.x.device))


def graph_of_node(data: Data) -> Tensor | None:
    """Return the graph of each node of a set of graphs, int64 ``[N]``; None for one graph."""
    numbers: Tensor | None = data.get("graph_of_node")
    return numbers


def check_one_graph(data: Data, loader: str, links: bool = True) -> None:
    """Raise unless data are one homogeneous graph, for a loader of parts of it.

    Args:
        data: The data.
        loader: Name of the loader.
        links: Whether it supports links.
    """
    if isinstance(data.edge_index, HeteroInputs):
        raise InputError(
            f"{loader} do not support a HeteroData, expected a function that returns a PyG loader"
        )
    if graph_of_node(data) is not None:
        raise InputError(
            f"{loader} do not support a set of graphs, expected the loader graphs:batch=32"
        )
    if "edge_label_index" in data and not links:
        raise InputError(
            f"{loader} do not support links, expected the loader partitions:parts=32:batch=4"
        )
