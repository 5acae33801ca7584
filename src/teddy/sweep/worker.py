"""Jobs of a sweep, one for each series, and the processes that run them."""

from __future__ import annotations

import copy
import importlib.util
import logging
import os
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from teddy.errors import InputError
from teddy.machine import keep_interrupts, reset_peak_memory
from teddy.methods import SparsityLevel
from teddy.methods.make_problem import make_problem
from teddy.methods.plugin import load_file, read_model
from teddy.methods.spec import MethodSpec
from teddy.settings import Settings
from teddy.store.folders import try_lock
from teddy.sweep.data_versions import cached_dataset
from teddy.sweep.folder import Folder
from teddy.sweep.grid import Cell, Series, settings_for
from teddy.sweep.resolution import HeldOut
from teddy.sweep.row import dense_row, ticket_row
from teddy.ticket import Ticket
from teddy.training.config import limited_threads

#: Backends of joblib, and the module that each needs.
BACKENDS = {"loky": "joblib", "dask": "distributed", "ray": "ray"}


@dataclass(frozen=True)
class SeriesJob:
    """A series as data for another process.

    Attributes:
        settings: Settings that all series share.
        memory: Bytes that the process may allocate; None: no limit.
        parent: The process ends when this one does; None: it does not.
        wait: Whether to wait for another process that holds the series.
    """

    folder: str
    series: Series
    settings: Settings
    source: str
    data: str = ""
    plugins: tuple[str, ...] = ()
    keep_tickets: bool = False
    memory: int | None = None
    parent: int | None = None
    wait: bool = False

    def missing(self) -> list[Cell]:
        """Cells without a result, or without a requested ticket."""
        folder = Folder(self.folder)
        return [
            cell
            for cell in self.series.cells
            if not folder.done(cell)
            or (self.keep_tickets and cell.level and not folder.ticket_path(cell).exists())
        ]


@dataclass(frozen=True)
class SeriesOutcome:
    """Outcome of a series: number of computed cells, or held by another process."""

    computed: int = 0
    busy: bool = False


# Random state and threads are per process, so a process computes one series at a time.
_ONE_AT_A_TIME = threading.Lock()


def run_series(job: SeriesJob) -> SeriesOutcome:
    """Compute the missing cells of a series; record those that fail."""
    folder = Folder(job.folder)
    lock = folder.lock(job.series.key)
    if job.wait:
        lock.acquire()
    elif not try_lock(lock):
        return SeriesOutcome(busy=True)
    try:
        with (
            _ONE_AT_A_TIME,
            limited_threads(job.settings.run.threads or 1),
            memory_limit(job.memory),
        ):
            if job.parent is not None:  # messages go to stderr, as on the command line
                logging.basicConfig(level=logging.WARNING, format="teddy: %(message)s")
                logging.getLogger("teddy").setLevel(logging.INFO)
                keep_interrupts()
            return SeriesOutcome(_compute(folder, job))
    finally:
        lock.release()


def _compute(folder: Folder, job: SeriesJob) -> int:
    """Compute and write cells; an error is recorded for the remaining ones."""
    left = job.missing()
    count = len(left)
    try:
        for cell, row, ticket in _results(folder, job, list(left)):
            if job.keep_tickets and ticket is not None:
                ticket.save(folder.ticket_path(cell))
            folder.write_cell(cell, row)
            left.remove(cell)
    except Exception as error:
        details, line = traceback.format_exc(), " ".join(str(error).split())
        if isinstance(error, MemoryError) or "allocate" in line or "bad_alloc" in line:
            limit = "" if job.memory is None else f", {job.memory / 2**30:.2g} GiB a job"
            line = f"not enough memory{limit}"
        elif not isinstance(error, InputError):
            line = f"{type(error).__name__}: {line}"
        for cell in left:
            folder.write_failure(cell, line, details)
    return count - len(left)


