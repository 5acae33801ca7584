"""Training objectives: Eq. 2 and Eq. 9 of the paper."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.settings import TrainConfig

#: Denominators of the two terms in a step: amount of training targets, number of distilled rows.
Totals = tuple[float, int]


class Objective(ABC):
    r"""Loss of the training nodes plus :math:`\lambda_{dt}` times the distillation.

    .. math::
        \mathcal L_{dt} = \mathcal L(\mathcal G, \Theta) + \lambda_{dt} \, \mathbb D

    The divergence :math:`\mathbb D` from the dense model's outputs is the mean over ALL nodes, or
    the training nodes only. A task defines both terms; see :mod:`teddy.tasks`.

    Args:
        y: Encoded targets, a row for each node.
        train: Indices of the training nodes.
        teacher: Logits of the dense model ``[N, C]``; None: train the dense model itself.
        config: Lambda, temperature, distilled nodes and direction of the divergence.
        totals: Denominators of a whole step, for a part of it: the losses of the parts add up.
        weight: Weight of each class or label; None: all 1.
    """

    def __init__(
        self,
        y: Tensor,
        train: Tensor,
        teacher: Tensor | None,
        config: TrainConfig,
        totals: Totals | None = None,
        weight: Tensor | None = None,
    ) -> None:
        self.totals, self.weight = totals, weight
        self.config, self.y, self.train, self.teacher = config, y, train, teacher
        self.dense: Tensor | None = None
        self.distilled = train if config.distill_nodes == "training" else None
        if teacher is not None and config.strength > 0:
            if self.distilled is not None:
                teacher = teacher.index_select(0, self.distilled)
            self._set_teacher(self._outputs(teacher / config.temperature))

    def __call__(self, logits: Tensor, predict: Tensor | None = None) -> Tensor:
        """Return the loss of logits ``[N, C]``.

        Args:
            logits: Logits of all nodes.
            predict: Training nodes to predict; None: all of them.
        """
        outputs = self._outputs(logits)
        loss = self._loss(outputs, predict)
        if self.dense is None:
            return loss
        assert self.teacher is not None
        if logits.size(1) != self.teacher.size(1):
            raise InputError(
                f"the teacher has {self.teacher.size(1)} outputs and the model {logits.size(1)}, "
                "expected the same number"
            )
        if self.distilled is not None:
            logits = logits.index_select(0, self.distilled)
        if self.distilled is not None or self.config.temperature != 1:
            outputs = self._outputs(logits / self.config.temperature)
        divergence = self._divergence(outputs, self.dense)
        count = logits.size(0) if self.totals is None else self.totals[1]
        return loss + self.config.strength / max(count, 1) * divergence

    @property
    def nodes(self) -> Tensor | None:
        """Nodes whose logits enter the objective; None: all."""
        return None if self.dense is not None and self.distilled is None else self.train

    def for_nodes(self, nodes: Tensor) -> Objective:
        """Return the objective of some nodes only, perhaps without training nodes."""
        trains = torch.zeros(self.y.size(0), dtype=torch.bool, device=self.y.device)
        trains[self.train] = True
        teacher = None if self.teacher is None else self.teacher[nodes]
        train = trains[nodes].nonzero().flatten()
        return type(self)(self.y[nodes], train, teacher, self.config, weight=self.weight)

    @abstractmethod
    def _outputs(self, logits: Tensor) -> Tensor:
        """Return the transformed logits that both terms use."""

    @abstractmethod
    def _loss(self, outputs: Tensor, predict: Tensor | None) -> Tensor:
        """Return the mean loss of the training targets, or their sum by the step's total."""

    def _set_teacher(self, dense: Tensor) -> None:
        """Keep the teacher's outputs, and the constant parts of the divergence from them."""
        self.dense = dense

    @abstractmethod
    def _divergence(self, outputs: Tensor, dense: Tensor) -> Tensor:
        """Return the divergence, summed over the distilled nodes."""
