"""Running a grid: many processes, one folder, again to go on."""

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

# Seconds between two looks at what is done.
_LOOK = 0.5

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Outcome:
    """Result of a sweep.

    Attributes:
        computed: Number of cells that this run computed.
        missing: Number of cells of the grid without a result.
        repaired: A line for each damaged cell of the grid that was found at the start.
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
    """Compute all cells of a grid that aren't in the folder yet.

    A cell is written when it is whole, so a run that was stopped, in whatever way, is resumed by
    the same call. Several runs on one folder share the work. What fails is recorded, and tried
    again by the next run.

    Args:
        grid: What to compute.
        out: The folder; made if it isn't there.
        settings: What all cells have in common.
        jobs: Processes.
        backend: Of joblib; ``dask`` and ``ray`` connect to a running cluster, or start one here.
        memory: GiB that a process may take; None: an equal share of what is free.
        keep_tickets: Whether to write each cell's ticket, too.
        plugins: The Python files that methods of the user's own come from; load them
            (:func:`teddy.methods.plugin.load_file`) before making the grid.
        progress: Called now and then with the numbers of cells that are done and wanted.

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
            f"nodes is the node table of one edge list, got {len(grid.datasets)} data sets; "
            "expected one"
        )
    methods = method_metadata(grid, settings)
    for series in grid.series:  # what can't go together is an error before the work
        spec = MethodSpec.parse(series.method)
        model = None if is_in_file(series.model) else series.model
        asked = problem_parts(None, model, settings_for(series, settings))
        level = spec.level(SparsityLevel.from_schedule(max(series.levels)))
        check_combination([*asked, *spec.method.parts(level, **dict(spec.options))])
    sources = {name: source_of(name) for name in grid.datasets}
    data = {name: data_version(source, settings) for name, source in sources.items()}
    folder = Folder(out)
    folder.check()
    folder.create()
    folder.agree({"version": __version__, **recorded(settings)}, {"data": data, "methods": methods})
    repaired = folder.damaged(grid.cells)
    limit = max(1, int(0.9 * free_memory()) // jobs) if memory is None else int(memory * 2**30)
    everything = [
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
    work = [job for job in everything if job.missing()]
    with _watched(folder, grid, progress):
        first = run_jobs(work, jobs, backend)
        # What other processes had; they are done with it by now, or have died.
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
    """Return settings that hold wherever a process runs, or raise if some can't be meant."""
    check_device(settings.run.device)
    for model in models:
        if not is_in_file(model):
            build_model(model, 1, 1, **settings.model_options)
    places = {"data_dir": settings.data.data_dir, "nodes": settings.data.nodes}
    found = {name: str(Path(p).absolute()) for name, p in places.items() if p is not None}
    return settings.updated(**found)


def recorded(settings: Settings) -> dict[str, Any]:
    """Settings that decide the results, as a folder records them.

    Example:
        >>> recorded(Settings.from_dict({"loader": "graphs:batch=8"}))["loader"]
        'graphs:batch=8:together=1'
    """
    text = loader_text(settings.train.loader)
    return settings.to_dict() | ({} if text is None else {"loader": text})


def failure_line(row: dict[str, Any]) -> str:
    """What went wrong in a cell, in a line.

    Example:
        >>> failure_line({"dataset": "cora", "model": "gcn", "method": "ugs", "simulation": 1,
        ...     "seed": 0, "error": "not enough memory"})
        'cora gcn ugs simulation 1 seed 0: not enough memory'
    """
    place = f"{row['dataset']} {row['model']} {row['method']}"
    return f"{place} simulation {row['simulation']} seed {row['seed']}: {row['error']}"


def source_of(dataset: str) -> str:
    """What to load a data set by, wherever a process runs.

    Example:
        >>> source_of("citeseer")
        'citeseer'
    """
    known = dataset in DATASETS or not Path(dataset).exists()
    return dataset if known else str(Path(dataset).absolute())


def method_metadata(grid: Grid, settings: Settings) -> dict[str, Any]:
    """Values that decide the results of each method: lambda, the user's files."""
    found = {}
    for series in grid.series:
        spec = MethodSpec.parse(series.method)
        distill = settings_for(series, settings).train.distill
        facts = {"distill": distill, "file": ORIGINS.get(spec.name)}
        task = ORIGINS.get(f"task {parse_task(settings.task.task).name}")
        if task is not None:
            facts["task"] = task
        if is_in_file(series.model):
            facts["model"] = load_file(series.model.rpartition(":")[0]).__name__
        found[f"{series.dataset} {series.model} {series.method}"] = facts
    return found


@contextmanager
def _watched(folder: Folder, grid: Grid, progress: Progress | None) -> Iterator[None]:
    """Report what is done, by whichever process, while the context lasts."""
    if progress is None:
        yield
        return
    paths = [folder.cell_path(cell) for cell in grid.cells]
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK):
            progress(sum(path.exists() for path in paths), len(paths))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
