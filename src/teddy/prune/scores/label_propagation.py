"""Label propagation: agreement of the propagated training labels at both ends of an edge."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from teddy.graph.edges import Edges
from teddy.prune.scores.score import Score, Signals, max_degree
from teddy.prune.scores.teddy import fraction_bits

#: From `"Learning with local and global consistency" (Zhou et al. 2003)`.
STEPS, ALPHA = 10, 0.9


def label_propagation_values(graph: Edges, signals: Signals, seed: int = 0) -> Tensor:
    r"""Product of the propagated labels of both ends, times the edge's weight in the propagation.

    .. math::
        F^{(t+1)} = \alpha \hat A F^{(t)} + (1 - \alpha) Y \qquad
        s_{ij} = \hat A_{ij} \, F_i^\top F_j \qquad \hat A = D^{-1/2} A D^{-1/2}

    with :math:`Y` the labels of the training nodes, zero elsewhere; ten steps. An edge that no
    label reaches has score 0. Sums run over integers, as in TEDDY's score
    (:func:`~teddy.prune.scores.teddy.node_values`): no entry of :math:`D^{-1/2} F` is above 1.

    Example:
        >>> path = Edges(4, torch.tensor([[0, 1, 2], [1, 2, 3]]))
        >>> signals = Signals(labels=torch.tensor([0, -1, -1, -1]))
        >>> near, further, far = label_propagation_values(path, signals).tolist()
        >>> near > further > far > 0
        True
    """
    labels = signals.labels
    assert labels is not None
    known = labels >= 0
    classes, number = labels[known].unique(return_inverse=True)
    width = max(classes.numel(), 1)
    start = torch.zeros(graph.num_nodes, width, dtype=torch.float64, device=labels.device)
    start[known] = F.one_hot(number, width).double()
    scale = graph.degree.clamp(min=1).double().rsqrt()
    receiver, sender = graph.pairs.flatten(), graph.pairs.flip(0).flatten()
    spread, unit = start, 2.0 ** fraction_bits(max_degree(graph))
    for _ in range(STEPS):
        whole = (spread * scale[:, None]).mul_(unit).floor_().long()
        sums = torch.zeros_like(whole).index_add_(0, receiver, whole[sender]).double() / unit
        spread = ALPHA * sums * scale[:, None] + (1 - ALPHA) * start
    one, other = graph.pairs
    return scale[one] * scale[other] * (spread[one] * spread[other]).sum(dim=1)


#: Prune edges that no label reaches first.
label_propagation = Score(label_propagation_values, ("labels",))
