"""Metric of a sweep: its name, and the words that tables and reports use with it."""

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
        """The metric of a task, given as ``--task`` takes it.

        Example:
            >>> Metric.from_task("link-prediction:hits_at=20")
            Metric(task='link-prediction', name='AUC', hits_at=20)
        """
        task = parse_task(spec)
        return Metric(task.name, task.metric, task.options().get("hits_at"))

    @staticmethod
    def from_rows(rows: Iterable[Mapping[str, Any]]) -> Metric:
        """The metric of all rows; rows of older sweeps, which do not name it, are accuracy.

        Raises:
            InputError: if rows have different metrics.

        Example:
            >>> Metric.from_rows([{"test": 70.0}]).name
            'accuracy'
            >>> Metric.from_rows([{"task": "regression", "metric": "R2"}, {}])
            Traceback (most recent call last):
            ...
            teddy.errors.InputError: results of different tasks (classification: accuracy,
            regression: R2), expected one task: a folder for each
        """
        found = {
            Metric(
                row.get("task") or Metric.task, row.get("metric") or Metric.name, row.get("hits_at")
            )
            for row in rows
        }
        if len(found) > 1:
            names = ", ".join(sorted(f"{metric.task}: {metric}" for metric in found))
            raise InputError(f"results of different tasks ({names}), expected one task: a folder "
                             "for each")  # fmt: skip
        return next(iter(found), Metric())

    def __str__(self) -> str:
        return self.name if self.hits is None else f"{self.name} and {self.hits}"

    @property
    def title(self) -> str:
        """Its name at the beginning of a title.

        Example:
            >>> Metric().title, Metric("multilabel", "micro-F1").title
            ('Accuracy', 'Micro-F1')
        """
        return self.name[:1].upper() + self.name[1:]

    @property
    def hits(self) -> str | None:
        """Name of the second metric of link prediction, such as ``hits@50``; None otherwise."""
        return None if self.hits_at is None else f"hits@{self.hits_at}"

    @property
    def examples(self) -> str:
        """Examples that it is measured on: ``nodes``, ``links`` or ``graphs``."""
        # The file of your own task may not be loaded.
        return f"{TASKS[self.task].kind.name}s" if self.task in TASKS else "rows"

    @property
    def unit(self) -> str:
        """Least change that the standard deviation over seeds is taken to have.

        Example:
            >>> Metric().unit, Metric("link-prediction", "AUC", 50).unit
            ('test node', 'pair of test links')
        """
        return _UNITS.get(self.name, f"test {self.examples.removesuffix('s')}")
