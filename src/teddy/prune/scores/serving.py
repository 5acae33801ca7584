"""Gain of an edge for what it costs to serve: for answers about a few nodes at a time."""

from __future__ import annotations

from torch import Tensor

from teddy.graph.edges import Edges
from teddy.prune.scores.gain import gain, gain_values
from teddy.prune.scores.score import Score, Signals


def serving_values(graph: Edges, signals: Signals, seed: int = 0) -> Tensor:
    r"""Gain of an edge, divided by the number of walks through it.

    .. math::
        \frac{\mathrm{gain}_{ij}}{c_{ij}} \qquad c_{ij} = 2 \, (|N_i| + |N_j|)

    With two layers the answer for a node sums a message for each walk of one or two steps that ends
    at it. An edge is in :math:`c_{ij}` of all these walks, counted over all nodes, so this is what
    a server saves without it.

    Example:
        >>> import torch
        >>> z = torch.tensor([[9.0, 0.0], [9.0, 0.0], [9.0, 0.0]])
        >>> isolated = torch.tensor([[0.0, 9.0], [9.0, 0.0], [0.0, 9.0]])
        >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
        >>> signals = Signals(logits=z, isolated_logits=isolated, labels=torch.full((3,), -1))
        >>> serving_values(path, signals).round(decimals=3)  # 6 walks each
        tensor([0.1920, 0.1920], dtype=torch.float64)
    """
    degree = graph.degree.double()[graph.pairs]
    return gain_values(graph, signals, seed) / (2 * degree.sum(dim=0))


#: Prune the edges of lowest gain for their cost first.
serving = Score(serving_values, gain.needs)
