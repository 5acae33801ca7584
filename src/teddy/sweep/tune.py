"""Tuning by validation accuracy, with Optuna."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from teddy.errors import InputError
from teddy.methods import Level, Problem
from teddy.methods.find import check_device
from teddy.methods.spec import MethodSpec
from teddy.models import MODELS
from teddy.numbers import check_count
from teddy.sweep.folder import Folder, try_lock
from teddy.sweep.grid import Settings, Task, file_name
from teddy.sweep.worker import cached_dataset, data_version, ended_with_parent, limited_threads
from teddy.training import TrainConfig

#: What can be searched, all on a log scale; the paper searches lambda in [0.01, 200].
RANGES = {"distill": (0.01, 200.0), "lr": (1e-3, 0.1), "weight_decay": (1e-5, 1e-2)}


@dataclass(frozen=True)
class Trial:
    """A setting that was tried, with the mean validation accuracy of its tickets."""

    settings: dict[str, float]
    val: float


@dataclass(frozen=True)
class Tuning:
    """What was tried, in order."""

    trials: list[Trial]

    @property
    def best(self) -> Trial:
        """The trial of highest validation accuracy, the first of equals."""
        return max(self.trials, key=lambda trial: trial.val)


@dataclass(frozen=True)
class Search:
    """What to tune.

    Attributes:
        dataset: The graph.
        model: The model.
        method: The method, with options.
        level: How sparse.
        seeds: A setting is judged by the mean over them.
        names: What to search, of ``RANGES``.
    """

    dataset: str
    model: str
    method: str = "teddy"
    level: Level = field(default_factory=lambda: Level.simulation(20))
    seeds: tuple[int, ...] = (0, 1, 2)
    names: tuple[str, ...] = ("distill",)

    def __post_init__(self) -> None:
        MODELS[self.model]
        MethodSpec.parse(self.method)
        for name in self.names:
            if name not in RANGES:
                known = ", ".join(RANGES)
                raise InputError(f"can't search '{name}', expected one of: {known}")
        if not self.seeds or not self.names:
            raise InputError("got nothing to search, expected a name and a seed at least")


def tune(
    search: Search,
    out: str | Path,
    trials: int = 20,
    settings: Settings | None = None,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Tuning:
    """Search settings by the validation accuracy of tickets; the test nodes are never looked at.

    The first trial is the default, so what is found is never worse on validation. Trials are
    stored one by one; the same call goes on where it was stopped, and draws what it would have
    drawn.

    Args:
        search: What to tune.
        out: Folder for the trials and the dense models.
        trials: How many in all.
        settings: Everything that isn't searched.
        jobs: Processes; the seeds of a trial run side by side.
        progress: Called with the number of trials that are done and the number wanted.
    """
    try:
        import optuna
    except ImportError:
        raise InputError("tuning needs Optuna: pip install 'teddy-glt[tune]'") from None
    from joblib import Parallel, delayed

    check_count(trials, "trials")
    settings = settings or Settings()
    folder = Folder(out)
    version = data_version(search.dataset, settings)
    folder.create()
    folder.agree({**settings.to_dict(), "tuned for": repr(search)}, {search.dataset: version})
    lock = folder.lock("tune")
    if not try_lock(lock):
        raise InputError(f"{out}: another process is tuning here, expected none")
    try:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(
            study_name="tune",
            storage=f"sqlite:///{(folder.path / 'trials.db').absolute()}",
            direction="maximize",
            load_if_exists=True,
        )
        while (done := len(_complete(study))) < trials:
            # A sampler of its own for each trial: a resumed search draws what it would have drawn.
            study.sampler = optuna.samplers.TPESampler(seed=done, n_startup_trials=8)
            if done == 0:
                study.enqueue_trial(_defaults(search, settings))
            trial = study.ask()
            values = {
                name: trial.suggest_float(name, *RANGES[name], log=True) for name in search.names
            }
            tried = replace(settings, config=_with(settings.config, search, values))
            parent = os.getpid() if jobs > 1 else None
            scores = Parallel(n_jobs=jobs, batch_size=1)(
                delayed(_validation)(
                    str(folder.path.absolute()), search, tried, version, seed, parent
                )
                for seed in search.seeds
            )
            study.tell(trial, sum(scores) / len(scores))
            if progress is not None:
                progress(done + 1, trials)
        found = _complete(study)[:trials]
        return Tuning([Trial(dict(t.params), float(t.value)) for t in found])
    finally:
        lock.release()


def _complete(study: Any) -> list[Any]:
    """Trials that came to an end; those of a process that died did not."""
    return [trial for trial in study.trials if trial.state.name == "COMPLETE"]


def _defaults(search: Search, settings: Settings) -> dict[str, float]:
    config = settings.config
    defaults = {
        "distill": MethodSpec.parse(search.method).method.distill or 10.0,
        "lr": config.lr,
        "weight_decay": config.weight_decay,
    }
    return {name: defaults[name] for name in search.names}


def _with(config: TrainConfig, search: Search, values: dict[str, float]) -> TrainConfig:
    """The settings of a trial."""
    spec = MethodSpec.parse(search.method)
    distill = spec.method.distill if spec.distill is None else spec.distill
    return replace(
        config,
        distill=values.get("distill", distill),
        lr=values.get("lr", config.lr),
        weight_decay=values.get("weight_decay", config.weight_decay),
    )


def _validation(
    out: str, search: Search, settings: Settings, version: str, seed: int, parent: int | None
) -> float:
    """Validation accuracy of one seed's ticket."""
    spec, config = MethodSpec.parse(search.method), settings.config
    # The dense model depends on what it was trained with; the rounds of masks, on everything.
    of_dense = f"lr {config.lr} weight decay {config.weight_decay}"
    task = Task(search.dataset, search.model, f"{spec} {config}", seed, ())
    store = Folder(out).store(task)
    store.shared = store.shared / file_name(of_dense)
    with limited_threads(settings.threads):
        problem = Problem(
            cached_dataset(search.dataset, settings, version),
            search.model,
            settings.model_options,
            seed,
            config,
            check_device(settings.device),
            ended_with_parent(parent),
            store,
        )
        levels: Sequence[Level] = [spec.level(search.level)]
        (ticket,) = spec.method.tickets(problem, levels, **dict(spec.options))
    return ticket.info.ticket.val
