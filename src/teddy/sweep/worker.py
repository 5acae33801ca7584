"""What one process of a sweep does with a task."""

from __future__ import annotations

import hashlib
import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch_geometric.data import Batch, Data

from teddy.data import load_dataset
from teddy.edges import SimpleGraph
from teddy.errors import InputError
from teddy.machine import forget_peak_memory
from teddy.methods import Problem
from teddy.methods.find import check_device
from teddy.methods.plugin import load_file
from teddy.methods.spec import MethodSpec
from teddy.methods.store import Store
from teddy.sweep.folder import Folder, try_lock
from teddy.sweep.grid import Cell, Settings, Task, distill_of, level_of
from teddy.sweep.limits import ended_with_parent, limited_threads, memory_limit, show_messages
from teddy.sweep.row import dense_row, ticket_row
from teddy.ticket import Ticket
from teddy.ticket.fingerprint import graph_fingerprint, split_fingerprint


@dataclass(frozen=True)
class Job:
    """A task and all it takes to do it in another process.

    Attributes:
        folder: Of the sweep.
        task: What to compute.
        settings: What all tasks have in common.
        source: What to load the data set by.
        data: Version of the data set.
        plugins: Files of the user's own to load first.
        keep_tickets: Whether to write tickets, too.
        memory: Bytes that the process may take; None: any.
        parent: The process to end with; None: go on without it.
        wait: Whether to wait for another process that has the task.
    """

    folder: str
    task: Task
    settings: Settings
    source: str
    data: str = ""
    plugins: tuple[str, ...] = ()
    keep_tickets: bool = False
    memory: int | None = None
    parent: int | None = None
    wait: bool = False

    def missing(self) -> list[Cell]:
        """Cells without a result, or without the ticket that is wanted."""
        folder = Folder(self.folder)
        return [
            cell
            for cell in self.task.cells
            if not folder.done(cell)
            or (self.keep_tickets and cell.simulation and not folder.ticket_path(cell).exists())
        ]


@dataclass(frozen=True)
class Done:
    """What a task came to: how many cells were computed, or that another process has it."""

    computed: int = 0
    busy: bool = False


# Random numbers and threads are of the whole process, so it does one task at a time.
_ONE_AT_A_TIME = threading.Lock()


def run_task(job: Job) -> Done:
    """Compute the cells of a task that aren't there yet; record those that fail."""
    folder = Folder(job.folder)
    lock = folder.lock(job.task.key)
    if job.wait:
        lock.acquire()
    elif not try_lock(lock):
        return Done(busy=True)
    try:
        with _ONE_AT_A_TIME, limited_threads(job.settings.threads), memory_limit(job.memory):
            if job.parent is not None:
                show_messages()
            return Done(_compute(folder, job))
    finally:
        lock.release()


def _compute(folder: Folder, job: Job) -> int:
    """Compute and write cells; what goes wrong is written for those that are left."""
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
    folder: Folder, job: Job, cells: list[Cell]
) -> Iterator[tuple[Cell, dict[str, Any], Ticket | None]]:
    if not cells:
        return
    for plugin in job.plugins:
        load_file(plugin)
    task, settings = job.task, job.settings
    spec = MethodSpec.parse(task.method)
    problem = build_problem(
        cached_dataset(job.source, settings, job.data),
        task,
        settings,
        distill_of(spec, task, settings),
        folder.store(task),
        job.parent,
    )
    forget_peak_memory()
    with folder.lock(f"dense-{task.dense_key}"):  # trained once, whoever comes first
        problem.dense()
    for cell in cells:
        if cell.simulation == 0:
            yield cell, dense_row(problem, cell), None
    sparse = [cell for cell in cells if cell.simulation > 0]
    levels = [level_of(spec, cell.simulation) for cell in sparse]
    tickets = spec.method.tickets(problem, levels, **dict(spec.options))
    forget_peak_memory()
    test_rows = int(problem.given.test_mask.sum())
    for cell, ticket in zip(sparse, tickets, strict=True):
        yield cell, ticket_row(cell, ticket, problem.deployed.data, test_rows), ticket
        forget_peak_memory()


def build_problem(
    data: Data,
    task: Task,
    settings: Settings,
    distill: float,
    store: Store,
    parent: int | None = None,
) -> Problem:
    """Build the problem of a task; the only place where settings become a training.

    Sweeps and tuning build their problems here, so neither can leave out a setting or an option of
    the method. The number of threads is the caller's, as it is set for the whole process.

    Args:
        data: The graph, as :func:`cached_dataset` returns it.
        task: Model, method with its options, and seed.
        settings: Settings that all tasks share.
        distill: Strength of the distillation.
        store: Store to resume from.
        parent: Process to end with; None: none.
    """
    spec = MethodSpec.parse(task.method)
    return Problem(
        data,
        task.model,
        settings.model_options,
        task.seed,
        spec.configure(settings.config, distill),
        check_device(settings.device),
        ended_with_parent(parent),
        store,
        inductive=settings.inductive,
        inference=spec.inference or "scored",
        weight_budget=spec.budget,
    )


def data_version(name: str, settings: Settings) -> str:
    """Load a data set and return a sha256 of what a change of it would change."""
    data = _load(name, settings)
    graph, _ = SimpleGraph.of(data.edge_index, data.num_nodes)
    digest = hashlib.sha256(f"{graph_fingerprint(graph)} {split_fingerprint(data)}".encode())
    digest.update(data.y.numpy().tobytes())
    x = data.x if data.x.layout == torch.sparse_csr else data.x.to_sparse_csr()
    for part in (x.crow_indices(), x.col_indices(), x.values()):
        digest.update(part.contiguous().numpy().tobytes())
    if "edge_weight" in data:
        digest.update(data.edge_weight.numpy().tobytes())
    return digest.hexdigest()


def cached_dataset(name: str, settings: Settings, version: str) -> Data:
    """Load a data set, or take the one that this process loaded last if it is that."""
    key = name, settings.split, settings.split_seed, settings.data_dir, version
    if key not in _LOADED:
        _LOADED.clear()
        _LOADED[key] = _load(name, settings)
    return _LOADED[key]


_LOADED: dict[tuple[Any, ...], Data] = {}


def _load(name: str, settings: Settings) -> Data:
    data = load_dataset(
        name, split=settings.split, seed=settings.split_seed, data_dir=settings.data_dir
    )
    if isinstance(data, Batch):
        raise InputError(
            f"{name}: is a set of graphs, expected one graph: sweeps, search and tuning take node "
            f"classification only; use `teddy find {name} --task graph-classification --seeds 5`"
        )
    return data
