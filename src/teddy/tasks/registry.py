"""Registry of tasks, and the kind of problem of a task on data or in a ticket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch.utils.data import Dataset
from torch_geometric.data import HeteroData

from teddy.capabilities import FEATURES, check_combination
from teddy.errors import InputError
from teddy.registry import Registry, read_option
from teddy.settings import TaskConfig
from teddy.tasks.classification import Classification
from teddy.tasks.graph_classification import GraphClassification
from teddy.tasks.graphs import GraphKind
from teddy.tasks.hetero import HeteroKind
from teddy.tasks.kind import Kind
from teddy.tasks.link_prediction import LinkPrediction
from teddy.tasks.links import LinkKind
from teddy.tasks.multilabel import Multilabel
from teddy.tasks.regression import Regression
from teddy.tasks.task import Task
from teddy.tasks.ticket_kind import TicketHeader

TASKS: Registry[type[Task]] = Registry("task")
for _task in (Classification, Multilabel, Regression, LinkPrediction, GraphClassification):
    TASKS.register(_task.name)(_task)


def parse_task(text: str | Task) -> Task:
    """Read a task with its options, ``name:option=value:...``.

    Example:
        >>> parse_task("link-prediction:hits_at=10").hits_at
        10
    """
    if isinstance(text, Task):
        return text
    name, *parts = text.strip().split(":")
    kind = TASKS[name]
    return kind(**dict(read_option(name, kind.defaults(), part) for part in parts))


def task_from(metadata: Mapping[str, Any]) -> Task:
    """Return the task of a ticket.

    Args:
        metadata: Result of :meth:`Task.to_dict`.

    Example:
        >>> task_from({"name": "classification"})
        Classification(weight=None)
    """
    task: Any = TASKS[metadata["name"]].from_dict(metadata)
    known = task.options()
    changed: Task = replace(
        task, **{k: v for k, v in metadata.get("options", {}).items() if k in known}
    )
    return changed


def kind_for(task: Task, data: Any, config: TaskConfig | None = None) -> Kind:
    """Return the kind of problem of a task on data, or raise if they do not fit.

    Args:
        task: The task.
        data: The data.
        config: Settings of the task; ``target`` is the node type of a ``HeteroData``.

    Example:
        >>> kind_for(Classification(), HeteroData()).key
        'hetero'
    """
    config = config or TaskConfig()
    chosen = config.target is not None
    several = isinstance(data, list | tuple | Dataset)
    if several and not issubclass(task.kind, GraphKind):
        links = issubclass(task.kind, LinkKind)
        other = "or teddy.links_of(*data) for a link split" if links else (
            "or the task graph-classification for a set of graphs"
        )  # fmt: skip
        raise InputError(f"data is a {type(data).__name__}, expected a Data, {other}")
    if isinstance(data, HeteroData) or chosen:
        check_combination([task.part(), FEATURES["heterogeneous"]])
        if task.kind is not Kind:
            raise InputError(f"the task {task.name} does not support a HeteroData, expected a Data")
        return HeteroKind(task)
    if config.budget != "each" and not task.kind.has_groups:
        raise InputError(
            f"budget='{config.budget}' has no effect on a single graph, expected a HeteroData or a "
            "set of graphs"
        )
    return task.kind(task)


def kind_from(task: Task, info: TicketHeader) -> Kind:
    """Return the kind of problem of a ticket.

    Args:
        task: Task of the ticket.
        info: Header of the ticket.
    """
    hetero = getattr(info, HeteroKind.key) is not None
    return (HeteroKind if hetero else task.kind)(task, info)
