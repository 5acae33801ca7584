"""What a training minimises: Eq. 2 and Eq. 9 of the paper."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from teddy.training.config import TrainConfig


def distillation(logits: Tensor, teacher: Tensor, config: TrainConfig) -> Tensor:
    r"""Divergence between the sparse model's and the dense model's predictions, per node.

    With :math:`P = \mathrm{softmax}(Z / \tau)` and :math:`Q = \mathrm{softmax}(Z_{dense} / \tau)`,
    the mean over ALL nodes of :math:`\sum_k Q_k \log (Q_k / P_k)` (``dense-sparse``) or of
    :math:`\sum_k P_k \log (P_k / Q_k)` (``sparse-dense``).

    Example:
        >>> import torch
        >>> z = torch.tensor([[1.0, 2.0]])
        >>> distillation(z, z, TrainConfig())
        tensor(0.)
    """
    sparse = F.log_softmax(logits / config.temperature, dim=-1)
    dense = F.log_softmax(teacher / config.temperature, dim=-1)
    if config.divergence == "sparse-dense":
        sparse, dense = dense, sparse
    return F.kl_div(sparse, dense, reduction="batchmean", log_target=True)


def objective(
    logits: Tensor, y: Tensor, train: Tensor, teacher: Tensor | None, config: TrainConfig
) -> Tensor:
    r"""Cross entropy of the training nodes plus :math:`\lambda_{dt}` times the distillation.

    .. math::
        \mathcal L_{dt} = \mathcal L(\mathcal G, \Theta) +
        \lambda_{dt} \, \mathbb{KL}(\mathcal G, \Theta)

    Args:
        logits: ``[N, C]``.
        y: Labels ``[N]``.
        train: Indices of the training nodes.
        teacher: The dense model's logits ``[N, C]``; None for the dense training itself.
        config: Gives lambda, temperature and the reading of the divergence.

    Example:
        >>> import torch
        >>> z, y = torch.zeros(2, 2), torch.tensor([0, 1])
        >>> objective(z, y, torch.tensor([0]), None, TrainConfig())
        tensor(0.6931)
    """
    loss = F.cross_entropy(logits[train], y[train])
    if teacher is not None and config.distill > 0:
        loss = loss + config.distill * distillation(logits, teacher, config)
    return loss
