"""Training loss of Eq. 9 as a function, for your own training loop."""

from __future__ import annotations

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.settings import TrainConfig
from teddy.sparsity import check_number
from teddy.tasks.classification import CrossEntropy


def distillation_loss(
    logits: Tensor,
    teacher_logits: Tensor,
    y: Tensor,
    mask: Tensor,
    strength: float = 10.0,
    temperature: float = 1.0,
    divergence: str = "dense-sparse",
) -> Tensor:
    r"""Return the cross entropy of training nodes plus the distillation of all nodes (Eq. 9).

    .. math::
        \mathcal L_{dt} = \frac{1}{|V_{train}|} \sum_{i \in V_{train}} \mathrm{CE}(z_i, y_i)
        + \lambda_{dt} \, \frac{1}{N} \sum_{i=1}^{N} \mathrm{KL}(Q_i \,\|\, P_i)

    with :math:`P = \mathrm{softmax}(Z / \tau)` and
    :math:`Q = \mathrm{softmax}(Z_{teacher} / \tau)`. It is the loss that
    :func:`teddy.find_ticket` trains a ticket with.

    Args:
        logits: Logits :math:`Z` of all nodes, ``[N, C]``.
        teacher_logits: Logits of the dense model, ``[N, C]``, without gradient.
        y: Classes, int64 ``[N]``; only those in ``mask`` are read.
        mask: Training mask, bool ``[N]``.
        strength: Weight of the distillation, :math:`\lambda_{dt}`.
        temperature: Temperature :math:`\tau`.
        divergence: ``dense-sparse`` is :math:`\mathrm{KL}(Q \| P)`, what the published results
            use; ``sparse-dense`` is :math:`\mathrm{KL}(P \| Q)`, as Eq. 9 is written.

    Raises:
        InputError: if shapes do not fit, a class of a training node has no logit, or ``mask`` is
            empty.

    Example:
        >>> logits, y = torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 1])
        >>> train = torch.tensor([True, False])
        >>> distillation_loss(logits, logits, y, train)  # a teacher that agrees: cross entropy
        tensor(0.1269)
        >>> distillation_loss(logits, logits.flip(1), y, train, strength=1.0)
        tensor(1.1196)
    """
    strength = check_number(strength, "strength")
    config = TrainConfig(distill=strength, temperature=temperature, divergence=divergence)
    if logits.dim() != 2 or teacher_logits.shape != logits.shape:
        raise InputError(
            f"logits are {list(logits.shape)} and teacher_logits {list(teacher_logits.shape)}, "
            "expected both of shape [N, C]"
        )
    nodes = [logits.size(0)]
    if list(y.shape) != nodes or list(mask.shape) != nodes or mask.dtype != torch.bool:
        raise InputError(
            f"y is {list(y.shape)} and mask {list(mask.shape)} of {mask.dtype}, expected classes "
            f"and a bool mask of shape {nodes}"
        )
    train = mask.nonzero().flatten()
    classes = y[train]
    if not train.numel():
        raise InputError("mask has no training node, expected at least one")
    if classes.is_floating_point() or classes.min() < 0 or classes.max() >= logits.size(1):
        raise InputError(
            f"y of the training nodes is {classes.dtype} from {classes.min()} to {classes.max()}, "
            f"expected whole numbers from 0 to {logits.size(1) - 1}"
        )
    teacher = teacher_logits.detach().to(logits)
    return CrossEntropy(y.long(), train, teacher, config)(logits)