def _results(
    folder: Folder, job: SeriesJob, cells: list[Cell]
) -> Iterator[tuple[Cell, dict[str, Any], Ticket | None]]:
    if not cells:
        return
    for plugin in job.plugins:
        load_file(plugin)
    series, spec = job.series, MethodSpec.parse(job.series.method)
    dataset = cached_dataset(job.source, job.settings, job.data)
    problem = make_problem(
        dataset,
        read_model(series.model),
        settings_for(series, job.settings).loaded(),
        series.seed,
        spec,
        progress=ended_with_parent(job.parent),
        store=folder.store(series),
    )
    reset_peak_memory()
    with folder.lock(f"dense-{series.dense_key}"):  # trained once, by the first process
        problem.dense()
    prepared = problem.prepared
    tested = HeldOut.from_targets(problem.task, prepared.y[prepared.test_mask])
    for cell in cells:
        if cell.level == 0:
            yield cell, dense_row(problem, cell, tested), None
    sparse = [cell for cell in cells if cell.level > 0]
    levels = [spec.level(SparsityLevel.from_schedule(cell.level)) for cell in sparse]
    tickets = spec.method.tickets(problem, levels, **dict(spec.options))
    reset_peak_memory()
    # A ticket of several graphs or node types takes the original data, not one merged graph.
    data = problem.kind.for_tickets(dataset, prepared)
    data = copy.copy(data).to(str(problem.device))
    for cell, ticket in zip(sparse, tickets, strict=True):
        yield cell, ticket_row(cell, ticket, data, tested), ticket
        reset_peak_memory()


def ended_with_parent(parent: int | None) -> Callable[..., None] | None:
    """Return a function that ends this process once its parent has ended."""
    if parent is None:
        return None

    def check(*_: object) -> None:
        if os.getppid() != parent:
            os._exit(1)

    return check


@contextmanager
def memory_limit(limit: int | None) -> Iterator[None]:
    """Limit memory within the context: an allocation beyond the limit, in bytes, raises.

    A series that needs too much memory then fails alone.

    Example:
        >>> with memory_limit(None):
        ...     pass
    """
    try:
        import resource
    except ImportError:  # not on this system
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_DATA)
    if limit is None or (before[0] != resource.RLIM_INFINITY and before[0] <= limit):
        yield
        return
    resource.setrlimit(resource.RLIMIT_DATA, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def check_backend(backend: str) -> None:
    """Raise unless a backend can be used here.

    Example:
        >>> check_backend("slurm")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: unknown backend 'slurm', expected one of: loky, dask, ray
    """
    if backend not in BACKENDS:
        raise InputError(f"unknown backend '{backend}', expected one of: {', '.join(BACKENDS)}")
    if importlib.util.find_spec(BACKENDS[backend]) is None:
        raise InputError(f"backend {backend} is not installed: pip install 'teddy-glt[{backend}]'")


def run_jobs(work: Sequence[SeriesJob], jobs: int, backend: str) -> list[SeriesOutcome]:
    """Run jobs; return their outcomes in the same order."""
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    if not work:
        return []
    if backend == "loky" and jobs > 1:
        work = [replace(job, parent=os.getpid()) for job in work]
    elif backend != "loky":  # another machine has its own memory
        work = [replace(job, memory=None) for job in work]
    try:
        with _cluster(backend, jobs), parallel_config(backend=backend):
            done: list[SeriesOutcome] = Parallel(
                n_jobs=jobs, batch_size=1, pre_dispatch="2*n_jobs"
            )(delayed(run_series)(job) for job in work)
            return done
    except TerminatedWorkerError:
        return [_run_alone(job) for job in work]


def _run_alone(job: SeriesJob) -> SeriesOutcome:
    """Run one series in its own process, to find the one that kills it."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    try:
        # Two jobs, since one would run in this process.
        (done,) = Parallel(n_jobs=2)([delayed(run_series)(job)])
        assert isinstance(done, SeriesOutcome)
        return done
    except TerminatedWorkerError:
        for cell in job.missing():
            reason = "its process was killed, by the system for want of memory or by a user"
            Folder(job.folder).write_failure(cell, reason, "")
        return SeriesOutcome()


@contextmanager
def _cluster(backend: str, jobs: int) -> Iterator[None]:
    """Connect to Dask or Ray by their settings, or start them on this machine."""
    client: AbstractContextManager[Any] = nullcontext()
    if backend == "dask":
        import dask
        from distributed import Client

        address = dask.config.get("scheduler-address", None)
        here = {"n_workers": jobs, "threads_per_worker": 1, "processes": True}
        client = Client(**here) if address is None else Client(address)
    elif backend == "ray":
        from ray.util.joblib import register_ray

        register_ray()
    with client:
        yield
