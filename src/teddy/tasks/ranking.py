"""Metrics of links: area under the ROC curve, and hits@k."""

from __future__ import annotations

import torch
from torch import Tensor


def auc(logits: Tensor, y: Tensor) -> float:
    r"""Share of pairs of a positive and a negative that are in order, in percent.

    .. math::
        \frac{1}{|P| |N|} \sum_{p \in P} \sum_{n \in N}
        \mathbb 1[z_p > z_n] + \tfrac12 \mathbb 1[z_p = z_n]

    which is the area under the curve of the receiver operating characteristic; it is counted in
    integers.

    Args:
        logits: ``[P]`` or ``[P, 1]``.
        y: 1 or 0, of the same shape.

    Example:
        >>> auc(torch.tensor([3.0, 1.0, 1.0, 0.0]), torch.tensor([1, 1, 0, 0]))
        87.5
    """
    positive, negative = _parts(logits, y)
    negative = negative.sort().values
    below = torch.searchsorted(negative, positive)
    not_above = torch.searchsorted(negative, positive, right=True)
    return 50.0 * int((below + not_above).sum()) / (positive.numel() * negative.numel())


def hits_at(k: int, logits: Tensor, y: Tensor) -> float:
    r"""Share of positives above the k-th highest negative, in percent, as OGB has it.

    With fewer than k negatives there is none to be above, and it is 100.

    Args:
        k: The rank.
        logits: ``[P]`` or ``[P, 1]``.
        y: 1 or 0, of the same shape.

    Example:
        >>> hits_at(1, torch.tensor([3.0, 1.0, 1.0, 0.0]), torch.tensor([1, 1, 0, 0]))
        50.0
    """
    positive, negative = _parts(logits, y)
    if negative.numel() < k:
        return 100.0
    bar = negative.topk(k).values[-1]
    return 100.0 * int((positive > bar).sum()) / positive.numel()


def _parts(logits: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z, there = logits.detach().flatten(), y.flatten() == 1
    # A nan has no place in an order: it counts as a mistake, whichever of the two it is of.
    z = torch.where(z.isnan(), torch.where(there, -torch.inf, torch.inf), z)
    return z[there], z[~there]
