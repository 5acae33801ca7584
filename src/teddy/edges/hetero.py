"""Scores and pruning of a heterogeneous graph."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import HeteroData
from torch_geometric.utils import select

from teddy.data.checks import LINK_FIELDS
from teddy.data.hetero import EdgeType, relation_text
from teddy.edges.prune import keep_columns, needed_signals, score_pairs
from teddy.edges.relations import Groups, Relation, find_relations
from teddy.edges.select import lowest_edges
from teddy.edges.simple_graph import SimpleGraph
from teddy.edges.ties import pair_digests, pair_text
from teddy.edges.weighted_graph import WeightedGraph
from teddy.errors import InputError
from teddy.sparsity import num_pruned_edges

#: What scores and budgets are over: each relation by itself, or all together.
SCOPES = ("each", "all")


def check_scope(relations: str) -> str:
    """Return it, or raise unless it is ``each`` or ``all``."""
    if relations not in SCOPES:
        raise InputError(f"relations is '{relations}', expected one of: {', '.join(SCOPES)}")
    return relations


def check_of_relations(method: str) -> None:
    """Raise if a score looks at more than the graph, which nodes of several kinds don't share.

    Example:
        >>> check_of_relations("cosine")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: cosine looks at x of one kind of node, expected a score of the
        graph alone for a HeteroData
    """
    needs = needed_signals(method)
    if needs:
        raise InputError(
            f"{method} looks at {', '.join(needs)} of one kind of node, expected a score of the "
            "graph alone for a HeteroData"
        )


@dataclass(frozen=True)
class HeteroGraph:
    r"""The undirected edges of all relations, one relation after the other.

    Edges of two relations between the same nodes are two edges. With the scope ``each`` a relation
    is a graph by itself, with degrees, scores and a budget :math:`\lceil p_g M_r \rceil` of its
    own. With ``all``, degrees and scores are those of the simple graph in which nodes are
    neighbours if any relation joins them, and one budget :math:`\lceil p_g \sum_r M_r \rceil` is
    over the edges of all; those between the same nodes have the same score, and which goes first
    is drawn by a hash, as of any edges that tie.

    Attributes:
        nodes: Nodes of each type, sorted by type.
        relations: The relations, sorted.
        scope: ``each`` or ``all``.
    """

    nodes: Mapping[str, int]
    relations: tuple[Relation, ...]
    scope: str = "each"

    @staticmethod
    def of(data: HeteroData, scope: str = "each", groups: Groups | None = None) -> HeteroGraph:
        """Of a graph, which is checked; see :func:`~teddy.edges.relations.find_relations`."""
        check_scope(scope)
        return HeteroGraph(*find_relations(data, groups), scope)

    @property
    def groups(self) -> Groups:
        """Relations that are one."""
        return [relation.edge_types for relation in self.relations]

    @property
    def num_edges(self) -> list[int]:
        """Undirected edges of each relation."""
        return [relation.graph.num_edges for relation in self.relations]

    def num_pruned(self, sparsity: float) -> list[int]:
        """Edges that go, of each relation or of all together."""
        counts = self.num_edges if self.scope == "each" else [sum(self.num_edges)]
        return [num_pruned_edges(sparsity, count) for count in counts]

    @cached_property
    def pairs(self) -> Tensor:
        """int64 ``[2, M]``: the ends, nodes of all types numbered one after the other."""
        offsets = self.offsets
        return torch.cat([r.numbered(r.graph.pairs, offsets) for r in self.relations], dim=1)

    @cached_property
    def union(self) -> tuple[SimpleGraph, Tensor]:
        """The simple graph of all relations, and which of its edges each edge here is."""
        return SimpleGraph.of(self.pairs, sum(self.nodes.values()))

    @property
    def offsets(self) -> dict[str, int]:
        """What the first node of each type is called in :attr:`pairs`."""
        before, offsets = 0, {}
        for name, count in self.nodes.items():
            offsets[name], before = before, before + count
        return offsets

    def weights(
        self,
        listed: Mapping[EdgeType, Tensor],
        edge_of: Mapping[EdgeType, Tensor] | None = None,
    ) -> Tensor:
        """The weight of each edge, float64 ``[M]``: the mean of those that are listed of it.

        Args:
            listed: Weights, of each relation.
            edge_of: The edge that each of them is of; by default they are those of the columns.
        """
        found = []
        for relation in self.relations:
            edge_of_weight = relation.edge_of_column if edge_of is None else edge_of
            for kind in relation.edge_types:
                if kind not in listed:
                    raise InputError(
                        f"{relation_text(kind)} has no edge_weight, expected one of each relation "
                        "for weighted degrees"
                    )
                got, expected = listed[kind].shape, edge_of_weight[kind].shape
                if got != expected:
                    raise InputError(
                        f"{relation_text(kind)}: edge_weight has shape {list(got)}, "
                        f"expected {list(expected)}"
                    )
            edges = torch.cat([edge_of_weight[kind] for kind in relation.edge_types])
            values = torch.cat([listed[kind] for kind in relation.edge_types])
            found.append(WeightedGraph.of(relation.graph, edges, values).weight)
        return torch.cat(found)

    def scores(
        self, method: str = "teddy", seed: int = 0, weights: Tensor | None = None
    ) -> list[Tensor]:
        """The scores of each relation's edges, float64 ``[M_r]``.

        Args:
            method: A name in ``teddy.edges.SCORES``.
            seed: For scores that draw.
            weights: Of each edge, for weighted degrees.
        """
        check_of_relations(method)
        graphs = self.scored_in(weights)
        if self.scope == "all":
            # At once: of scores that draw, edges between the same nodes have numbers of their own.
            graph, weight = graphs[0]
            scores = score_pairs(graph, self.pairs, method, seed, weight)
            return list(scores.split(self.num_edges))
        return [score_pairs(graph, graph.pairs, method, seed, weight) for graph, weight in graphs]

    def scored_in(self, weights: Tensor | None = None) -> list[tuple[SimpleGraph, Tensor | None]]:
        """For each relation the graph that its degrees are of, and the weights of that."""
        if self.scope == "all":
            graph, edge = self.union
            weight = None if weights is None else WeightedGraph.of(graph, edge, weights).weight
            return [(graph, weight)] * len(self.relations)
        parts = [None] * len(self.relations) if weights is None else weights.split(self.num_edges)
        return [(r.graph, weight) for r, weight in zip(self.relations, parts, strict=True)]

    def keep(
        self, sparsity: float, method: str = "teddy", seed: int = 0, weights: Tensor | None = None
    ) -> Tensor:
        """Choose the edges that stay, bool ``[M]``; see :func:`prune_relations`."""
        return self.keep_highest(torch.cat(self.scores(method, seed, weights)), sparsity)

    def keep_highest(self, scores: Tensor, sparsity: float) -> Tensor:
        """Keep all edges but those of lowest score, as many as the budgets say, bool ``[M]``.

        Args:
            scores: float64 ``[M]``.
            sparsity: Share of edges to remove.
        """
        budgets = self.num_pruned(sparsity)
        if self.scope == "all":
            counts = torch.tensor(self.num_edges)
            number = torch.arange(len(self.relations)).repeat_interleave(counts)
            edges = torch.cat([self.pairs, number.to(self.pairs).unsqueeze(0)])
            return ~lowest_edges(scores, edges, budgets[0], _digests)
        graphs = [relation.graph for relation in self.relations]
        found = zip(scores.split(self.num_edges), graphs, budgets, strict=True)
        return torch.cat([~lowest_edges(values, g.pairs, budget) for values, g, budget in found])

    def of_columns(self, keep: Tensor) -> dict[EdgeType, Tensor]:
        """Spread the fate of each edge to the columns of all relations; self-loops stay."""
        found = {}
        for relation, stays in zip(self.relations, keep.split(self.num_edges), strict=True):
            for kind, edge in relation.edge_of_column.items():
                found[kind] = keep_columns(stays, edge)
        return found


def _digests(edges: Tensor) -> NDArray[np.bytes_]:
    """Hashes of edges ``[3, P]``: two ends and the number of the relation."""
    lows, highs, numbers = edges.tolist()
    ends = (pair_text(*pair) for pair in zip(lows, highs, strict=True))
    return pair_digests(ends, map(str, numbers))


def relation_scores(
    data: HeteroData,
    method: str = "teddy",
    seed: int = 0,
    relations: str = "each",
    weighted: bool = False,
) -> dict[EdgeType, Tensor]:
    """Score each edge of a heterogeneous graph: :func:`teddy.edge_scores` of its relations.

    A relation between two node types is a bipartite graph, one within a type an undirected one; a
    relation and its reverse are one (:func:`teddy.edges.relations.find_relations`).

    Args:
        data: The graph: ``edge_index`` of each relation, and the number of nodes of each type.
        method: A name in ``teddy.edges.SCORES``.
        seed: For scores that draw.
        relations: ``each``: degrees are those of a relation by itself; ``all``: of the graph that
            all relations make together.
        weighted: Whether degrees are sums of ``edge_weight``, which each relation must have.

    Returns:
        For each relation float64 ``[E]``; the lowest are pruned first.

    Example:
        >>> import torch, teddy
        >>> data = HeteroData(author={"num_nodes": 2}, paper={"num_nodes": 2})
        >>> data["author", "writes", "paper"].edge_index = torch.tensor([[0, 0, 1], [0, 1, 1]])
        >>> teddy.relation_scores(data)  # a path of four nodes
        {('author', 'writes', 'paper'): tensor([0.3018, 0.1821, 0.3018], dtype=torch.float64)}
    """
    graph = HeteroGraph.of(data, relations)
    weights = graph.weights(data.collect("edge_weight", True)) if weighted else None
    found = {}
    scored = zip(
        graph.relations, graph.scores(method, seed, weights), graph.scored_in(weights), strict=True
    )
    for relation, of_edges, (simple, weight) in scored:
        for kind, edge in relation.edge_of_column.items():
            scores = torch.empty_like(edge, dtype=torch.float64)
            loop = edge < 0
            scores[~loop] = of_edges[edge[~loop]]
            loops = data[kind].edge_index[:, loop].long()
            if relations == "all":
                loops = relation.numbered(loops, graph.offsets)
            scores[loop] = score_pairs(simple, loops, method, seed, weight)
            found[kind] = scores
    return {kind: found[kind] for kind in data.edge_types}


def prune_relations(
    data: HeteroData,
    sparsity: float,
    method: str = "teddy",
    seed: int = 0,
    relations: str = "each",
    weighted: bool = False,
) -> dict[EdgeType, Tensor]:
    r"""Choose the edges of a heterogeneous graph that stay.

    Of each relation exactly :math:`\lceil p_g M_r \rceil` undirected edges go, as
    :func:`teddy.prune_edges` chooses them; or :math:`\lceil p_g M \rceil` of all together. A
    relation and its reverse share one fate, self-loops stay, edges of different relations between
    the same nodes are different edges, and what goes at one sparsity goes at every higher one.

    Args:
        data: The graph.
        sparsity: Share :math:`p_g` of undirected edges to remove, in [0, 1].
        method: A name in ``teddy.edges.SCORES``.
        seed: For scores that draw.
        relations: ``each`` or ``all``; see :func:`relation_scores`.
        weighted: Whether degrees are sums of ``edge_weight``.

    Returns:
        For each relation bool ``[E]``: keep this column.

    Example:
        >>> import torch, teddy
        >>> data = HeteroData(author={"num_nodes": 2}, paper={"num_nodes": 2})
        >>> data["author", "writes", "paper"].edge_index = torch.tensor([[0, 0, 1], [0, 1, 1]])
        >>> teddy.prune_relations(data, 0.3)
        {('author', 'writes', 'paper'): tensor([ True, False,  True])}
    """
    graph = HeteroGraph.of(data, relations)
    weights = graph.weights(data.collect("edge_weight", True)) if weighted else None
    found = graph.of_columns(graph.keep(sparsity, method, seed, weights))
    return {kind: found[kind] for kind in data.edge_types}


def keep_relations(data: HeteroData, keep: Mapping[EdgeType, Tensor]) -> HeteroData:
    """The graph with some columns of each relation, by mask or number, and what belongs to them.

    All nodes stay, and all links to predict.
    """
    sparse = copy.copy(data)
    for kind, stays in keep.items():
        store = sparse[kind]  # the copy is asked: PyG notes in a store what it is asked for
        own = [name for name in store if store.is_edge_attr(name) and name not in LINK_FIELDS]
        for name in own:
            dim = sparse.__cat_dim__(name, store[name], store)
            store[name] = select(store[name], stays, dim=dim)
    return sparse
