"""Selection of the kept edges by a score: in a graph, in each graph of a batch or relation."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from teddy.errors import InputError
from teddy.graph.edges import Edges
from teddy.graph.weighted_graph import WeightedGraph
from teddy.prune.scores import SCORES
from teddy.prune.scores.score import Score, Signals, as_score
from teddy.prune.select import (
    Digests,
    index_digests,
    lowest_edges,
    lowest_of_groups,
    pair_digests,
    pair_text,
)


def choose_edges(
    edges: Edges,
    sparsity: float,
    score: str = "teddy",
    seed: int = 0,
    weighted: bool = False,
    signals: Signals | None = None,
) -> Tensor:
    r"""Choose the edges that are kept, bool ``[M]`` (Algorithm 1, *Searching Subgraph*).

    Exactly :math:`\lceil p_g M \rceil` edges are removed, from each group or from all together.

    Args:
        edges: The graph.
        sparsity: Share :math:`p_g` of edges to remove.
        score: A name in ``teddy.prune.SCORES``.
        seed: Seed of random scores.
        weighted: True for degrees that are sums of ``edge_weight``.
        signals: Node signals, for a score that needs them.

    Example:
        >>> path = Edges(4, torch.tensor([[0, 1, 2], [1, 2, 3]]))
        >>> choose_edges(path, 0.3).tolist()  # the middle edge has the highest degrees
        [True, False, True]
    """
    weights = edges.weights if weighted else None
    if weighted and weights is None:
        raise InputError("weighted degrees need edge_weight, but the edges have none")
    return keep_highest(edges, score_edges(edges, score, seed, weights, signals), sparsity)


def keep_highest(edges: Edges, scores: Tensor, sparsity: float) -> Tensor:
    """Return a mask of all edges but those of lowest score, as many as the budget, bool ``[M]``.

    Example:
        >>> from teddy.graph import Groups
        >>> pairs, graphs = torch.tensor([[0, 1, 3], [1, 2, 4]]), torch.tensor([0, 0, 0, 1, 1])
        >>> scores = torch.tensor([3.0, 2.0, 1.0], dtype=torch.float64)
        >>> for budget in ("each", "all"):
        ...     batch = Edges(5, pairs, groups=Groups.from_batch(graphs, 2, budget))
        ...     print(keep_highest(batch, scores, 0.3))
        tensor([ True, False, False])
        tensor([ True,  True, False])
    """
    budgets, digests = edges.num_pruned(sparsity), _tie_digests(edges)
    if budgets.numel() == 1:
        return ~lowest_edges(scores, int(budgets), digests)
    return ~lowest_of_groups(scores, edges.group, budgets, digests)


def score_edges(
    edges: Edges,
    score: str = "teddy",
    seed: int = 0,
    weights: Tensor | None = None,
    signals: Signals | None = None,
) -> Tensor:
    """Return the score of each edge within its group, float64 ``[M]``.

    With a budget over all relations, scores are those in their union. Random scores draw once for
    all graphs of a batch, and separately for each relation.

    Args:
        edges: The graph.
        score: A name in ``teddy.prune.SCORES``.
        seed: Seed of random scores.
        weights: Weight of each edge, float64 ``[M]``, for weighted degrees.
        signals: Node signals, for a score that needs them.
    """
    function, groups = score_of(score), edges.groups
    if weights is not None:
        check_weighted(score)
    if signals is not None or function.needs:
        signals = (signals or Signals()).checked(edges.num_nodes, score, function.needs)
        signals = signals.to(edges.pairs.device)
    if groups is None:
        return _score_graph(edges, function, seed, weights, signals)
    if groups.budget == "all" and groups.node is not None:
        graph, pair = edges.union
        if weights is not None:
            weighted = WeightedGraph.from_columns(graph, pair, weights)
            return function.of_pairs(weighted, edges.node_pairs)
        if not function.of_graph:  # edges of two relations between the same nodes differ
            return function(edges, signals, seed)
        return function(graph, signals, seed)[pair]
    scores = torch.empty_like(edges.pairs[0], dtype=torch.float64)
    if weights is not None or (groups.separate_draws and function.draws):
        for group, _, columns in edges.each_group():
            weight = None if weights is None else weights[columns]
            scores[columns] = _score_graph(group, function, seed, weight, signals)
        return scores
    if function.draws or not edges.num_edges:
        return function(edges, signals, seed)
    # The resolution of TEDDY's integer sums depends on the bits of the highest degree. Graphs with
    # the same number of bits are scored together, with the same result as separately.
    nodes = torch.arange(edges.num_nodes, device=edges.pairs.device)
    highest = torch.zeros_like(edges.num_in_group)
    highest.scatter_reduce_(0, groups.group_of(nodes), edges.degree, "amax")
    bits = torch.frexp(highest.double()).exponent[edges.group]
    for value in bits.unique():
        same = bits == value
        scores[same] = function(Edges(edges.num_nodes, edges.pairs[:, same]), signals, seed)
    return scores


def _score_graph(
    edges: Edges, score: Score, seed: int, weights: Tensor | None, signals: Signals | None
) -> Tensor:
    """Score the edges of one graph."""
    if weights is not None:
        return score.of_pairs(WeightedGraph(edges, weights), edges.pairs)
    return score(edges, signals, seed)


def score_of(name: str) -> Score:
    """Return the score with a name."""
    return as_score(SCORES[name])


def check_weighted(score: str) -> None:
    """Raise unless a score supports weighted degrees.

    Example:
        >>> check_weighted("random")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: score random does not support weighted degrees, expected one of:
        teddy, degree-high, degree-low, two-hop
    """
    if score_of(score).weighted is None:
        known = ", ".join(name for name in SCORES if score_of(name).weighted is not None)
        raise InputError(
            f"score {score} does not support weighted degrees, expected one of: {known}"
        )


def needed_signals(score: str) -> tuple[str, ...]:
    """Return the names of the node signals that a score needs."""
    return score_of(score).needs


def _tie_digests(edges: Edges) -> Digests:
    """Return the hashes of edges, by the indices of their ends within the group of the budget."""
    groups = edges.groups
    if groups is None or (groups.budget == "all" and groups.node is None):
        return index_digests(edges.pairs)
    if groups.budget == "each":
        return index_digests(edges.pairs - groups.first[edges.group])

    def digests(chosen: Tensor) -> NDArray[np.bytes_]:
        """Hash the ends and the relation, since two relations may join the same nodes."""
        pairs = zip(*edges.node_pairs[:, chosen].tolist(), strict=True)
        ends = (pair_text(low, high) for low, high in pairs)
        return pair_digests(ends, map(str, edges.group[chosen].tolist()))

    return digests
