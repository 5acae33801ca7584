"""Scores and pruning of an ``edge_index``."""

from __future__ import annotations

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.graph.edges import Edges, keep_columns
from teddy.graph.weighted_graph import WeightedGraph
from teddy.prune.choose import keep_highest, needed_signals, score_edges, score_pairs
from teddy.prune.scores import SCORES
from teddy.prune.scores.node_score import NodeScore
from teddy.prune.signals import Signals
from teddy.prune.sorted_graph import SortedGraph
from teddy.sparsity import num_pruned_edges


def edge_scores(
    edge_index: Tensor,
    num_nodes: int | None = None,
    method: str = "teddy",
    seed: int = 0,
    edge_weight: Tensor | None = None,
    **signals: Tensor,
) -> Tensor:
    r"""Score each column of ``edge_index``: how much the edge matters (Eq. 6 to 8).

    ``edge_index`` may list an undirected edge once or twice and hold duplicates and self-loops.
    Degrees are those of the simple graph; both directions of an edge get the same score. A
    self-loop gets the value that the score has for the pair (i, i); it is never pruned.

    Args:
        edge_index: Integer ``[2, E]``.
        num_nodes: Number of nodes; by default the highest index plus one.
        method: A name in ``teddy.prune.SCORES``.
        seed: For scores that draw.
        edge_weight: Of each column, above 0, for weighted degrees
            (:func:`teddy.prune.scores.teddy.weighted_node_values`); an edge has the mean of its
            columns'. Scores that aren't made of degrees don't take any.
        signals: What the score looks at beside the graph: ``x``, ``logits``, ``alone``, ``labels``,
            as of :class:`~teddy.prune.signals.Signals`.

    Returns:
        float64 ``[E]``; the lowest are pruned first.

    Example:
        >>> import torch, teddy
        >>> triangle_with_tail = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 3]])
        >>> teddy.edge_scores(triangle_with_tail)
        tensor([0.1031, 0.0861, 0.0861, 0.1549], dtype=torch.float64)
    """
    score, known = SCORES[method], _signals(method, signals)
    if isinstance(score, NodeScore) and edge_weight is None:
        fast = SortedGraph.of(edge_index, num_nodes)
        if fast is not None:
            return fast.scores(score)
    graph, pair_of_column = Edges.from_columns(edge_index, num_nodes)
    weights = _weights(graph, pair_of_column, edge_weight)
    scores = torch.empty(edge_index.size(1), dtype=torch.float64, device=edge_index.device)
    loop = pair_of_column < 0
    found = score_pairs(graph, graph.pairs, method, seed, weights, known)
    scores[~loop] = found[pair_of_column[~loop]]
    scores[loop] = score_pairs(graph, edge_index[:, loop].long(), method, seed, weights, known)
    return scores


def prune_edges(
    edge_index: Tensor,
    sparsity: float,
    num_nodes: int | None = None,
    method: str = "teddy",
    seed: int = 0,
    edge_weight: Tensor | None = None,
    **signals: Tensor,
) -> Tensor:
    r"""Choose the edges that stay (Algorithm 1, *Searching Subgraph*).

    Exactly :math:`\lceil p_g M \rceil` of the :math:`M` undirected edges go, those of the lowest
    score. All columns of an edge share its fate, self-loops stay, and what goes at one sparsity
    goes at every higher one.

    Args:
        edge_index: Integer ``[2, E]``; see :func:`edge_scores` for what it may hold.
        sparsity: Share :math:`p_g` of undirected edges to remove, in [0, 1].
        num_nodes: Number of nodes; by default the highest index plus one.
        method: A name in ``teddy.prune.SCORES``.
        seed: For scores that draw.
        edge_weight: Of each column, for weighted degrees; see :func:`edge_scores`.
        signals: What the score looks at beside the graph; see :func:`edge_scores`.

    Returns:
        bool ``[E]``: keep this column.

    Example:
        >>> import torch, teddy
        >>> triangle_with_tail = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 3]])
        >>> teddy.prune_edges(triangle_with_tail, 0.5)
        tensor([ True, False, False,  True])
    """
    score, known = SCORES[method], _signals(method, signals)
    if isinstance(score, NodeScore) and edge_weight is None:
        fast = SortedGraph.of(edge_index, num_nodes)
        if fast is not None:
            return fast.keep(score, num_pruned_edges(sparsity, fast.num_edges))
    graph, pair_of_column = Edges.from_columns(edge_index, num_nodes)
    weights = _weights(graph, pair_of_column, edge_weight)
    scores = score_edges(graph, method, seed, weights, known)
    return keep_columns(keep_highest(graph, scores, sparsity), pair_of_column)


def _weights(graph: Edges, pair_of_column: Tensor, edge_weight: Tensor | None) -> Tensor | None:
    if edge_weight is None:
        return None
    return WeightedGraph.of(graph, pair_of_column, edge_weight).weight


def _signals(method: str, given: dict[str, Tensor]) -> Signals:
    """Signals that a caller named, if the score looks at them."""
    needs = needed_signals(method)
    for name in given:
        if name not in needs:
            wanted = ", ".join(needs) or "nothing beside the graph"
            raise InputError(f"got {name}, expected what the score {method} looks at: {wanted}")
    return Signals(**given)
