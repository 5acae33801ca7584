"""Construction of a problem for find, sweep, search, tune and reproduce."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from torch_geometric.data import Data, HeteroData

from teddy.capabilities import check_combination
from teddy.errors import InputError
from teddy.methods.combination import problem_parts, settings_parts
from teddy.methods.problem import Problem
from teddy.methods.progress import Progress
from teddy.methods.spec import MethodSpec
from teddy.methods.store import Store
from teddy.methods.teacher import TeacherLike
from teddy.models.source import ModelLike
from teddy.settings import Settings
from teddy.store.atomic import StrPath
from teddy.tasks import kind_for, load_dataset, parse_task
from teddy.tasks.load import check_loaded
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
        model: A name, a module, or a function that returns one.
        settings: The settings tree.
        seed: Seed of everything random.
        method: The method; its own settings override those of the tree.
        teacher: A trained model to distil from; None: the dense model is trained.
        progress: Called after each epoch.
        store: Store to resume from.
        checkpoints: Function from the name of a training to its checkpoint.

    Example:
        >>> import teddy
        >>> problem = make_problem(teddy.load_dataset("citeseer"), "gcn", method="ugs")
        >>> problem.config.distill, problem.graph.num_edges
        (0.0, 4552)
    """
    spec = MethodSpec.parse(method)
    settings = settings_of(spec, settings or Settings(), str(_name(data)), model)
    kind_for(parse_task(settings.task.task), data, settings.task)  # raises if no kind fits
    parts = problem_parts(data, model, settings)
    check_combination(parts)
    return Problem(
        data, model, settings, seed, parts=parts,
        teacher=teacher, progress=progress, store=store, checkpoints=checkpoints,
    )  # fmt: skip


def settings_of(spec: MethodSpec, settings: Settings, dataset: str, model: Any) -> Settings:
    """Settings of a search: the method's own values, and a lambda, set, tuned or the default.

    Example:
        >>> settings_of(MethodSpec.parse("teddy"), Settings(), "citeseer", "gin").train.distill
        10.0
    """
    train = settings.train
    distils = spec.method.distill > 0 and "distill" not in dict(spec.settings)
    # Lambda was tuned for node classification on the whole graph.
    distils = distils and settings.task.task == "classification" and not settings.task.inductive
    if train.tuned and train.distill is None and distils and isinstance(model, str):
        settings = settings.updated(**tuned_settings(dataset, model))
    return spec.applied(settings)


def _name(data: Any) -> Any:
    return data.get("name", "data") if isinstance(data, Data) else "data"


def tuned_settings(dataset: str, model: str) -> dict[str, float]:
    """Tuned settings of a data set and model; empty where nothing was tuned.

    They were chosen by TEDDY's validation accuracy at level 20 of the paper's schedule.

    Example:
        >>> sorted(tuned_settings("citeseer", "gin"))
        ['distill']
        >>> tuned_settings("citeseer", "my-model")
        {}
    """
    entry = _all_tuned().get(f"{dataset.lower()} {model}", {})
    return dict(entry.get("settings", {}))


@lru_cache(maxsize=1)
def _all_tuned() -> dict[str, Any]:
    text = files("teddy.methods").joinpath("tuned.json").read_text(encoding="utf-8")
    entries: dict[str, Any] = json.loads(text)["tuned"]
    return entries


def load_data(name: StrPath, settings: Settings) -> Any:
    """Load a data set by its name or path, split and checked for the task.

    Args:
        name: Name or path.
        settings: The settings tree.

    Example:
        >>> load_data("citeseer", Settings.from_dict({"split": "20/40/40"})).split
        '20/40/40'
    """
    task, source = parse_task(settings.task.task), settings.data
    check_combination(settings_parts(settings))
    data = load_dataset(
        name, split=source.split, seed=source.split_seed or 0, data_dir=source.data_dir,
        nodes=source.nodes, task=task, directed=settings.task.directed,
        target=settings.task.target,
    )  # fmt: skip
    check_loaded(data, task, str(name))
    if source.split_seed and "split_seed" not in data:
        raise InputError(
            f"split_seed is {source.split_seed}, but {name} has its own split; expected split=... "
            "too, to draw one"
        )
    return data
