"""What is predicted, of nodes, links or graphs: one file a task."""

from __future__ import annotations

from typing import Any

from teddy.registry import Registry, read_option
from teddy.training.tasks.classification import Classification, CrossEntropy, accuracy
from teddy.training.tasks.graph_classification import GraphClassification
from teddy.training.tasks.link_prediction import LinkPrediction, auc, hits_at
from teddy.training.tasks.multilabel import Multilabel, micro_f1
from teddy.training.tasks.regression import Regression, r2
from teddy.training.tasks.task import ClassWeight, Task, read_class_weight

TASKS: Registry[type[Task]] = Registry("task")
for _task in (Classification, Multilabel, Regression, LinkPrediction, GraphClassification):
    TASKS.register(_task.name)(_task)


def parse_task(text: str) -> Task:
    """Read a task with its options, ``name:option=value:...``.

    Example:
        >>> parse_task("link-prediction:hits_at=10").hits_at
        10
    """
    name, *parts = text.strip().split(":")
    kind = TASKS[name]
    return kind(**dict(read_option(name, kind.defaults(), part) for part in parts))


def task_from(facts: dict[str, Any]) -> Task:
    """The task that a ticket says it has.

    Args:
        facts: As of :meth:`Task.facts`.

    Example:
        >>> task_from({"name": "classification"})
        Classification(weight=None)
    """
    return TASKS[facts["name"]].from_facts(facts)


__all__ = [
    "TASKS",
    "ClassWeight",
    "Classification",
    "CrossEntropy",
    "GraphClassification",
    "LinkPrediction",
    "Multilabel",
    "Regression",
    "Task",
    "accuracy",
    "auc",
    "hits_at",
    "micro_f1",
    "parse_task",
    "r2",
    "read_class_weight",
    "task_from",
]
