"""Base of all tasks: targets, a loss, a metric and predictions of rows at a level."""

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
    """A way to learn the targets ``y`` of nodes from the logits ``[N, C]`` of a model.

    Options of a task are declared settings of its dataclass.
    """

    #: Name of the task.
    name: ClassVar[str]
    #: What :meth:`score` measures, in percent, the higher the better.
    metric: ClassVar[str]
    #: Rows that are predicted: nodes, links or graphs; see :class:`~teddy.tasks.kind.Kind`.
    kind: ClassVar[type[Kind]] = Kind
    #: What ``y`` has to be like.
    targets: ClassVar[Targets] = CLASSES
    #: Word for the logits of a row in a ticket's header: ``classes`` or ``outputs``.
    outputs: ClassVar[str] = "classes"
    #: Outputs of an exported program: ``logits`` or ``predictions``.
    exported: ClassVar[str] = "logits"
    #: Word for a predicted value.
    value_name: ClassVar[str] = "value"
    #: Whether ``y`` is one class of each row.
    classes: ClassVar[bool] = False
    #: Other parts that it does not support, with the reason; see :mod:`teddy.capabilities`.
    unsupported: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def has_node_classes(cls) -> bool:
        """Whether ``y`` is one class of each node, which some scores and inputs look at."""
        return cls.classes and cls.kind.classes_of_nodes

    @property
    def title(self) -> str:
        """Name of the task in a sentence.

        Example:
            >>> from teddy.tasks import parse_task
            >>> parse_task("regression").title, parse_task("link-prediction").title
            ('node regression', 'link prediction')
        """
        words = self.name.replace("-", " ")
        return words if self.kind.name in words else f"{self.kind.name} {words}"

    @classmethod
    def part(cls) -> Capabilities:
        """The task as a part of a search.

        Example:
            >>> from teddy.tasks import Regression
            >>> str(Regression.part())
            'task regression'
        """
        own = {**cls.kind.unsupported, **cls.unsupported}
        if not cls.has_node_classes():
            own["node classes"] = "it does not predict one class per node"
        if not cls.classes:
            own["classes"] = "it does not predict one class per row"
        return Capabilities("task", cls.name, own)

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Options of the task with their defaults."""
        return {entry.name: entry.default for entry in declared_settings(cls)}

    def options(self) -> dict[str, Any]:
        """Options of the task with their values."""
        return {name: getattr(self, name) for name in self.defaults()}

    def __str__(self) -> str:
        known = self.defaults()
        return spec_text(self.name, {k: v for k, v in self.options().items() if v != known[k]})

    @classmethod
    @abstractmethod
    def fit(cls, y: Tensor, train: Tensor, class_weight: ClassWeight | None = None) -> Task:
        """The task on a graph, with what it learns from the training targets alone.

        Args:
            y: Checked targets.
            train: bool ``[N]``.
            class_weight: Weights of classes or labels in the loss, where the task has any.
        """

    @classmethod
    def from_dict(cls, metadata: Mapping[str, Any]) -> Task:
        """What is needed to predict and to measure, from :meth:`to_dict`."""
        return cls()

    def to_dict(self) -> dict[str, Any]:
        """What a ticket says of its task, as plain data."""
        known = self.defaults()
        options = {name: value for name, value in self.options().items() if value != known[name]}
        plain = {"name": self.name, "metric": self.metric}
        return {**plain, "options": options} if options else plain

    def encode(self, y: Tensor) -> Tensor:
        """Targets as the loss and the metric take them."""
        return y

    def teacher_logits(self, outputs: Tensor) -> Tensor:
        """Outputs of a trained model of the user's, as logits of this task."""
        return outputs

    def user_outputs(self, logits: Tensor) -> Tensor:
        """Logits of this task, as outputs of a model of the user's."""
        return logits

    def num_outputs(self, y: Tensor) -> int:
        """Logits of a node that encoded targets ask for: one for each column."""
        return y.size(1)

    def check_width(self, logits: Tensor, num_outputs: int) -> None:
        """Raise unless a model has given as many logits."""
        if logits.size(1) != num_outputs:
            raise InputError(f"the model returned {logits.size(1)} outputs, expected {num_outputs}")

    def amount(self, y: Tensor) -> float:
        """What the loss of nodes with these encoded targets is divided by: how many are known."""
        return float((~y.isnan()).sum())

    @abstractmethod
    def objective(
        self,
        y: Tensor,
        train: Tensor,
        teacher: Tensor | None,
        config: TrainConfig,
        totals: Totals | None = None,
    ) -> Objective:
        """What a training minimises; see :class:`Objective`."""

    @abstractmethod
    def score(self, logits: Tensor, y: Tensor) -> float:
        """The metric of nodes with these logits and encoded targets, in percent."""

    def resolution(self, y: Tensor) -> float:
        """Points of the metric that one example is worth.

        One of n rows is worth 100 / n. In accuracy that is exact. In R2, which is not a count, it
        is a row whose squared error changes by the variance of the targets.

        Args:
            y: Targets of the examples that the metric is measured on.

        Example:
            >>> from teddy.tasks import parse_task
            >>> parse_task("classification").resolution(torch.zeros(1000))
            0.1
        """
        return 100.0 / max(1, y.size(0))

    @abstractmethod
    def predict(self, logits: Tensor) -> Tensor:
        """What is predicted for each node, in the user's terms."""

    def prediction_columns(
        self, logits: Tensor, classes: Sequence[str] | None
    ) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Predictions as columns of a table: their names, and the values of each row.

        Args:
            logits: Logits of the rows.
            classes: Names of the classes, where they have any.
        """
        predicted = self.predict(logits).tolist()
        if predicted and isinstance(predicted[0], list):
            names = tuple(f"{self.value_name} {place}" for place in range(len(predicted[0])))
            return names, [tuple(row) for row in predicted]
        return (self.value_name,), [(value,) for value in predicted]

    def predict_proba(self, logits: Tensor) -> Tensor:
        """Probabilities of classes or labels, or raise where the task has none."""
        raise InputError(
            f"the task {self.name} has no probabilities, expected predict() instead of "
            "predict_proba()"
        )


def check_class_weights(class_weight: ClassWeight, expected: int) -> Tensor:
    """Weights as the user gave them, float32 ``[expected]``, or raise.

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


def read_class_weight(given: ClassWeight | None) -> ClassWeight | None:
    """Weights of classes as the command line writes them, ``1,2.5``; others as they are.

    Example:
        >>> read_class_weight("1,2.5"), read_class_weight("balanced")
        ([1.0, 2.5], 'balanced')
    """
    if not isinstance(given, str):
        return given
    try:
        return [float(part) for part in given.split(",")]
    except ValueError:
        return given
