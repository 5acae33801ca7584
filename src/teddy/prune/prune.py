"""Edge scores and edge pruning for any PyG graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from teddy.graph.edges import Edges
from teddy.graph.groups import check_budget
from teddy.graph.messages import keep_columns
from teddy.graph.weighted_graph import WeightedGraph
from teddy.prune.choose import check_weighted, keep_highest, score_edges, score_of
from teddy.prune.graph_edges import GraphEdges, GraphLike, graph_edges, signals_of
from teddy.prune.scores.score import Score
from teddy.prune.sorted_graph import SortedGraph
from teddy.sparsity import check_sparsity, num_pruned_edges


def edge_scores(
    graph: GraphLike,
    score: str = "teddy",
    *,
    seed: int = 0,
    num_nodes: int | None = None,
    budget: str = "each",
    weighted: bool = False,
    edge_weight: Tensor | None = None,
    **signals: Tensor,
) -> Any:
    r"""Return the score of each column of ``edge_index``, by default TEDDY's (Eq. 6 to 8).

    .. math::
        T_e(i, j) = \tilde g(i) \, \tilde g(j) \qquad
        \tilde g(v) = \frac{1}{|N_v|^2} \sum_{u \in N_v} \frac{1}{\sqrt{|N_u|}}

    Args:
        graph: An ``edge_index``, a ``Data``, ``HeteroData`` or ``Batch``, or a list of ``Data``.
            One or both directions of an edge may be listed; duplicates and self-loops are allowed.
            Degrees are those of the simple graph. Both directions of an edge have the same score.
            A self-loop has the score of the pair (i, i); it is never pruned. A relation of a
            ``HeteroData`` and its reverse are one (:func:`teddy.graph.relation_edges`).
        score: Name of a score in ``teddy.prune.SCORES``.
        seed: Seed of random scores.
        num_nodes: Number of nodes of an ``edge_index``; by default the highest index plus one.
        budget: ``each``: degrees are those within a relation; ``all``: those in the union of all
            relations.
        weighted: True for degrees that are sums of the graph's ``edge_weight``.
        edge_weight: Positive weights ``[E]`` of an ``edge_index``, for weighted degrees
            (:func:`teddy.prune.scores.teddy.weighted_node_values`). An edge has the mean weight of
            its columns.
        signals: Node signals of the score: ``x``, ``logits``, ``isolated_logits``, ``labels``
            (:class:`~teddy.prune.scores.score.Signals`). By default the fields of the graph.

    Returns:
        float64 ``[E]``; a dictionary by relation for a ``HeteroData``, a list for a list. The
        lowest scores are pruned first.

    Example:
        >>> import torch, teddy
        >>> triangle_with_tail = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 3]])
        >>> teddy.edge_scores(triangle_with_tail)
        tensor([0.1031, 0.0861, 0.0861, 0.1549], dtype=torch.float64)
    """
    rule = score_of(score)
    node_signals = signals_of(graph, score, rule.needs, signals)
    check_budget(budget)
    weighted = _is_weighted(score, weighted, edge_weight)
    fast = None if weighted else _sorted_graph(graph, num_nodes, rule)
    if fast is not None:
        return fast.scores(rule)
    listed = graph_edges(graph, num_nodes, budget, weighted, edge_weight)
    pair = listed.pair_of_column
    scores, loop = torch.empty_like(pair, dtype=torch.float64), pair < 0
    by_edge = score_edges(listed.edges, score, seed, listed.weights, node_signals)
    scores[~loop] = by_edge[pair[~loop]]
    scores[loop] = _loop_scores(rule, listed)
    return listed.like_graph(scores)


def prune_edges(
    graph: GraphLike,
    sparsity: float,
    score: str = "teddy",
    *,
    seed: int = 0,
    num_nodes: int | None = None,
    budget: str = "each",
    weighted: bool = False,
    edge_weight: Tensor | None = None,
    **signals: Tensor,
) -> Any:
    r"""Return a mask of the kept edges (Algorithm 1, *Searching Subgraph*).

    Exactly :math:`\lceil p_g M \rceil` of the :math:`M` undirected edges are removed: those with
    the lowest scores, with all their columns. Self-loops are kept. An edge that is removed at one
    sparsity is removed at every higher one.

    Args:
        graph: An ``edge_index``, a ``Data``, ``HeteroData`` or ``Batch``, or a list of ``Data``;
            see :func:`edge_scores`.
        sparsity: Share :math:`p_g` of undirected edges to remove, in [0, 1].
        score: Name of a score in ``teddy.prune.SCORES``.
        seed: Seed of random scores.
        num_nodes: Number of nodes of an ``edge_index``; by default the highest index plus one.
        budget: ``each``: the sparsity holds for each graph of a batch and for each relation;
            ``all``: for all of them together, so some may lose all edges and others none.
        weighted: True for degrees that are sums of the graph's ``edge_weight``.
        edge_weight: Weights of an ``edge_index``, for weighted degrees.
        signals: Node signals of the score; see :func:`edge_scores`.

    Returns:
        bool ``[E]``, True for kept columns; a dictionary by relation for a ``HeteroData``, a list
        for a list.

    Example:
        >>> import torch, teddy
        >>> from torch_geometric.data import Batch, Data, HeteroData
        >>> triangle_with_tail = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 3]])
        >>> teddy.prune_edges(triangle_with_tail, 0.5)
        tensor([ True, False, False,  True])
        >>> path = Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]), num_nodes=4)
        >>> star = Data(edge_index=torch.tensor([[0, 0, 0], [1, 2, 3]]), num_nodes=4)
        >>> batch = Batch.from_data_list([path, star])
        >>> int(teddy.prune_edges(batch, 0.5).sum())  # one edge of each graph
        2
        >>> [int(keep.sum()) for keep in teddy.prune_edges([path, star], 0.5, budget="all")]
        [2, 1]
        >>> data = HeteroData(author={"num_nodes": 2}, paper={"num_nodes": 2})
        >>> data["author", "writes", "paper"].edge_index = torch.tensor([[0, 0, 1], [0, 1, 1]])
        >>> teddy.prune_edges(data, 0.3)
        {('author', 'writes', 'paper'): tensor([ True, False,  True])}
    """
    check_sparsity(sparsity)
    check_budget(budget)
    rule = score_of(score)
    node_signals = signals_of(graph, score, rule.needs, signals)
    weighted = _is_weighted(score, weighted, edge_weight)
    fast = None if weighted else _sorted_graph(graph, num_nodes, rule)
    if fast is not None:
        return fast.keep(rule, num_pruned_edges(sparsity, fast.num_edges))
    listed = graph_edges(graph, num_nodes, budget, weighted, edge_weight)
    scores = score_edges(listed.edges, score, seed, listed.weights, node_signals)
    keep = keep_highest(listed.edges, scores, sparsity)
    return listed.like_graph(keep_columns(keep, listed.pair_of_column))


def _is_weighted(score: str, weighted: bool, edge_weight: Tensor | None) -> bool:
    """Return True if degrees are weighted; raise if the score does not support it."""
    weighted = weighted or edge_weight is not None
    if weighted:
        check_weighted(score)
    return weighted


def _sorted_graph(graph: GraphLike, num_nodes: int | None, rule: Score) -> SortedGraph | None:
    """Return a graph that can be scored without a sort, or None."""
    if rule.join is None:
        return None
    if isinstance(graph, Tensor):
        return SortedGraph.from_edge_index(graph, num_nodes)
    if isinstance(graph, Data) and not isinstance(graph, Batch) and graph.edge_index is not None:
        return SortedGraph.from_edge_index(graph.edge_index, graph.num_nodes)
    return None


def _loop_scores(rule: Score, listed: GraphEdges) -> Tensor:
    """Return the scores of self-loops as pairs (i, i) of their graph or relation."""
    edges, nodes, weights = listed.edges, listed.loop_nodes, listed.weights
    groups = edges.groups
    if groups is None:
        return _of_loops(rule, edges, nodes, weights)
    if groups.node is not None and groups.budget == "all":
        union, pair = edges.union
        if weights is not None:
            weights = WeightedGraph.from_columns(union, pair, weights).weight
        return _of_loops(rule, union, groups.node[nodes], weights)
    scores, group = torch.empty_like(nodes, dtype=torch.float64), groups.group_of(nodes)
    for number, (part, part_nodes, part_edges) in enumerate(edges.each_group()):
        inside = group == number
        if inside.any():
            weight = None if weights is None else weights[part_edges]
            scores[inside] = _of_loops(rule, part, nodes[inside] - part_nodes.start, weight)
    return scores


def _of_loops(rule: Score, edges: Edges, nodes: Tensor, weights: Tensor | None) -> Tensor:
    graph = edges if weights is None else WeightedGraph(edges, weights)
    return rule.of_pairs(graph, torch.stack([nodes, nodes]))
