"""Link-prediction metrics: area under the ROC curve, and hits@k."""

from __future__ import annotations

import torch
from torch import Tensor


def auc(logits: Tensor, y: Tensor) -> float:
    r"""Return the area under the ROC curve in percent.

    .. math::
        \frac{1}{|P| |N|} \sum_{p \in P} \sum_{n \in N}
        \mathbb 1[z_p > z_n] + \tfrac12 \mathbb 1[z_p = z_n]

    over positives :math:`P` and negatives :math:`N`, counted in integers.

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
    r"""Return the share of positives above the k-th highest negative in percent, as OGB does.

    With fewer than k negatives it is 100.

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
    threshold = negative.topk(k).values[-1]
    return 100.0 * int((positive > threshold).sum()) / positive.numel()


def _parts(logits: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z, positive = logits.detach().flatten(), y.flatten() == 1
    # A nan has no rank: it counts as a mistake.
    z = torch.where(z.isnan(), torch.where(positive, -torch.inf, torch.inf), z)
    return z[positive], z[~positive]
