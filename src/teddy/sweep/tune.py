"""Tuning by the validation metric, with Optuna."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from teddy.errors import InputError
from teddy.methods import Problem, SparsityLevel
from teddy.methods.make_problem import make_problem
from teddy.methods.plugin import check_model, load_file, read_model
from teddy.methods.spec import MethodSpec
from teddy.settings import ENTRIES, Settings
from teddy.sparsity import check_count
from teddy.store.folders import try_lock
from teddy.sweep.data_versions import cached_dataset, data_version
from teddy.sweep.folder import Folder
from teddy.sweep.grid import Grid, Series, file_name, settings_for
from teddy.sweep.run import checked, method_metadata, recorded, source_of
from teddy.sweep.worker import ended_with_parent
from teddy.training.config import limited_threads
from teddy.training.loader_specs import loader_text

#: Settings that can be searched, with their ranges, on a logarithmic scale; the paper searches
#: lambda in [0.01, 200].
RANGES = {name: entry.tune for name, entry in ENTRIES.items() if entry.tune is not None}


@dataclass(frozen=True)
class Trial:
    """Settings that were tried, with the mean validation metric of their tickets."""

    settings: dict[str, float]
    val: float


@dataclass(frozen=True)
class Tuning:
    """Trials of a tuning, in order."""

    trials: list[Trial]

    @property
    def best(self) -> Trial:
        """Trial of highest validation metric, the first of equals."""
        return max(self.trials, key=lambda trial: trial.val)


@dataclass(frozen=True)
class TuningSpec:
    """Data set, model, method and settings of a tuning.

    Attributes:
        method: The method, with options.
        level: Sparsity level of the tickets.
        seeds: Seeds over which a trial is averaged.
        names: Settings to tune, of ``RANGES``.
    """

    dataset: str
    model: str
    method: str = "teddy"
    level: SparsityLevel = field(default_factory=lambda: SparsityLevel.from_schedule(20))
    seeds: tuple[int, ...] = (0, 1, 2)
    names: tuple[str, ...] = ("distill",)

    def __post_init__(self) -> None:
        check_model(self.model)
        MethodSpec.parse(self.method)
        for name in self.names:
            if name not in RANGES:
                known = ", ".join(RANGES)
                raise InputError(f"search has '{name}', expected one of: {known}")
        if not self.seeds or not self.names:
            raise InputError("got no setting or no seed to tune, expected at least one of each")
        object.__setattr__(self, "names", tuple(dict.fromkeys(self.names)))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, to compare with an earlier tuning."""
        plain = {**asdict(self), "level": list(self.level)}
        return {f"tuned {name}": json.loads(json.dumps(value)) for name, value in plain.items()}


def tune(
    search: TuningSpec,
    out: str | Path,
    trials: int = 20,
    settings: Settings | None = None,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
    plugins: Sequence[str | Path] = (),
) -> Tuning:
    """Tune settings by the validation metric of tickets; the test set is never read.

    The first trial is the default if it is within the range (ugs and wd-glt do not distil by
    default), so the best trial is never worse on validation. Trials are stored one by one; the same
    call resumes and draws the same trials. Trials whose training fails are left out.

    Args:
        search: Data set, model, method and settings to tune.
        out: Folder for the trials and the dense models.
        trials: Total number of trials.
        settings: All other settings.
        jobs: Number of processes, which train the seeds of a trial in parallel.
        progress: Called with the numbers of finished trials and of all trials.
        plugins: Python files of your own methods.
    """
    optuna = _import_optuna()
    from joblib import Parallel, delayed

    check_count(trials, "trials")
    check_count(jobs, "jobs")
    settings = checked(settings or Settings(), [search.model])
    source = source_of(search.dataset)
    version = data_version(source, settings)
    folder = Folder(out)
    folder.check()
    folder.create()
    grid = Grid([search.dataset], [search.model], [search.method], [1], search.seeds)
    parts = {"data": {search.dataset: version}, "methods": method_metadata(grid, settings)}
    folder.record({**recorded(settings), **search.to_dict()}, parts)
    lock = folder.lock("tune")
    if not try_lock(lock):
        raise InputError(f"{out}: in use by another process, expected one at a time")
    run = _Run(
        out=str(folder.path.absolute()),
        search=search,
        source=source,
        version=version,
        parent=os.getpid() if jobs > 1 else None,
        plugins=tuple(str(Path(plugin).absolute()) for plugin in plugins),
    )
    try:
        study = _study(optuna, folder)
        while (done := len(_tried(study))) < trials:
            # A new sampler for each trial, so that a resumed tuning draws the same trials.
            study.sampler = optuna.samplers.TPESampler(
                seed=done, n_startup_trials=8, constant_liar=False
            )
            if done == 0:
                default = run.defaults(settings)
                if all(RANGES[name][0] <= v <= RANGES[name][1] for name, v in default.items()):
                    study.enqueue_trial(default)
            trial = study.ask()
            values = {
                name: trial.suggest_float(name, *RANGES[name], log=True) for name in search.names
            }
            tried = _settings(search, settings, values)
            try:
                scores = Parallel(n_jobs=jobs, batch_size=1)(
                    delayed(run.validation)(tried, seed) for seed in search.seeds
                )
            except InputError as error:
                if done == 0:
                    raise  # also fails with the defaults
                trial.set_user_attr("error", str(error))
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, sum(scores) / len(scores))
            if progress is not None:
                progress(done + 1, trials)
        complete = [t for t in _tried(study)[:trials] if t.state.name == "COMPLETE"]
        return Tuning([Trial(dict(t.params), float(t.value)) for t in complete])
    finally:
        lock.release()


