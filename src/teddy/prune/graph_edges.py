"""Canonical edges of any PyG graph, and the mapping to its columns of ``edge_index``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.data.data import BaseData

from teddy.data.checks import check_features
from teddy.errors import InputError
from teddy.graph.canonical import check_edges
from teddy.graph.edges import Edges
from teddy.graph.groups import EdgeType, Groups
from teddy.graph.relations import relation_edges
from teddy.graph.weighted_graph import WeightedGraph, check_has_weights
from teddy.prune.scores.score import Signals

#: An ``edge_index``, a graph, a heterogeneous graph, a batch of graphs, or a list of graphs.
GraphLike: TypeAlias = Tensor | Data | HeteroData | Sequence[Data]
#: Values per column of ``edge_index``: of the graph, of each relation, or of each graph of a list.
Columns: TypeAlias = Tensor | dict[EdgeType, Tensor] | list[Tensor]

# Fields of `Signals` that are supported in a batch; the others need node classes.
_OF_BATCH = {"x"}


@dataclass(frozen=True)
class GraphEdges:
    """Canonical edges of a graph, and the edge of each column of its ``edge_index``.

    Attributes:
        edges: The canonical edges.
        pair_of_column: int64 ``[E]``: edge of each column, -1 for a self-loop. Columns of several
            relations or graphs are concatenated.
        loop_nodes: int64 ``[L]``: node of each self-loop, as numbered in ``edges``.
        weights: float64 ``[M]``: weight of each edge; None without weighted degrees.
        sizes: Number of columns of each relation or graph; None for one ``edge_index``.
        relations: Edge types; None without relations.
    """

    edges: Edges
    pair_of_column: Tensor
    loop_nodes: Tensor
    weights: Tensor | None = None
    sizes: Sequence[int] | None = None
    relations: Sequence[EdgeType] | None = None

    def like_graph(self, values: Tensor) -> Columns:
        """Split values of all columns by relation or graph, as in the input."""
        if self.sizes is None:
            return values
        parts = list(values.split(list(self.sizes)))
        return parts if self.relations is None else dict(zip(self.relations, parts, strict=True))


def graph_edges(
    graph: GraphLike,
    num_nodes: int | None = None,
    budget: str = "each",
    weighted: bool = False,
    edge_weight: Tensor | None = None,
) -> GraphEdges:
    """Return the canonical edges of any graph; see :func:`teddy.prune_edges` for the arguments."""
    if not isinstance(graph, Tensor):
        for name, value in (("num_nodes", num_nodes), ("edge_weight", edge_weight)):
            if value is not None:
                raise InputError(
                    f"{name} is for an edge_index, got a {type(graph).__name__}, which has its own"
                    + (" (use weighted=True)" if name == "edge_weight" else "")
                )
    if isinstance(graph, HeteroData):
        return _of_relations(graph, budget, weighted)
    if isinstance(graph, Tensor):
        if weighted and edge_weight is None:
            raise InputError("weighted=True needs edge_weight=... with an edge_index")
        return _of_columns(graph, num_nodes, edge_weight)
    if isinstance(graph, Data):
        if graph.edge_index is None:
            raise InputError(f"{type(graph).__name__} has no edge_index, expected one")
        if weighted:
            check_weighted_graph(graph)
        if isinstance(graph, Batch):
            return _of_batch(graph, budget, weighted)
        weight = graph.edge_weight if weighted else None
        return _of_columns(graph.edge_index, graph.num_nodes, weight)
    return _of_graphs(as_graphs(graph), budget, weighted)


def signals_of(graph: GraphLike, score: str, needs: Sequence[str], keywords: Any) -> Signals:
    """Return the node signals of a score: the keywords, else the fields of the graph."""
    for name in keywords:
        if name not in needs:
            expected = ", ".join(needs) or "no signals"
            raise InputError(f"score {score} does not use {name}, expected {expected}")
    several = isinstance(graph, Batch) or not isinstance(graph, Tensor | BaseData)
    if isinstance(graph, Tensor) or not needs:
        return Signals(**keywords)
    if isinstance(graph, HeteroData):
        raise InputError(
            f"score {score} needs {', '.join(needs)} and does not support a HeteroData, expected "
            "a score without signals"
        )
    if several and set(needs) - _OF_BATCH:
        others = ", ".join(name for name in needs if name not in _OF_BATCH)
        raise InputError(
            f"score {score} needs {others} and does not support a set of graphs, expected a score "
            "of the graph or its features"
        )
    if isinstance(graph, Data):
        return Signals(**{**{name: graph[name] for name in needs if name in graph}, **keywords})
    return Signals(_features_of(as_graphs(graph)))


def as_graphs(graphs: Any) -> list[Data]:
    """Return a list of graphs, or raise an error that names the first invalid one."""
    if isinstance(graphs, BaseData | str | dict) or not isinstance(graphs, Iterable):
        raise InputError(
            f"got a {type(graphs).__name__}, expected an edge_index, a Data, HeteroData or Batch, "
            "or a list of Data"
        )
    parts = list(graphs)
    for index, graph in enumerate(parts):
        if not isinstance(graph, Data) or graph.edge_index is None:
            raise InputError(
                f"graphs[{index}] is a {type(graph).__name__}, expected a Data with an edge_index "
                "(an edge_index itself must be a tensor)"
            )
    return parts


def check_weighted_graph(graph: Data) -> None:
    """Raise unless a graph has edge weights."""
    if graph.get("edge_weight") is None:
        raise InputError(f"weighted=True needs edge_weight, the {type(graph).__name__} has none")


def _of_columns(
    edge_index: Tensor, num_nodes: int | None, edge_weight: Tensor | None
) -> GraphEdges:
    edges, pair_of_column = Edges.from_columns(edge_index, num_nodes)
    weights = None
    if edge_weight is not None:
        weights = WeightedGraph.from_columns(edges, pair_of_column, edge_weight).weight
    return GraphEdges(edges, pair_of_column, edge_index[0, pair_of_column < 0].long(), weights)


def _of_batch(batch: Batch, budget: str, weighted: bool) -> GraphEdges:
    listed = _of_columns(batch.edge_index, batch.num_nodes, None)
    groups = Groups.from_batch(batch.batch, batch.num_graphs, budget)
    listed = replace(listed, edges=replace(listed.edges, groups=groups))
    return replace(listed, weights=_weights_of_batch(listed, batch)) if weighted else listed


def _weights_of_batch(listed: GraphEdges, batch: Batch) -> Tensor:
    """Return the weight of each edge, computed within its graph."""
    graph_of_column = batch.batch[batch.edge_index[0]]
    order = torch.argsort(graph_of_column, stable=True)
    counts = torch.bincount(graph_of_column, minlength=batch.num_graphs)
    columns = order.split(counts.tolist())
    weights = []
    for part, (group, _, edges) in zip(columns, listed.edges.each_group(), strict=True):
        pair = listed.pair_of_column[part]
        pair = torch.where(pair < 0, pair, pair - edges.start)
        weights.append(WeightedGraph.from_columns(group, pair, batch.edge_weight[part]).weight)
    return torch.cat(weights)


def _of_graphs(graphs: list[Data], budget: str, weighted: bool) -> GraphEdges:
    for index, graph in enumerate(graphs):
        check_edges(graph.edge_index, graph.num_nodes, f"graphs[{index}]")
        if weighted:
            check_weighted_graph(graph)
    if not graphs:
        empty = torch.empty(2, 0, dtype=torch.long)
        return GraphEdges(Edges(0, empty), empty[0], empty[0], sizes=[])
    names = ["edge_index", *(["edge_weight"] if weighted else [])]
    bare = [Data(num_nodes=g.num_nodes, **{name: g[name] for name in names}) for g in graphs]
    listed = _of_batch(Batch.from_data_list(bare), budget, weighted)
    return replace(listed, sizes=[graph.edge_index.size(1) for graph in graphs])


def _of_relations(data: HeteroData, budget: str, weighted: bool) -> GraphEdges:
    edges, pairs = relation_edges(data, budget, ["edge_weight"] if weighted else [])
    if weighted:
        for relation in pairs:
            check_has_weights(relation, data[relation])
    assert edges.groups is not None
    first = {
        relation: int(edges.groups.first[number])
        for number, group in enumerate(edges.groups.relations)
        for relation in group
    }
    loops = [
        data[relation].edge_index[0, pairs[relation] < 0].long() + first[relation]
        for relation in data.edge_types
    ]
    columns = [pairs[relation] for relation in data.edge_types]
    return GraphEdges(
        edges, torch.cat(columns), torch.cat(loops), edges.weights if weighted else None,
        [pair.numel() for pair in columns], list(data.edge_types),
    )  # fmt: skip


def _features_of(graphs: Sequence[Data]) -> Tensor:
    """Return the features of the nodes of all graphs, or raise."""
    x = [check_features(graph.x, f"graphs[{index}]") for index, graph in enumerate(graphs)]
    for index, features in enumerate(x):
        if features.size(1) != x[0].size(1):
            raise InputError(
                f"graphs[{index}]: x has {features.size(1)} columns, expected {x[0].size(1)} as in "
                "graphs[0]"
            )
    return torch.cat([f if f.layout == torch.strided else f.to_dense() for f in x])
