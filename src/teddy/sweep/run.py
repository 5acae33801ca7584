"""Running a grid: many processes, one folder, again to go on."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from teddy.errors import InputError
from teddy.methods.find import check_device
from teddy.numbers import check_count
from teddy.sweep.folder import Folder
from teddy.sweep.grid import Grid, Settings
from teddy.sweep.table import write_table
from teddy.sweep.worker import Job, data_version, run_task

#: What joblib can run tasks on; the last two take an extra of their own.
BACKENDS = ("loky", "multiprocessing", "threading", "dask", "ray")

# Seconds between two looks at what is done.
_LOOK = 0.5

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Outcome:
    """What a sweep has done.

    Attributes:
        rows: All results in the folder.
        computed: Cells of the grid that this run computed.
        missing: Cells of the grid without a result.
        failures: What went wrong.
        repaired: A line for each damaged file that was found at the start.
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
    plugin: str | Path | None = None,
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
        plugin: A Python file that registers methods of the user's own.
        progress: Called now and then with the numbers of cells that are done and wanted.

    Example:
        >>> import tempfile
        >>> from teddy.training import TrainConfig
        >>> grid = Grid(["citeseer"], ["gcn"], ["teddy"], [0, 1], [0])
        >>> settings = Settings(TrainConfig(epochs=2), model_options={"hidden": 8})
        >>> outcome = run_sweep(grid, tempfile.mkdtemp(), settings)
        >>> len(outcome.rows), outcome.computed, outcome.failures
        (2, 2, [])
    """
    settings = settings or Settings()
    check_count(jobs, "jobs")
    if backend not in BACKENDS:
        raise InputError(f"unknown backend '{backend}', expected one of: {', '.join(BACKENDS)}")
    check_device(settings.device)
    data = {name: data_version(name, settings) for name in grid.datasets}
    folder = Folder(out)
    folder.create()
    folder.agree(settings.to_dict(), data)
    repaired = folder.damaged()
    before = sum(folder.done(cell) for cell in grid.cells)
    limit = _share_of_memory(jobs) if memory is None else int(memory * 2**30)
    own_process = backend in ("loky", "multiprocessing")
    work = [
        Job(
            folder=str(folder.path.absolute()),
            task=task,
            settings=settings,
            data=data[task.dataset],
            plugin=None if plugin is None else str(plugin),
            keep_tickets=keep_tickets,
            memory=limit if own_process else None,
            parent=os.getpid() if own_process and jobs > 1 else None,
        )
        for task in grid.tasks
        if not all(folder.done(cell) for cell in task.cells)
    ]
    with _watched(folder, grid, progress):
        busy = _run(work, jobs, backend)
        if busy:  # what other processes had; they are done with it, or have died
            _run([replace(job, wait=True) for job in busy], jobs, backend)
    rows = folder.rows()
    write_table(rows, folder.table_path)
    done = sum(folder.done(cell) for cell in grid.cells)
    wanted = {cell.key for cell in grid.cells}
    failures = [row for row in folder.failures() if _key(row) in wanted]
    return Outcome(rows, done - before, len(grid.cells) - done, failures, repaired)


def _run(work: Sequence[Job], jobs: int, backend: str) -> list[Job]:
    """Do the work; return what other processes are busy with."""
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    if not work:
        return []
    try:
        with _cluster(backend), parallel_config(backend=backend):
            states = Parallel(n_jobs=jobs, batch_size=1, pre_dispatch="2*n_jobs")(
                delayed(run_task)(job) for job in work
            )
    except TerminatedWorkerError:
        return _run_alone(work)
    return [job for job, state in zip(work, states, strict=True) if state == "busy"]


def _run_alone(work: Sequence[Job]) -> list[Job]:
    """Do the work one task at a time, each in a process of its own, to see which one kills it."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    busy = []
    for job in work:
        folder = Folder(job.folder)
        try:
            # Two, since one would be this very process.
            if Parallel(n_jobs=2)([delayed(run_task)(job)]) == ["busy"]:
                busy.append(job)
        except TerminatedWorkerError:
            for cell in job.task.cells:
                if not folder.done(cell):
                    reason = "its process was killed, by the system for memory or by someone"
                    folder.write_failure(cell, reason, "")
    return busy


@contextmanager
def _cluster(backend: str) -> Iterator[None]:
    """Connect to Dask or Ray as their own settings say, or start them on this machine."""
    client: AbstractContextManager[Any] = nullcontext()
    try:
        if backend == "dask":
            from distributed import Client

            client = Client(set_as_default=True)
        elif backend == "ray":
            from ray.util.joblib import register_ray

            register_ray()
    except ImportError as error:
        raise InputError(
            f"backend '{backend}' isn't installed ({error}): pip install 'teddy-glt[{backend}]'"
        ) from None
    with client:
        yield


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


def _share_of_memory(jobs: int) -> int:
    """Bytes for each job: what is free, shared equally."""
    import psutil

    free = psutil.virtual_memory().available
    limit = Path("/sys/fs/cgroup/memory.max")
    if limit.exists() and limit.read_text().strip().isdigit():
        free = min(free, int(limit.read_text()))
    return max(1, int(0.9 * free) // jobs)


def _key(row: dict[str, Any]) -> str:
    from teddy.sweep.grid import Cell

    return Cell(**{name: row[name] for name in Cell.__dataclass_fields__}).key