def _import_optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise InputError("tuning needs Optuna, found none: pip install 'teddy-glt[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _study(optuna: Any, folder: Folder) -> Any:
    """Open the study; unfinished trials of earlier processes are marked as failed."""
    from sqlalchemy import URL
    from sqlalchemy.exc import SQLAlchemyError

    path = folder.path.absolute() / "trials.db"
    try:
        study = optuna.create_study(
            study_name="tune",
            storage=URL.create("sqlite", database=str(path)).render_as_string(),
            direction="maximize",
            load_if_exists=True,
        )
        for trial in study.trials:
            if trial.state.name == "RUNNING":
                study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    except (SQLAlchemyError, optuna.exceptions.OptunaError) as error:
        reason = " ".join(str(error).split())[:80]
        raise InputError(f"{path}: cannot be read ({reason}), expected trials of Optuna") from None
    return study


def _tried(study: Any) -> list[Any]:
    """Trials that completed or raised, without those of killed processes."""
    return [
        trial
        for trial in study.trials
        if trial.state.name == "COMPLETE" or "error" in trial.user_attrs
    ]


def _settings(search: TuningSpec, settings: Settings, values: dict[str, float]) -> Settings:
    """Settings of a trial: those of the method on this data set, with the drawn values."""
    series = Series(search.dataset, search.model, search.method, 0, ())
    return settings_for(series, settings).updated(**values)


@dataclass(frozen=True)
class _Run:
    """A tuning as data for another process."""

    out: str
    search: TuningSpec
    source: str
    version: str
    parent: int | None
    plugins: tuple[str, ...]

    def defaults(self, settings: Settings) -> dict[str, float]:
        """Default values of the tuned settings, which depend on model and task."""
        defaults, search = _settings(self.search, settings, {}), self.search
        problem = self._problem(defaults, search.seeds[0], search.method)
        return {name: getattr(problem.config, name) for name in search.names}

    def validation(self, settings: Settings, seed: int) -> float:
        """Validation metric of one seed's ticket."""
        for plugin in self.plugins:
            load_file(plugin)
        search, config = self.search, settings.train
        spec = MethodSpec.parse(search.method)
        # Drawn values override those of the method.
        fixed = tuple((k, v) for k, v in spec.settings if k not in search.names)
        spec = replace(spec, settings=fixed)
        series = Series(search.dataset, search.model, search.method, seed, ())
        # The dense model depends on learning rate and weight decay, rounds of masks on all.
        trained = replace(config, loader=loader_text(config.loader))
        store = Folder(self.out).store(replace(series, method=f"{spec} {trained}"))
        store.shared /= file_name(f"lr {config.lr} weight decay {config.weight_decay}")
        with limited_threads(settings.run.threads or 1):
            problem = self._problem(
                settings, seed, spec, progress=ended_with_parent(self.parent), store=store
            )
            levels = [spec.level(search.level)]
            (ticket,) = spec.method.tickets(problem, levels, **dict(spec.options))
        return ticket.info.ticket.val

    def _problem(
        self, settings: Settings, seed: int, method: str | MethodSpec, **options: Any
    ) -> Problem:
        data = cached_dataset(self.source, settings, self.version)
        model = read_model(self.search.model)
        return make_problem(data, model, settings.loaded(), seed, method, **options)
