"""Scores and pruning of a heterogeneous graph."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from teddy.errors import InputError
from teddy.graph.edges import Edges
from teddy.graph.groups import EdgeType
from teddy.graph.messages import keep_columns
from teddy.graph.relations import relation_edges
from teddy.graph.weighted_graph import WeightedGraph, check_has_weights
from teddy.prune.choose import choose_edges, needed_signals, score_edges, score_of


def relation_scores(
    data: HeteroData,
    method: str = "teddy",
    seed: int = 0,
    relations: str = "each",
    weighted: bool = False,
) -> dict[EdgeType, Tensor]:
    """Score each edge of a heterogeneous graph: :func:`teddy.edge_scores` of its relations.

    A relation between two node types is a bipartite graph, one within a type an undirected one; a
    relation and its reverse are one (:func:`teddy.graph.relation_edges`).

    Args:
        data: The graph: ``edge_index`` of each relation, and the number of nodes of each type.
        method: A name in ``teddy.prune.SCORES``, of a score of the graph alone.
        seed: For scores that draw.
        relations: ``each``: degrees are those of a relation by itself; ``all``: of the graph that
            all relations make together.
        weighted: Whether degrees are sums of ``edge_weight``, which each relation must have.

    Returns:
        float64 ``[E]`` for each relation; the lowest are pruned first.

    Example:
        >>> import torch, teddy
        >>> data = HeteroData(author={"num_nodes": 2}, paper={"num_nodes": 2})
        >>> data["author", "writes", "paper"].edge_index = torch.tensor([[0, 0, 1], [0, 1, 1]])
        >>> teddy.relation_scores(data)  # a path of four nodes
        {('author', 'writes', 'paper'): tensor([0.3018, 0.1821, 0.3018], dtype=torch.float64)}
        >>> teddy.relation_scores(data, "cosine")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: cosine looks at x of one kind of node, expected a score of the
        graph alone for a HeteroData
    """
    edges, pair_of_column = _edges(data, method, relations, weighted)
    weights = edges.weights if weighted else None
    scores = score_edges(edges, method, seed, weights)
    found = {}
    groups = edges.groups
    assert groups is not None
    assert groups.node is not None
    for group, (alone, nodes, own) in zip(groups.relations, edges.each(), strict=True):
        for kind in group:
            pair = pair_of_column[kind]
            of_columns, loop = torch.empty_like(pair, dtype=torch.float64), pair < 0
            of_columns[~loop] = scores[pair[~loop]]
            loops, graph, weight = data[kind].edge_index[:, loop].long(), alone, weights
            if relations == "all":
                loops = groups.node[loops + nodes.start]
                graph, union_pair = edges.union
                if weights is not None:
                    weight = WeightedGraph.of(graph, union_pair, weights).weight
            elif weights is not None:
                weight = weights[own]
            own_graph = graph if weight is None else WeightedGraph(graph, weight)
            of_columns[loop] = score_of(method).of_pairs(own_graph, loops)
            found[kind] = of_columns
    return {kind: found[kind] for kind in data.edge_types}


def prune_relations(
    data: HeteroData,
    sparsity: float,
    method: str = "teddy",
    seed: int = 0,
    relations: str = "each",
    weighted: bool = False,
) -> dict[EdgeType, Tensor]:
    r"""Choose the kept edges of a heterogeneous graph.

    Exactly :math:`\lceil p_g M_r \rceil` undirected edges of each relation are removed, as by
    :func:`teddy.prune_edges`; or :math:`\lceil p_g M \rceil` of all together. A relation and its
    reverse are one, self-loops are kept, and edges of different relations between the same nodes
    are different edges.

    Args:
        data: The graph.
        sparsity: Share :math:`p_g` of undirected edges to remove, in [0, 1].
        method: A name in ``teddy.prune.SCORES``, of a score of the graph alone.
        seed: For scores that draw.
        relations: ``each`` or ``all``; see :func:`relation_scores`.
        weighted: Whether degrees are sums of ``edge_weight``.

    Returns:
        bool ``[E]`` for each relation: keep this column.

    Example:
        >>> import torch, teddy
        >>> data = HeteroData(author={"num_nodes": 2}, paper={"num_nodes": 2})
        >>> data["author", "writes", "paper"].edge_index = torch.tensor([[0, 0, 1], [0, 1, 1]])
        >>> teddy.prune_relations(data, 0.3)
        {('author', 'writes', 'paper'): tensor([ True, False,  True])}
    """
    edges, pair_of_column = _edges(data, method, relations, weighted)
    keep = choose_edges(edges, sparsity, method, seed, weighted)
    return {kind: keep_columns(keep, pair_of_column[kind]) for kind in data.edge_types}


def _edges(
    data: HeteroData, method: str, relations: str, weighted: bool
) -> tuple[Edges, dict[EdgeType, Tensor]]:
    """Edges, with their weights where degrees are weighted, or raise."""
    needs = needed_signals(method)
    if needs:
        raise InputError(
            f"{method} looks at {', '.join(needs)} of one kind of node, expected a score of the "
            "graph alone for a HeteroData"
        )
    if not weighted:
        return relation_edges(data, relations)
    edges, pair_of_column = relation_edges(data, relations, ["edge_weight"])
    for kind in pair_of_column:
        check_has_weights(kind, data[kind])
    return edges, pair_of_column
