"""Metric of a sweep: its name, and the terms that tables and reports use with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from teddy.errors import InputError
from teddy.tasks import TASKS, parse_task

#: Least change of a metric, where it is not one example.
_UNITS = {"AUC": "pair of test links", "micro-F1": "label of a test node"}


@dataclass(frozen=True)
class Metric:
    """Metric of a task.

    Attributes:
        task: Name of the task.
        name: ``accuracy``, ``micro-F1``, ``R2`` or ``AUC``, in percent.
        hits_at: Rank k of hits@k, the second metric of link prediction; None for other tasks.

    Example:
        >>> Metric(), Metric("link-prediction", "AUC", 50).hits
        (Metric(task='classification', name='accuracy', hits_at=None), 'hits@50')
    """

    task: str = "classification"
    name: str = "accuracy"
    hits_at: int | None = None

    @staticmethod
    def from_task(spec: str) -> Metric:
        """Return the metric of a task, given as for ``--task``.

        Example:
            >>> Metric.from_task("link-prediction:hits_at=20")
            Metric(task='link-prediction', name='AUC', hits_at=20)
        """
        task = parse_task(spec)
        return Metric(task.name, task.metric, task.options().get("hits_at"))

    @staticmethod
    def from_rows(rows: Iterable[Mapping[str, Any]]) -> Metric:
        """Return the common metric of rows; rows of older sweeps without one are accuracies.

        Raises:
            InputError: if rows have different metrics.

        Example:
            >>> Metric.from_rows([{"test": 70.0}]).name
            'accuracy'
            >>> Metric.from_rows([{"task": "regression", "metric": "R2"}, {}])
            Traceback (most recent call last):
            ...
            teddy.errors.InputError: results have several tasks (classification: accuracy,
            regression: R2), expected one; use a folder for each
        """
        metrics = {
            Metric(
                row.get("task") or Metric.task, row.get("metric") or Metric.name, row.get("hits_at")
            )
            for row in rows
        }
        if len(metrics) > 1:
            names = ", ".join(sorted(f"{metric.task}: {metric}" for metric in metrics))
            raise InputError(
                f"results have several tasks ({names}), expected one; use a folder for each"
            )
        return next(iter(metrics), Metric())

    def __str__(self) -> str:
        return self.name if self.hits is None else f"{self.name} and {self.hits}"

    @property
    def title(self) -> str:
        """Name with a capital letter, for titles.

        Example:
            >>> Metric().title, Metric("multilabel", "micro-F1").title
            ('Accuracy', 'Micro-F1')
        """
        return self.name[:1].upper() + self.name[1:]

    @property
    def hits(self) -> str | None:
        """Name of link prediction's second metric, such as ``hits@50``; None otherwise."""
        return None if self.hits_at is None else f"hits@{self.hits_at}"

    @property
    def examples(self) -> str:
        """Examples of the metric: ``nodes``, ``links`` or ``graphs``."""
        # Your own task may not be registered here.
        return f"{TASKS[self.task].kind.name}s" if self.task in TASKS else "rows"

    @property
    def unit(self) -> str:
        """Smallest change of the metric, the lower bound of the standard deviation over seeds.

        Example:
            >>> Metric().unit, Metric("link-prediction", "AUC", 50).unit
            ('test node', 'pair of test links')
        """
        return _UNITS.get(self.name, f"test {self.examples.removesuffix('s')}")
