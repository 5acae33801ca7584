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
        totals: Of a part of a step: how many training nodes, and how many taught ones, the whole
            step has. The terms are divided by these, so that the parts' losses add up to its.

    Example:
        >>> import torch
        >>> z, y = torch.zeros(2, 2), torch.tensor([0, 1])
        >>> Objective(y, torch.tensor([0]), None, TrainConfig())(z)
        tensor(0.6931)
    """

    def __init__(
        self,
        y: Tensor,
        train: Tensor,
        teacher: Tensor | None,
        config: TrainConfig,
        totals: tuple[int, int] | None = None,
    ) -> None:
        self.totals = totals
        self.config, self.y, self.train, self.teacher = config, y, train, teacher
        self.own = self._places(train)
        self.dense: Tensor | None = None
        self.taught = train if config.distill_nodes == "training" else None
        if teacher is not None and config.distill > 0:
            if self.taught is not None:
                teacher = teacher.index_select(0, self.taught)
            self.dense = _log_softmax(teacher / config.temperature)
            self.q = self.dense.exp()
            self.q_log_q = torch.dot(self.q.flatten(), self.dense.flatten())

    def __call__(self, logits: Tensor, predict: Tensor | None = None) -> Tensor:
        """Return the loss of logits ``[N, C]``.

        Args:
            logits: Of all nodes.
            predict: The training nodes to predict; None: all of them.
        """
        log_p = _log_softmax(logits)
        own = self.own if predict is None else self._places(predict)
        likelihood = log_p.flatten().index_select(0, own)
        if self.totals is not None:
            loss = -likelihood.sum() / max(self.totals[0], 1)
        else:
            loss = -likelihood.mean() if own.numel() else likelihood.sum()
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
        taught = logits.size(0) if self.totals is None else self.totals[1]
        return loss + self.config.distill / max(taught, 1) * divergence

    @property
    def nodes(self) -> Tensor | None:
        """The nodes whose logits matter; None: all.

        Example:
            >>> Objective(torch.tensor([0, 1]), torch.tensor([0]), None, TrainConfig()).nodes
            tensor([0])
        """
        return None if self.dense is not None and self.taught is None else self.train

    def of(self, nodes: Tensor) -> Objective:
        """The same for the logits of some nodes only; there may be no training node among them.

        Example:
            >>> whole = Objective(torch.tensor([0, 1]), torch.tensor([0]), None, TrainConfig())
            >>> whole.of(torch.tensor([1]))(torch.zeros(1, 2))
            tensor(0.)
        """
        trains = torch.zeros_like(self.y, dtype=torch.bool)
        trains[self.train] = True
        teacher = None if self.teacher is None else self.teacher[nodes]
        return Objective(self.y[nodes], trains[nodes].nonzero().flatten(), teacher, self.config)

    def _places(self, nodes: Tensor) -> Tensor:
        """Where ``[C, N]`` holds the classes of nodes."""
        return self.y[nodes] * self.y.numel() + nodes


def _log_softmax(logits: Tensor) -> Tensor:
    """Over the classes, as ``[C, N]``: with few classes five times as fast as along rows."""
    return F.log_softmax(logits.t().contiguous(), dim=0)
