"""The one place that builds a problem: find, sweep, search, tune and reproduce go through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_geometric.data import Data, HeteroData

from teddy.capabilities import check_combination
from teddy.methods.parts import problem_parts
from teddy.methods.phases import Progress
from teddy.methods.problem import Problem
from teddy.methods.spec import MethodSpec
from teddy.methods.store import Store
from teddy.methods.teacher import TeacherLike
from teddy.methods.tuned import tuned_settings
from teddy.models.source import ModelLike
from teddy.settings import Settings
from teddy.tasks import kind_for, parse_task
from teddy.training import Checkpoint


def make_problem(
    data: Data | HeteroData | Sequence[Data],
    model: ModelLike = "gin",
    settings: Settings | None = None,
    seed: int = 0,
    method: str | MethodSpec = "teddy",
    *,
    teacher: TeacherLike | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
    checkpoints: Callable[[str], Checkpoint] | None = None,
) -> Problem:
    """Build the problem that a method finds tickets for.

    Args:
        data: The graph, or graphs.
        model: A name, a module, or a function that makes one.
        settings: The settings tree.
        seed: Seed of everything random.
        method: The method, whose own values of settings and lambda hold.
        teacher: A trained model to distil from; None: the dense model is trained.
        progress: Called after each epoch.
        store: Store to resume from.
        checkpoints: From the name of a training to its checkpoint.

    Example:
        >>> import teddy
        >>> problem = make_problem(teddy.load_dataset("citeseer"), "gcn", method="ugs")
        >>> problem.config.distill, problem.graph.num_edges
        (0.0, 4552)
    """
    spec = MethodSpec.parse(method)
    settings = settings_of(spec, settings or Settings(), str(_name(data)), model)
    kind_for(parse_task(settings.task.task), data, settings.task)  # is there one?
    parts = problem_parts(data, model, settings)
    check_combination(parts)
    return Problem(
        data, model, settings, seed, parts=parts,
        teacher=teacher, progress=progress, store=store, checkpoints=checkpoints,
    )  # fmt: skip


def settings_of(spec: MethodSpec, settings: Settings, dataset: str, model: Any) -> Settings:
    """Settings of a search: the method's own values, and lambda, given, tuned or the method's.

    Example:
        >>> settings_of(MethodSpec.parse("teddy"), Settings(), "citeseer", "gin").train.distill
        10.0
    """
    train = settings.train
    distils = spec.method.distill > 0 and "distill" not in dict(spec.settings)
    # It was tuned for node classification on the whole graph.
    distils = distils and settings.task.task == "classification" and not settings.task.inductive
    if train.tuned and train.distill is None and distils and isinstance(model, str):
        settings = settings.updated(**tuned_settings(dataset, model))
    return spec.applied(settings)


def _name(data: Any) -> Any:
    return data.get("name", "data") if isinstance(data, Data) else "data"
