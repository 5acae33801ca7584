"""``run_sweep``: run a grid in several processes, in a folder from which it resumes."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from teddy import __version__
from teddy.capabilities import check_combination
from teddy.data.catalog import DATASETS
from teddy.errors import InputError
from teddy.machine import free_memory
from teddy.methods import SparsityLevel
from teddy.methods.combination import problem_parts
from teddy.methods.plugin import ORIGINS, load_file
from teddy.methods.spec import MethodSpec
from teddy.models import build_model
from teddy.names import is_in_file
from teddy.settings import Settings
from teddy.sparsity import check_count
from teddy.sweep.data_versions import data_version
from teddy.sweep.folder import Folder
from teddy.sweep.grid import Cell, Grid, settings_for
from teddy.sweep.results_table import TABLE, write_table
from teddy.sweep.worker import SeriesJob, check_backend, run_jobs
from teddy.tasks import parse_task
from teddy.training.config import check_device
from teddy.training.loader_specs import loader_text

# Seconds between two progress reports.
_INTERVAL = 0.5

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Outcome:
    """Result of a sweep.

    Attributes:
        rows: All results of the folder.
        computed: Number of cells that this run computed.
        missing: Number of cells of the grid without a result.
        failures: Errors of failed cells of the grid.
        repaired: Lines for the cells of the grid that were damaged at the start.
    """

    rows: list[dict[str, Any]]
    computed: int
    missing: int
    failures: list[dict[str, Any]]
    repaired: list[str]


def run_sweep(
    grid: Grid,
    out: str | Path,
    settings: Settings | None = None,
    *,
    jobs: int = 1,
    backend: str = "loky",
    memory: float | None = None,
    keep_tickets: bool = False,
    plugins: Sequence[str | Path] = (),
    progress: Progress | None = None,
) -> Outcome:
    """Compute all cells of a grid that are missing in the folder.

    Cells are written atomically, so the same call resumes a run that was stopped or killed. Several
    runs share the work of one folder. Failed cells are recorded, and retried by the next run.

    Args:
        grid: Cells to compute.
        out: The folder, which is created.
        settings: Settings of all cells.
        jobs: Number of processes.
        backend: Backend of joblib; ``dask`` and ``ray`` connect to a cluster, or start one.
        memory: GiB that a process may allocate; None: an equal share of the free memory.
        keep_tickets: Whether to write each cell's ticket, too.
        plugins: Python files of your own methods; load them
            (:func:`teddy.methods.plugin.load_file`) before making the grid.
        progress: Called every half second with the numbers of finished cells and of all cells.

    Example:
        >>> import tempfile
        >>> from teddy.training import TrainConfig
        >>> grid = Grid(["citeseer"], ["gcn"], ["teddy"], [0, 1], [0])
        >>> settings = Settings(TrainConfig(epochs=2), model_options={"hidden_channels": 8})
        >>> outcome = run_sweep(grid, tempfile.mkdtemp(), settings)
        >>> len(outcome.rows), outcome.computed, outcome.failures
        (2, 2, [])
    """
    settings = checked(settings or Settings(), grid.models)
    check_count(jobs, "jobs")
    check_backend(backend)
    if memory is not None and not 0 < memory < math.inf:
        raise InputError(f"memory is {memory}, expected a number of GiB above 0")
    if settings.data.nodes is not None and len(grid.datasets) > 1:
        raise InputError(
            f"nodes is the node table of one edge list, expected one data set, got "
            f"{len(grid.datasets)}"
        )
    methods = method_metadata(grid, settings)
    for series in grid.series:  # raises before the work
        spec = MethodSpec.parse(series.method)
        model = None if is_in_file(series.model) else series.model
        parts = problem_parts(None, model, settings_for(series, settings))
        level = spec.level(SparsityLevel.from_schedule(max(series.levels)))
        check_combination([*parts, *spec.method.parts(level, **dict(spec.options))])
    sources = {name: source_of(name) for name in grid.datasets}
    data = {name: data_version(source, settings) for name, source in sources.items()}
    folder = Folder(out)
    folder.check()
    folder.create()
    folder.record(
        {"version": __version__, **recorded(settings)}, {"data": data, "methods": methods}
    )
    repaired = folder.damaged(grid.cells)
    limit = max(1, int(0.9 * free_memory()) // jobs) if memory is None else int(memory * 2**30)
    all_jobs = [
        SeriesJob(
            folder=str(folder.path.absolute()),
            series=series,
            settings=settings,
            source=sources[series.dataset],
            data=data[series.dataset],
            plugins=tuple(str(Path(plugin).absolute()) for plugin in plugins),
            keep_tickets=keep_tickets,
            memory=limit,
        )
        for series in grid.series
    ]
    work = [job for job in all_jobs if job.missing()]
    with _watched(folder, grid, progress):
        first = run_jobs(work, jobs, backend)
        # Series of other processes, which have finished or died by now.
        busy = [replace(job, wait=True) for job, done in zip(work, first, strict=True) if done.busy]
        second = run_jobs(busy, jobs, backend)
    rows = folder.rows()
    write_table(rows, folder.path / TABLE)
    wanted = {cell.key for cell in grid.cells}
    return Outcome(
        rows,
        computed=sum(done.computed for done in [*first, *second]),
        missing=sum(not folder.done(cell) for cell in grid.cells),
        failures=[row for row in folder.failures() if Cell.from_row(row).key in wanted],
        repaired=repaired,
    )


def checked(settings: Settings, models: Sequence[str]) -> Settings:
    """Return settings with absolute paths; raise on invalid ones."""
    check_device(settings.run.device)
    for model in models:
        if not is_in_file(model):
            build_model(model, 1, 1, **settings.model_options)
    places = {"data_dir": settings.data.data_dir, "nodes": settings.data.nodes}
    paths = {name: str(Path(p).absolute()) for name, p in places.items() if p is not None}
    return settings.updated(**paths)


def recorded(settings: Settings) -> dict[str, Any]:
    """Settings that determine the results, as a folder records them.

    Example:
        >>> recorded(Settings.from_dict({"loader": "graphs:batch=8"}))["loader"]
        'graphs:batch=8:together=1'
    """
    text = loader_text(settings.train.loader)
    return settings.to_dict() | ({} if text is None else {"loader": text})


def failure_line(row: dict[str, Any]) -> str:
    """Error of a cell in one line.

    Example:
        >>> failure_line({"dataset": "cora", "model": "gcn", "method": "ugs", "simulation": 1,
        ...     "seed": 0, "error": "not enough memory"})
        'cora gcn ugs level 1 seed 0: not enough memory'
    """
    place = f"{row['dataset']} {row['model']} {row['method']}"
    return f"{place} level {row['simulation']} seed {row['seed']}: {row['error']}"


def source_of(dataset: str) -> str:
    """Name or absolute path of a data set.

    Example:
        >>> source_of("citeseer")
        'citeseer'
    """
    known = dataset in DATASETS or not Path(dataset).exists()
    return dataset if known else str(Path(dataset).absolute())


def method_metadata(grid: Grid, settings: Settings) -> dict[str, Any]:
    """Values that determine the results of each method: lambda and your own files."""
    methods = {}
    for series in grid.series:
        spec = MethodSpec.parse(series.method)
        distill = settings_for(series, settings).train.distill
        values = {"distill": distill, "file": ORIGINS.get(spec.name)}
        task = ORIGINS.get(f"task {parse_task(settings.task.task).name}")
        if task is not None:
            values["task"] = task
        if is_in_file(series.model):
            values["model"] = load_file(series.model.rpartition(":")[0]).__name__
        methods[f"{series.dataset} {series.model} {series.method}"] = values
    return methods


@contextmanager
def _watched(folder: Folder, grid: Grid, progress: Progress | None) -> Iterator[None]:
    """Report finished cells, of all processes, within the context."""
    if progress is None:
        yield
        return
    paths = [folder.cell_path(cell) for cell in grid.cells]
    ended = threading.Event()

    def report() -> None:
        while not ended.wait(_INTERVAL):
            progress(sum(path.exists() for path in paths), len(paths))

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
