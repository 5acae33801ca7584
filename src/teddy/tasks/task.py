"""Base class of tasks: targets, loss, metric and predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from teddy.capabilities import Capabilities
from teddy.data.targets import CLASSES, Targets
from teddy.errors import InputError
from teddy.registry import spec_text
from teddy.settings import Config, TrainConfig, declared_settings
from teddy.tasks.kind import Kind
from teddy.tasks.objective import Objective, Totals

#: Weights of classes: one for each, or ``"balanced"``.
ClassWeight = str | Sequence[float] | Tensor


class Task(Config, ABC):
    """Task: targets ``y`` to learn from a model's logits, with a loss and a metric.

    Options of a task are declared settings of its dataclass.
    """

    #: Name of the task.
    name: ClassVar[str]
    #: Metric of :meth:`score`, in percent, the higher the better.
    metric: ClassVar[str]
    #: Kind of problem: nodes, links or graphs; see :class:`~teddy.tasks.kind.Kind`.
    kind: ClassVar[type[Kind]] = Kind
    #: Checks of ``y``.
    targets: ClassVar[Targets] = CLASSES
    #: Word for the logits of a row in a ticket's header: ``classes`` or ``outputs``.
    outputs: ClassVar[str] = "classes"
    #: Outputs of an exported program: ``logits`` or ``predictions``.
    exported: ClassVar[str] = "logits"
    #: Word for a predicted value.
    value_name: ClassVar[str] = "value"
    #: Whether ``y`` is one class of each row.
    classes: ClassVar[bool] = False
    #: Objective of a training.
    loss: ClassVar[type[Objective]]
    #: Unsupported parts of a search, with the reason; see :mod:`teddy.capabilities`.
    unsupported: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def has_node_classes(cls) -> bool:
        """Return whether ``y`` is one class of each node, as some scores and inputs need."""
        return cls.classes and cls.kind.classes_of_nodes

    @property
    def title(self) -> str:
        """Name of the task in sentences.

        Example:
            >>> from teddy.tasks import parse_task
            >>> parse_task("regression").title, parse_task("link-prediction").title
            ('node regression', 'link prediction')
        """
        words = self.name.replace("-", " ")
        return words if self.kind.name in words else f"{self.kind.name} {words}"

    @classmethod
    def part(cls) -> Capabilities:
        """Return the task as a part of a search.

        Example:
            >>> from teddy.tasks import Regression
            >>> str(Regression.part())
            'task regression'
        """
        unsupported = {**cls.kind.unsupported, **cls.unsupported}
        if not cls.has_node_classes():
            unsupported["node classes"] = "it does not predict one class per node"
        if not cls.classes:
            unsupported["classes"] = "it does not predict one class per row"
        return Capabilities("task", cls.name, unsupported)

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the options of the task with their defaults."""
        return {entry.name: entry.default for entry in declared_settings(cls)}

    def options(self) -> dict[str, Any]:
        """Return the options of the task with their values."""
        return {name: getattr(self, name) for name in self.defaults()}

    def __str__(self) -> str:
        known = self.defaults()
        return spec_text(self.name, {k: v for k, v in self.options().items() if v != known[k]})

    @classmethod
    @abstractmethod
    def fit(cls, y: Tensor, train: Tensor, class_weight: ClassWeight | None = None) -> Task:
        """Return the task with statistics of the training targets, such as class weights.

        Args:
            y: Checked targets.
            train: Training mask, bool ``[N]``.
            class_weight: Weights of classes or labels in the loss, if the task supports them.
        """

    @classmethod
    def from_dict(cls, metadata: Mapping[str, Any]) -> Task:
        """Rebuild from :meth:`to_dict`."""
        return cls()

    def to_dict(self) -> dict[str, Any]:
        """Return name, metric and changed options, as a ticket stores them."""
        known = self.defaults()
        options = {name: value for name, value in self.options().items() if value != known[name]}
        plain = {"name": self.name, "metric": self.metric}
        return {**plain, "options": options} if options else plain

    def encode(self, y: Tensor) -> Tensor:
        """Return targets as the loss and the metric take them."""
        return y

    def teacher_logits(self, outputs: Tensor) -> Tensor:
        """Return the outputs of your own trained model as logits of this task."""
        return outputs

    def user_outputs(self, logits: Tensor) -> Tensor:
        """Return logits of this task as outputs of your own model."""
        return logits

    def num_outputs(self, y: Tensor) -> int:
        """Return the number of logits for encoded targets: one for each column."""
        return y.size(1)

    def check_width(self, logits: Tensor, num_outputs: int) -> None:
        """Raise unless a model returned this number of logits."""
        if logits.size(1) != num_outputs:
            raise InputError(f"the model returned {logits.size(1)} outputs, expected {num_outputs}")

    def amount(self, y: Tensor) -> float:
        """Return the denominator of the loss of encoded targets: the number of known ones."""
        return float((~y.isnan()).sum())

    def objective(
        self,
        y: Tensor,
        train: Tensor,
        teacher: Tensor | None,
        config: TrainConfig,
        totals: Totals | None = None,
    ) -> Objective:
        """Return the training objective; see :class:`~teddy.tasks.objective.Objective`."""
        weight: Tensor | None = getattr(self, "weight", None)
        weight = None if weight is None else weight.to(y.device)
        return self.loss(y, train, teacher, config, totals, weight)

    @abstractmethod
    def score(self, logits: Tensor, y: Tensor) -> float:
        """Return the metric of logits and encoded targets in percent."""

    def resolution(self, y: Tensor) -> float:
        """Return the points of the metric of one example: 100 / n for n rows.

        That is exact for accuracy. In R2 it is the effect of a row whose squared error changes by
        the variance of the targets.

        Args:
            y: Targets of the evaluated rows.

        Example:
            >>> from teddy.tasks import parse_task
            >>> parse_task("classification").resolution(torch.zeros(1000))
            0.1
        """
        return 100.0 / max(1, y.size(0))

    @abstractmethod
    def predict(self, logits: Tensor) -> Tensor:
        """Return the prediction of each row, in the scale of the original targets."""

    def prediction_columns(
        self, logits: Tensor, classes: Sequence[str] | None
    ) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return predictions as a table: column names, and the values of each row.

        Args:
            logits: Logits of the rows.
            classes: Names of the classes, if any.
        """
        predicted = self.predict(logits).tolist()
        if predicted and isinstance(predicted[0], list):
            names = tuple(f"{self.value_name} {place}" for place in range(len(predicted[0])))
            return names, [tuple(row) for row in predicted]
        return (self.value_name,), [(value,) for value in predicted]

    def predict_proba(self, logits: Tensor) -> Tensor:
        """Return probabilities of classes or labels, or raise if the task has none."""
        raise InputError(
            f"the task {self.name} has no probabilities, expected predict() in place of "
            "predict_proba()"
        )


def check_class_weights(class_weight: ClassWeight, expected: int) -> Tensor:
    """Return class weights as float32 ``[expected]``, or raise.

    Example:
        >>> check_class_weights([1, 2.5], 2)
        tensor([1.0000, 2.5000])
        >>> check_class_weights("balance", 2)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: class_weight is 'balance', expected 'balanced' or 2 numbers from 0
    """
    wanted = f"expected 'balanced' or {expected} numbers from 0"
    if isinstance(class_weight, str):
        raise InputError(f"class_weight is '{class_weight}', {wanted}")
    try:
        weight = torch.as_tensor(class_weight, dtype=torch.float32).detach().cpu()
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"class_weight is {class_weight}, {wanted}") from None
    if weight.shape != (expected,) or not ((weight >= 0) & weight.isfinite()).all():
        raise InputError(f"class_weight is {weight.tolist()}, {wanted}")
    return weight


def read_class_weight(class_weight: ClassWeight | None) -> ClassWeight | None:
    """Read class weights from the command line, such as ``1,2.5``; return others unchanged.

    Example:
        >>> read_class_weight("1,2.5"), read_class_weight("balanced")
        ([1.0, 2.5], 'balanced')
    """
    if not isinstance(class_weight, str):
        return class_weight
    try:
        return [float(part) for part in class_weight.split(",")]
    except ValueError:
        return class_weight
