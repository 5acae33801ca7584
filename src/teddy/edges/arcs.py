"""The arcs that a model sees of a graph: each edge in one direction or both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.arcs import check_edge_values, simple_arcs
from teddy.edges.beside import Beside
from teddy.edges.induced import induced_graph
from teddy.edges.prune import keep_columns, prune_pairs
from teddy.edges.scores.edge_score import positions
from teddy.edges.signals import Signals
from teddy.edges.simple_graph import SimpleGraph
from teddy.edges.weighted_graph import WeightedGraph


@dataclass(frozen=True)
class Arcs:
    """Directed edges, sorted by source, then target, with what belongs to each.

    What is pruned are undirected edges: both directions of one share its fate, and degrees and
    scores are those of the simple undirected graph. Messages run along the arcs of those that stay.
    Self-loops, where the model sees any, are arcs that no edge stands for: they always stay.

    Attributes:
        graph: The undirected edges.
        directed: Whether only listed directions are arcs; else both of each edge are.
        index: int64 ``[2, A]``, each arc once; None of an undirected graph without values and
            self-loops, whose arcs are known from its edges.
        values: ``edge_weight`` ``[A]``, ``edge_attr`` ``[A, ...]``; those that the model takes.
        beside: Values of nodes and of the whole graph that the model takes.

    Example:
        >>> import torch
        >>> arcs = Arcs.of(torch.tensor([[1, 2], [0, 1]]), 3, directed=True)
        >>> arcs.graph.pairs.tolist(), arcs.edge.tolist()
        ([[0, 1], [1, 2]], [0, 1])
        >>> arcs.fields(torch.tensor([False, True]))["edge_index"].tolist()
        [[2], [1]]
    """

    graph: SimpleGraph
    directed: bool = False
    index: Tensor | None = None
    values: Mapping[str, Tensor] = field(default_factory=dict)
    beside: Beside = field(default_factory=Beside)

    @staticmethod
    def of(
        edge_index: Tensor,
        num_nodes: int | None = None,
        values: Mapping[str, Tensor] | None = None,
        directed: bool = False,
        self_loops: bool = False,
    ) -> Arcs:
        """Of an ``edge_index``, and values of each column; see :func:`simple_arcs`."""
        graph, edge_of_column = SimpleGraph.of(edge_index, num_nodes)
        self_loops = self_loops and bool((edge_of_column < 0).any())
        if not directed and not values and not self_loops:
            return Arcs(graph)
        index, found = simple_arcs(edge_index, graph.num_nodes, values, directed, self_loops)
        return Arcs(graph, directed, index, found)

    @staticmethod
    def of_data(
        data: Data, names: Iterable[str] = (), directed: bool = False, self_loops: bool = False
    ) -> Arcs:
        """Of a graph, with the values of these names, which it must have."""
        columns = data.edge_index.size(1)
        values = {name: check_edge_values(name, data[name], columns) for name in names}
        return Arcs.of(data.edge_index, data.num_nodes, values, directed, self_loops)

    @cached_property
    def edge(self) -> Tensor:
        """Which undirected edge each arc is of, int64 ``[A]``; -1: a self-loop."""
        index = self.graph.edge_index() if self.index is None else self.index
        no_loop = index[0] != index[1]
        edge = torch.full_like(index[0], -1)
        edge[no_loop] = positions(self.graph, index[:, no_loop])
        return edge

    @cached_property
    def self_loops(self) -> Tensor:
        """The nodes that have a self-loop, int64 ``[L]``, ascending."""
        if self.index is None:
            return self.graph.pairs[0, :0]
        return self.index[0, self.index[0] == self.index[1]]

    @cached_property
    def weights(self) -> Tensor | None:
        """Of each undirected edge, the mean of its arcs' weights; None without weights."""
        if "edge_weight" not in self.values:
            return None
        return WeightedGraph.of(self.graph, self.edge, self.values["edge_weight"]).weight

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.graph.num_nodes

    def choose(
        self,
        sparsity: float,
        score: str,
        seed: int = 0,
        weighted: bool = False,
        signals: Signals | None = None,
    ) -> Tensor:
        """The undirected edges that a score keeps, bool ``[M]``.

        Args:
            sparsity: Share that is removed.
            score: Its name.
            seed: For scores that draw.
            weighted: Whether its degrees are weighted.
            signals: What it looks at beside the graph.
        """
        weights = self.weights if weighted else None
        return prune_pairs(self.graph, sparsity, score, seed, weights, signals)

    def simple(self, keep: Tensor) -> tuple[SimpleGraph, Tensor]:
        """The simple graph of all nodes, and which of its edges stay, bool ``[M]``.

        Args:
            keep: bool ``[M]``.
        """
        return self.graph, keep

    def columns(self, keep: Tensor | None = None) -> tuple[Tensor, int]:
        """All arcs in one ``[2, A]``, sorted by source, and the number of nodes.

        Args:
            keep: bool ``[M]``: the arcs of these edges only.
        """
        return self.fields(keep)["edge_index"], self.num_nodes

    @property
    def names(self) -> list[str]:
        """What a model is given of edges beside their ends."""
        return list(self.values)

    def tensors(self) -> list[Tensor]:
        """All that a model is given of the graph beside features and edges."""
        return [*self.values.values(), *self.beside.tensors()]

    def fields(self, keep: Tensor | None = None) -> dict[str, Any]:
        """``edge_index`` and values of all arcs, or of those whose edge is to keep.

        Values of nodes and of the whole graph are the same for any edges.

        Args:
            keep: bool ``[M]``.
        """
        beside = self.beside.fields()
        if self.index is None:
            return {"edge_index": self.graph.edge_index(keep), **beside}
        if keep is None:
            return {"edge_index": self.index, **self.values, **beside}
        kept = keep_columns(keep, self.edge)
        values = {name: value[kept] for name, value in self.values.items()}
        return {"edge_index": self.index[:, kept], **values, **beside}

    def data(self, fields: Mapping[str, Any]) -> Data:
        """Return a graph with all arcs, and some fields that a training looks at.

        ``input_levels`` names the values that the model is given, each with its level: ``edges``,
        ``nodes`` or ``whole``.
        """
        levels = dict.fromkeys(self.values, "edges")
        levels |= dict.fromkeys(self.beside.nodes, "nodes")
        levels |= dict.fromkeys(self.beside.whole, "whole")
        return Data(**self.fields(), **fields, **({"input_levels": levels} if levels else {}))

    def induced(self, nodes: Tensor) -> tuple[Arcs, Tensor]:
        """The arcs between some nodes, which are numbered anew; see :func:`induced_graph`.

        Args:
            nodes: bool ``[N]``.

        Returns:
            The part, and bool ``[M]``: the edges of the whole that are in it.
        """
        part, within = induced_graph(self.graph, nodes)
        beside = self.beside.induced(nodes)
        if self.index is None:
            return Arcs(part, beside=beside), within
        inside = nodes[self.index].all(dim=0)
        number = nodes.long().cumsum(0) - 1
        values = {name: value[inside] for name, value in self.values.items()}
        return Arcs(part, self.directed, number[self.index[:, inside]], values, beside), within
