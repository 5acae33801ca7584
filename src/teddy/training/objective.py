"""What a training minimises: Eq. 2 and Eq. 9 of the paper."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from teddy.training.config import TrainConfig


class Objective:
    r"""Cross entropy of the training nodes plus :math:`\lambda_{dt}` times the distillation.

    .. math::
        \mathcal L_{dt} = \mathcal L(\mathcal G, \Theta) + \lambda_{dt} \, \mathbb{KL}

    With :math:`P = \mathrm{softmax}(Z / \tau)` and :math:`Q = \mathrm{softmax}(Z_{dense} / \tau)`,
    the divergence is the mean over ALL nodes, or the training nodes only, of
    :math:`\sum_k Q_k \log (Q_k / P_k)` (``dense-sparse``) or of
    :math:`\sum_k P_k \log (P_k / Q_k)` (``sparse-dense``).

    Args:
        y: Labels ``[N]``.
        train: Indices of the training nodes.
        teacher: The dense model's logits ``[N, C]``; None for the dense training itself.
        config: Gives lambda, temperature, the nodes and the reading of the divergence.

    Example:
        >>> import torch
        >>> z, y = torch.zeros(2, 2), torch.tensor([0, 1])
        >>> Objective(y, torch.tensor([0]), None, TrainConfig())(z)
        tensor(0.6931)
    """

    def __init__(
        self, y: Tensor, train: Tensor, teacher: Tensor | None, config: TrainConfig
    ) -> None:
        self.config = config
        self.own = y[train] * y.numel() + train  # where [C, N] holds a training node's class
        self.dense: Tensor | None = None
        self.taught = train if config.distill_nodes == "training" else None
        if teacher is not None and config.distill > 0:
            if self.taught is not None:
                teacher = teacher.index_select(0, self.taught)
            self.dense = _log_softmax(teacher / config.temperature)
            self.q = self.dense.exp()
            self.q_log_q = torch.dot(self.q.flatten(), self.dense.flatten())

    def __call__(self, logits: Tensor) -> Tensor:
        """Return the loss of logits ``[N, C]``."""
        log_p = _log_softmax(logits)
        loss = -log_p.flatten().index_select(0, self.own).mean()
        if self.dense is None:
            return loss
        if self.taught is not None:
            logits = logits.index_select(0, self.taught)
        if self.taught is not None or self.config.temperature != 1:
            log_p = _log_softmax(logits / self.config.temperature)
        if self.config.divergence == "sparse-dense":
            divergence = torch.dot(log_p.exp().flatten(), (log_p - self.dense).flatten())
        else:  # the entropy of Q is the same at every step
            divergence = self.q_log_q - torch.dot(self.q.flatten(), log_p.flatten())
        return loss + self.config.distill / logits.size(0) * divergence


def _log_softmax(logits: Tensor) -> Tensor:
    """Over the classes, as ``[C, N]``: with few classes five times as fast as along rows."""
    return F.log_softmax(logits.t().contiguous(), dim=0)
