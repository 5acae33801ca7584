"""Agreement of the dense model's predictions for both ends of an edge."""

from __future__ import annotations

from torch import Tensor

from teddy.graph.edges import Edges
from teddy.prune.scores.edge_values import paired_products, ranks
from teddy.prune.scores.score import Score, Signals
from teddy.prune.scores.teddy import teddy_score


def agreement_values(graph: Edges, signals: Signals) -> Tensor:
    r"""Probability that independent draws from the predictions of both ends are the same class.

    .. math::
        a_{ij} = \mathrm{softmax}(z_i)^\top \mathrm{softmax}(z_j)
    """
    assert signals.logits is not None
    p = signals.logits.double().softmax(dim=1)
    return paired_products(p, p, graph.pairs)


def weighted_agreement(graph: Edges, signals: Signals, seed: int = 0) -> Tensor:
    r"""Agreement times TEDDY's score (Eq. 6 to 8), :math:`a_{ij} \, T_e(i, j)`."""
    return agreement_values(graph, signals) * teddy_score(graph)


def best_agreement(graph: Edges, signals: Signals, seed: int = 0) -> Tensor:
    r"""Better rank of an edge at its two ends, by agreement.

    .. math::
        s_{ij} = -\min(r_i(j), r_j(i)) + \tfrac{1}{2} a_{ij}

    where :math:`r_i` ranks the neighbours of :math:`i` by :math:`a_{ij}`, the highest first. Every
    node keeps its neighbour of highest agreement before any keeps a second: k-neighbor with ranks
    by the teacher instead of random ones.
    """
    a = agreement_values(graph, signals)
    rank = ranks(graph, a.expand(2, -1)).amin(dim=0)
    return a / 2 - rank.double()


#: Prune edges between predicted classes, or between hubs, first.
agreement = Score(weighted_agreement, ("logits",))

#: Prune edges of a low rank at both ends first.
k_agreement = Score(best_agreement, ("logits",))
