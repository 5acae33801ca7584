"""Capabilities of the parts of a search, whose combination :mod:`teddy.capabilities` checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch.utils.data import Dataset
from torch_geometric.data import Data, HeteroData

from teddy.capabilities import FEATURES, Capabilities
from teddy.models import MODELS, parse_model
from teddy.prune import SCORES
from teddy.prune.choose import needed_signals
from teddy.settings import Settings
from teddy.tasks import TASKS, kind_for, parse_task

_ONE_TYPE = "it takes nodes of one type; use your own module, such as one of to_hetero"


def settings_parts(settings: Settings) -> list[Capabilities]:
    """Capabilities of the task and the features of some settings.

    Example:
        >>> [str(part) for part in settings_parts(Settings.from_dict({"inductive": True}))]
        ['task classification', 'inductive training (inductive)']
    """
    task = settings.task
    enabled = {
        "inductive": task.inductive,
        "mini-batches": settings.train.loader is not None,
        "directed": task.directed,
        "class weights": task.class_weight is not None,
    }
    return [task_part(task.task), *(FEATURES[name] for name, on in enabled.items() if on)]


def problem_parts(data: Any, model: Any, settings: Settings) -> list[Capabilities]:
    """Capabilities of the task, the model and the features of some data.

    Args:
        data: The graph, or a union of graphs.
        model: A name with or without options; or your own module, which adds no part.
        settings: The settings tree.

    Example:
        >>> from torch_geometric.data import Data
        >>> str(problem_parts(Data(), "gcn:hidden_channels=8", Settings())[-1])
        'model gcn'
    """
    parts = settings_parts(settings)
    parts += kind_for(parse_task(settings.task.task), data).parts()[1:]
    several: Any = data if isinstance(data, list | tuple | Dataset) else None
    first = several[0] if several is not None and len(several) else data
    if isinstance(first, Data | HeteroData) and "edge_weight" in first:
        parts.append(FEATURES["edge weights"])
    if isinstance(model, str):
        name, options = parse_model(model)
        if {**settings.model_options, **options}.get("label_rate"):
            parts.append(FEATURES["label inputs"])
        parts.append(model_part(name))
    return parts


def task_part(task: str) -> Capabilities:
    """Capabilities of a task, by its name with or without options."""
    return TASKS[parse_task(task).name].part()


def model_part(name: str) -> Capabilities:
    """Capabilities of a built-in model.

    Example:
        >>> sorted(model_part("gcn").unsupported)
        ['heterogeneous']
    """
    unsupported: Mapping[str, str] = MODELS[name].UNSUPPORTED
    return Capabilities("model", name, {"heterogeneous": _ONE_TYPE, **unsupported})


def score_part(name: str) -> Capabilities:
    """Capabilities of an edge score.

    Example:
        >>> score_part("gain").needs, sorted(score_part("teddy").unsupported)
        (('node classes',), [])
    """
    signals, unsupported = needed_signals(name), {}
    if signals:
        unsupported["heterogeneous"] = "it compares nodes of one type"
    if getattr(SCORES[name], "weighted", None) is None:
        unsupported["weighted degrees"] = "it does not use degrees"
    needs = () if set(signals) <= {"x"} else ("node classes",)
    return Capabilities("score", name, unsupported, needs)
