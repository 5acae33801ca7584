"""Regression of numbers of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from teddy.capabilities import FEATURES, check_combination
from teddy.data.targets import Numbers, Targets
from teddy.errors import InputError
from teddy.tasks.objective import Objective
from teddy.tasks.task import ClassWeight, Task


class SquaredError(Objective):
    r"""Squared error of the known training targets, and squared difference to the dense model.

    The first is the mean over the known (node, number) of :math:`(z - y)^2`, the divergence the
    mean over nodes and numbers of :math:`(z - z_{dense})^2 / \tau^2` in either direction.

    Example:
        >>> from teddy.settings import TrainConfig
        >>> y = torch.tensor([[2.0], [torch.nan]])
        >>> SquaredError(y, torch.tensor([0, 1]), None, TrainConfig())(torch.zeros(2, 1))
        tensor(4.)
    """

    def _outputs(self, logits: Tensor) -> Tensor:
        return logits

    def _loss(self, outputs: Tensor, predict: Tensor | None) -> Tensor:
        nodes = self.train if predict is None else predict
        z, y = outputs.index_select(0, nodes), self.y.index_select(0, nodes).to(outputs.dtype)
        known = ~y.isnan()
        errors = torch.where(known, z - y.nan_to_num(), 0.0)
        total = float(known.sum()) if self.totals is None else self.totals[0]
        return errors.square().sum() / max(total, 1.0)

    def _divergence(self, outputs: Tensor, dense: Tensor) -> Tensor:
        return (outputs - dense).square().sum() / outputs.size(1)


@dataclass(frozen=True)
class Regression(Task):
    r"""Regression: squared error, :math:`R^2`, predictions in the scale of the targets.

    A model learns standardised targets, :math:`(y - \mu) / s`, with mean and standard deviation
    of each target over the training nodes: built-in models have no bias, and a learning rate
    suits one scale. Logits are in that scale, predictions in the original one.

    Args:
        mean: :math:`\mu` of each target; empty before :meth:`fit`.
        scale: :math:`s` of each target.
        flat: Whether ``y`` and predictions have shape ``[N]``.

    Example:
        >>> y = torch.tensor([10.0, 30.0, 500.0])
        >>> task = Regression.fit(y, torch.tensor([True, True, False]))
        >>> task.encode(y)[:2].tolist(), task.predict(torch.tensor([[0.5]])).tolist()
        ([[-1.0], [1.0]], [25.0])
    """

    name: ClassVar[str] = "regression"
    metric: ClassVar[str] = "R2"
    outputs: ClassVar[str] = "outputs"
    exported: ClassVar[str] = "predictions"
    loss: ClassVar[type[Objective]] = SquaredError
    targets: ClassVar[Targets] = Numbers()
    unsupported: ClassVar[Mapping[str, str]] = {"class weights": "its targets are numbers"}

    mean: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    flat: bool = False

    @classmethod
    def fit(cls, y: Tensor, train: Tensor, class_weight: ClassWeight | None = None) -> Regression:
        """Return the task with mean and standard deviation of the training nodes."""
        if class_weight is not None:
            check_combination([cls.part(), FEATURES["class weights"]])
        rows = y.view(y.size(0), -1)[train].double()
        mean = rows.nanmean(dim=0)
        scale = (rows - mean).square().nanmean(dim=0).sqrt()
        if not (scale.isfinite() & (scale > 0)).all():
            raise InputError("y is constant or too large, expected numbers of one scale")
        return cls(tuple(mean.tolist()), tuple(scale.tolist()), y.dim() == 1)

    @classmethod
    def from_dict(cls, metadata: Mapping[str, Any]) -> Regression:
        """Rebuild from :meth:`to_dict`."""
        return cls(tuple(metadata["mean"]), tuple(metadata["scale"]), bool(metadata["flat"]))

    def to_dict(self) -> dict[str, Any]:
        """Return name, metric, mean and scale, as a ticket stores them."""
        scaling = {"mean": list(self.mean), "scale": list(self.scale), "flat": self.flat}
        return {**super().to_dict(), **scaling}

    def encode(self, y: Tensor) -> Tensor:
        """Return standardised targets, float32 ``[N, D]``."""
        rows = y.view(y.size(0), -1).double()
        return ((rows - rows.new_tensor(self.mean)) / rows.new_tensor(self.scale)).float()

    def teacher_logits(self, outputs: Tensor) -> Tensor:
        """Standardise outputs in the scale of the targets."""
        return self.encode(outputs)

    def user_outputs(self, logits: Tensor) -> Tensor:
        """Return outputs in the scale of the targets, ``[N, D]``."""
        return self.predict(logits).view(logits.size(0), -1)

    def score(self, logits: Tensor, y: Tensor) -> float:
        """Return :math:`R^2` in percent, which is the same in either scale."""
        return r2(logits, y)

    def predict(self, logits: Tensor) -> Tensor:
        """Return numbers in the scale of the targets, float32 ``[N, D]``, or ``[N]`` as ``y``."""
        rows = logits.double()
        numbers = (rows * rows.new_tensor(self.scale) + rows.new_tensor(self.mean)).float()
        return numbers.squeeze(1) if self.flat else numbers


def r2(predicted: Tensor, y: Tensor) -> float:
    r"""Return the explained share of the variance in percent, averaged over targets.

    .. math::
        R^2 = 1 - \frac{\sum_i (y_i - z_i)^2}{\sum_i (y_i - \bar y)^2}

    over the known values. It is negative for predictions that are worse than the mean
    :math:`\bar y`. For constant :math:`y` it is 100 if all predictions are correct, else 0.

    Args:
        predicted: ``[N, D]``.
        y: ``[N, D]``, nan where unknown.

    Example:
        >>> r2(torch.tensor([[1.0], [2.0], [9.0]]), torch.tensor([[1.0], [3.0], [torch.nan]]))
        50.0
    """
    y = y.double()
    left = (y - predicted.double()).square().nansum(dim=0)
    spread = (y - y.nanmean(dim=0)).square().nansum(dim=0)
    shares = torch.where(spread > 0, 1 - left / spread, (left == 0).double())
    return 100.0 * float(shares.mean())
