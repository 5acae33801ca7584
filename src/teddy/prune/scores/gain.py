"""Gain of the messages along an edge for the predictions of the nodes that receive them."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from teddy.graph.edges import Edges
from teddy.prune.scores.edge_values import paired_products, ranks
from teddy.prune.scores.score import Score, Signals

#: Value of a message to a node that is predicted as well without messages.
FLOOR = 0.1


def gain_values(graph: Edges, signals: Signals, seed: int = 0) -> Tensor:
    r"""Sum of the values of the two messages along an edge to the nodes that receive them.

    With the dense model's predictions :math:`p_i = \mathrm{softmax}(z_i)`, and those of the same
    model on the graph without edges, :math:`q_i = \mathrm{softmax}(z^0_i)`,

    .. math::
        w_{j \to i} = \big(\epsilon + 1 - p_i^\top q_i\big) \; p_i^\top \frac{p_j + q_j}{2} \qquad
        s_{ij} = \frac{w_{j \to i}}{r_i(j)} + \frac{w_{i \to j}}{r_j(i)}

    The first factor is the need of :math:`i`: the distance between its predictions without and with
    neighbours. The second is the offer of :math:`j`: its agreement with the latter prediction, half
    without and half with its neighbours. Each further message to a node adds less, so a message is
    divided by its rank :math:`r_i(j)` among the messages to :math:`i`, the best first.

    For a training node :math:`p_i` is its label. Each message to it is one more example of the
    class, so all count in full: need and rank are 1.

    Example:
        >>> z = torch.tensor([[9.0, 0.0], [9.0, 0.0], [9.0, 0.0]])
        >>> isolated = torch.tensor([[0.0, 9.0], [9.0, 0.0], [0.0, 9.0]])  # 0 and 2 are wrong
        >>> triangle = Edges(3, torch.tensor([[0, 0, 1], [1, 2, 2]]))
        >>> signals = Signals(logits=z, isolated_logits=isolated, labels=torch.full((3,), -1))
        >>> gain_values(triangle, signals).round(decimals=2)
        tensor([1.1500, 0.5500, 1.1500], dtype=torch.float64)
    """
    assert signals.logits is not None
    assert signals.isolated_logits is not None
    assert signals.labels is not None
    known = signals.labels >= 0
    p, q = (z.double().softmax(dim=1) for z in (signals.logits, signals.isolated_logits))
    p[known] = F.one_hot(signals.labels[known], p.size(1)).double()
    need = torch.where(known, 1.0, 1 - (p * q).sum(dim=1)) + FLOOR
    receiver, sender, mean = graph.pairs, graph.pairs.flip(0), (p + q) / 2
    offer = torch.stack([paired_products(p, mean, pairs) for pairs in (receiver, sender)])
    values = need[receiver] * offer
    rank = torch.where(known[receiver], 1, ranks(graph, values))
    return (values / rank).sum(dim=0)


#: Prune the edges of lowest gain first.
gain = Score(gain_values, ("logits", "isolated_logits", "labels"))
