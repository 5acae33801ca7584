"""The one place that builds a problem: find, sweep, search, tune and reproduce go through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch.utils.data import Dataset
from torch_geometric.data import Data, HeteroData

from teddy.capabilities import FEATURES, check_combination
from teddy.errors import InputError
from teddy.methods.graphs import GraphProblem
from teddy.methods.hetero import HeteroProblem
from teddy.methods.links import LinkProblem
from teddy.methods.model_source import ModelLike
from teddy.methods.parts import problem_parts, task_part
from teddy.methods.phases import Progress
from teddy.methods.problem import Problem
from teddy.methods.spec import MethodSpec
from teddy.methods.store import Store
from teddy.methods.teacher import TeacherLike
from teddy.methods.tuned import tuned_settings
from teddy.settings import Settings
from teddy.training import Checkpoint
from teddy.training.tasks import parse_task

#: Tasks that predict something else than nodes.
KINDS: dict[str, type[Problem]] = {
    "link-prediction": LinkProblem,
    "graph-classification": GraphProblem,
}


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
    task = parse_task(settings.task.task)
    kind = _kind(data, task.name, settings)
    parts = problem_parts(data, model, settings)
    check_combination(parts)
    return kind(
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


def _kind(data: Any, task: str, settings: Settings) -> type[Problem]:
    """The class of problems for these data and this task."""
    chosen = settings.task.target is not None or settings.task.relations != "each"
    hetero = isinstance(data, HeteroData) or chosen
    if task != "graph-classification" and isinstance(data, list | tuple | Dataset):
        raise InputError(
            f"data is a {type(data).__name__}, expected a Data, or the task graph-classification "
            "for a set of graphs"
        )
    if hetero:
        check_combination([task_part(task), FEATURES["heterogeneous"]])
    return HeteroProblem if hetero else KINDS.get(task, Problem)
