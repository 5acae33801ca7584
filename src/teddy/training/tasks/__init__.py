"""What is predicted, of nodes, links or graphs: one file a task."""

from __future__ import annotations

from typing import Any

from teddy.registry import Registry
from teddy.training.tasks.classification import Classification, CrossEntropy, accuracy
from teddy.training.tasks.graph_classification import GraphClassification
from teddy.training.tasks.link_prediction import LinkPrediction, auc, hits_at
from teddy.training.tasks.multilabel import Multilabel, micro_f1
from teddy.training.tasks.regression import Regression, r2
from teddy.training.tasks.task import ClassWeight, Task

TASKS: Registry[type[Task]] = Registry("task")
for _task in (Classification, Multilabel, Regression, LinkPrediction, GraphClassification):
    TASKS.register(_task.name)(_task)


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
    "r2",
    "task_from",
]
