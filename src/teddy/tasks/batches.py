"""Batches: parts of a view that a step of training learns from, and graphs of some nodes."""

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
    """A part of the data.

    Attributes:
        rows: int64 ``[n]``, rows of ``y`` that are learned from: nodes, graphs or links.
        graph: Makes the graph that the model runs on; called by the process that computes the
            batch, and by no other. Where nodes are learned from, they are its first ones.
        head: Head of these rows in the graph; None: the training's.
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
        data: The whole graph.
        nodes: int64 ``[n]``, numbers of the nodes.
        edge_index: int64 ``[2, e]``, edges between them, by their places in ``nodes``.
        columns: int64 ``[e]``, columns of the whole graph's ``edge_index``; not read where all
            values of edges are given.
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
        data: The whole graph.
        nodes: int64 ``[n]``, each node once.

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
    """Return the graph of all nodes without an edge; inputs of nodes stay.

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
    """Return rows of a tensor, by their numbers, on the tensor's device."""
    return value.index_select(0, rows.to(value.device))


def check_divisible(data: Data) -> None:
    """Raise if an input of the model means nothing for a part of the nodes."""
    levels = input_levels(data)
    nodes, whole = (
        {name: data[name] for name, level in levels.items() if level == kind}
        for kind in ("nodes", "whole")
    )
    ExtraInputs(nodes, whole).check_divisible(data.x.size(0))


def first_nodes(data: Data, most: int) -> Data:
    """Return the graph of the first nodes; one of several node types as it is."""
    if isinstance(data.edge_index, HeteroInputs):
        return data
    return induced(data, torch.arange(min(most, data.x.size(0)), device=data.x.device))


def graph_of_node(data: Data) -> Tensor | None:
    """Return the graph of each node of a set of graphs, int64 ``[N]``; None for one graph."""
    found: Tensor | None = data.get("graph_of_node")
    return found


def check_one_graph(data: Data) -> None:
    """Raise unless data are one graph with one type of nodes, which can be cut into parts."""
    if isinstance(data.edge_index, HeteroInputs):
        raise InputError(
            "partitions are of one type of nodes, expected a function that makes a loader for "
            "a HeteroData"
        )
    if graph_of_node(data) is not None:
        raise InputError(
            "partitions are of one graph, expected graphs:batch=32 for graph classification"
        )
