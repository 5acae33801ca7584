"""What a training minimises: Eq. 2 and Eq. 9 of the paper."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.settings import TrainConfig

#: How much a step has of what its two terms are divided by: training targets, and taught nodes.
Totals = tuple[float, int]


class Objective(ABC):
    r"""The loss of the training nodes plus :math:`\lambda_{dt}` times the distillation.

    .. math::
        \mathcal L_{dt} = \mathcal L(\mathcal G, \Theta) + \lambda_{dt} \, \mathbb D

    The divergence :math:`\mathbb D` from the dense model's outputs is the mean over ALL nodes, or
    the training nodes only. Both terms are the task's; see :mod:`teddy.tasks`.

    Args:
        y: Targets, a row for each node, as the task encodes them.
        train: Indices of the training nodes.
        teacher: The dense model's logits ``[N, C]``; None for the dense training itself.
        config: Gives lambda, temperature, the nodes and the reading of the divergence.
        totals: Of a part of a step: what the whole step has. The terms are divided by these, so
            that the parts' losses add up to its.
        weight: Of each class or label; None: all 1.
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
        self.taught = train if config.distill_nodes == "training" else None
        if teacher is not None and config.strength > 0:
            if self.taught is not None:
                teacher = teacher.index_select(0, self.taught)
            self._learn_from(self._outputs(teacher / config.temperature))

    def __call__(self, logits: Tensor, predict: Tensor | None = None) -> Tensor:
        """Return the loss of logits ``[N, C]``.

        Args:
            logits: Of all nodes.
            predict: The training nodes to predict; None: all of them.
        """
        outputs = self._outputs(logits)
        loss = self._loss(outputs, predict)
        if self.dense is None:
            return loss
        assert self.teacher is not None
        if logits.size(1) != self.teacher.size(1):
            raise InputError(
                f"the teacher has {self.teacher.size(1)} logits of a node and the model "
                f"{logits.size(1)}, expected as many"
            )
        if self.taught is not None:
            logits = logits.index_select(0, self.taught)
        if self.taught is not None or self.config.temperature != 1:
            outputs = self._outputs(logits / self.config.temperature)
        divergence = self._divergence(outputs, self.dense)
        taught = logits.size(0) if self.totals is None else self.totals[1]
        return loss + self.config.strength / max(taught, 1) * divergence

    @property
    def nodes(self) -> Tensor | None:
        """The nodes whose logits matter; None: all."""
        return None if self.dense is not None and self.taught is None else self.train

    def for_nodes(self, nodes: Tensor) -> Objective:
        """The same for the logits of some nodes only; there may be no training node among them."""
        trains = torch.zeros(self.y.size(0), dtype=torch.bool, device=self.y.device)
        trains[self.train] = True
        teacher = None if self.teacher is None else self.teacher[nodes]
        own = trains[nodes].nonzero().flatten()
        return type(self)(self.y[nodes], own, teacher, self.config, weight=self.weight)

    @abstractmethod
    def _outputs(self, logits: Tensor) -> Tensor:
        """What both terms are computed from."""

    @abstractmethod
    def _loss(self, outputs: Tensor, predict: Tensor | None) -> Tensor:
        """The mean over the training targets; or their sum by the total of the step."""

    def _learn_from(self, dense: Tensor) -> None:
        """Keep the dense model's outputs, and what of a divergence from them never changes."""
        self.dense = dense

    @abstractmethod
    def _divergence(self, outputs: Tensor, dense: Tensor) -> Tensor:
        """The sum over the taught nodes."""
