"""What one process of a sweep does with a task."""

from __future__ import annotations

import hashlib
import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch_geometric.data import Data

from teddy.data import load_dataset
from teddy.edges import SimpleGraph
from teddy.errors import InputError
from teddy.methods import Problem
from teddy.methods.find import check_device
from teddy.methods.plugin import load_file
from teddy.methods.spec import MethodSpec
from teddy.sweep.folder import Folder, try_lock
from teddy.sweep.grid import Cell, Settings, Task, distill_of, level_of
from teddy.ticket import Ticket
from teddy.ticket.fingerprint import graph_fingerprint, split_fingerprint


@dataclass(frozen=True)
class Job:
    """A task and all it takes to do it in another process.

    Attributes:
        folder: Of the sweep.
        task: What to compute.
        settings: What all tasks have in common.
        data: Version of the data set.
        plugin: A file of the user's own to load first.
        keep_tickets: Whether to write tickets, too.
        memory: Bytes that the process may take; None: any.
        parent: The process to end with; None: go on without it.
        wait: Whether to wait for another process that has the task.
    """

    folder: str
    task: Task
    settings: Settings
    data: str = ""
    plugin: str | None = None
    keep_tickets: bool = False
    memory: int | None = None
    parent: int | None = None
    wait: bool = False


def run_task(job: Job) -> str:
    """Compute the cells of a task that aren't there yet.

    Returns:
        ``done``, ``failed``, or ``busy`` if another process has the task.
    """
    folder, task = Folder(job.folder), job.task
    lock = folder.lock(task.key)
    if job.wait:
        lock.acquire()
    elif not try_lock(lock):
        return "busy"
    try:
        missing = [cell for cell in task.cells if not folder.done(cell)]
        with limited_threads(job.settings.threads), memory_limit(job.memory):
            for cell, error, details in _compute(folder, job, missing):
                folder.write_failure(cell, error, details)
        return "done" if all(folder.done(cell) for cell in task.cells) else "failed"
    finally:
        lock.release()


def _compute(folder: Folder, job: Job, missing: list[Cell]) -> Iterator[tuple[Cell, str, str]]:
    """Compute and write cells; yield those that fail, with the reason in a line and in full."""
    left = list(missing)
    try:
        for cell, row, ticket in _results(folder, job, missing):
            if job.keep_tickets and ticket is not None:
                ticket.save(folder.ticket_path(cell))
            folder.write_cell(cell, row)
            left.remove(cell)
    except OSError:
        raise
    except Exception as error:
        details, line = traceback.format_exc(), " ".join(str(error).split())
        if isinstance(error, MemoryError) or "allocate memory" in line:
            limit = "" if job.memory is None else f" of {job.memory / 2**30:.1f} GiB a job"
            line = f"not enough memory within the limit{limit}"
        elif not isinstance(error, InputError):
            line = f"{type(error).__name__}: {line}"
        yield from ((cell, line, details) for cell in left)


def _results(
    folder: Folder, job: Job, cells: list[Cell]
) -> Iterator[tuple[Cell, dict[str, Any], Ticket | None]]:
    if not cells:
        return
    if job.plugin is not None:
        load_file(job.plugin)
    task, settings = job.task, job.settings
    spec = MethodSpec.parse(task.method)
    problem = Problem(
        cached_dataset(task.dataset, settings, job.data),
        task.model,
        settings.model_options,
        task.seed,
        replace(settings.config, distill=distill_of(spec, task, settings)),
        check_device(settings.device),
        ended_with_parent(job.parent),
        folder.store(task),
    )
    with folder.lock(f"dense-{task.dense_key}"):  # trained once, whoever comes first
        problem.dense()
    for cell in cells:
        if cell.simulation == 0:
            yield cell, _dense_row(problem, cell), None
    sparse = [cell for cell in cells if cell.simulation > 0]
    levels = [level_of(spec, cell.simulation) for cell in sparse]
    tickets = spec.method.tickets(problem, levels, **dict(spec.options))
    for cell, ticket in zip(sparse, tickets, strict=True):
        yield cell, _ticket_row(cell, ticket), ticket


def _ticket_row(cell: Cell, ticket: Ticket) -> dict[str, Any]:
    info = ticket.info
    macs = {"dense": info.macs.dense, "ticket": info.macs.ticket}
    return {
        **vars(cell),
        "split": info.split,
        "graph_sparsity": info.graph_sparsity,
        "weight_sparsity": info.weight_sparsity,
        **asdict(info.ticket),
        **{f"dense_{name}": value for name, value in asdict(info.dense).items()},
        **{f"edges_{name}": value for name, value in asdict(info.edges).items()},
        **{f"weights_{name}": value for name, value in asdict(info.weights).items()},
        **{f"macs_{n}": None if layers is None else sum(layers) for n, layers in macs.items()},
        "distill": info.config["distill"],
        **{f"seconds_{n}": ticket.seconds.get(n, 0.0) for n in SECONDS},
    }


#: What is measured: the dense training, all rounds of masks, the last of them, the ticket.
SECONDS = ("dense", "search", "round", "sparse")


def _dense_row(problem: Problem, cell: Cell) -> dict[str, Any]:
    """The row of simulation 0: the dense model itself."""
    dense, accuracy = problem.dense(), asdict(problem.dense().accuracy)
    weights = sum(mask.numel() for mask in problem.weight_masks())
    macs = None if dense.macs is None else sum(dense.macs)
    return {
        **vars(cell),
        "split": str(problem.given.get("split", "given")),
        "graph_sparsity": 0.0,
        "weight_sparsity": 0.0,
        **accuracy,
        **{f"dense_{name}": value for name, value in accuracy.items()},
        "edges_total": problem.graph.num_edges,
        "edges_kept": problem.graph.num_edges,
        "weights_total": weights,
        "weights_kept": weights,
        "macs_dense": macs,
        "macs_ticket": macs,
        "distill": 0.0,
        **dict.fromkeys((f"seconds_{name}" for name in SECONDS), 0.0),
        "seconds_dense": dense.seconds,
    }


def data_version(name: str, settings: Settings) -> str:
    """Load a data set and return a sha256 of what a change of it would change."""
    data = _load(name, settings)
    graph, _ = SimpleGraph.of(data.edge_index, data.num_nodes)
    digest = hashlib.sha256(f"{graph_fingerprint(graph)} {split_fingerprint(data)}".encode())
    digest.update(data.y.numpy().tobytes())
    x = data.x if data.x.layout == torch.sparse_csr else data.x.to_sparse_csr()
    for part in (x.crow_indices(), x.col_indices(), x.values()):
        digest.update(part.contiguous().numpy().tobytes())
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
    return load_dataset(
        name, split=settings.split, seed=settings.split_seed, data_dir=settings.data_dir
    )


def ended_with_parent(parent: int | None) -> Callable[..., None] | None:
    """End when the process that started this one has ended, however it did."""
    if parent is None:
        return None

    def check(*_: object) -> None:
        if os.getppid() != parent:
            os._exit(1)

    return check


@contextmanager
def limited_threads(count: int) -> Iterator[None]:
    """Within the context torch computes with so many threads.

    Example:
        >>> with limited_threads(1):
        ...     torch.get_num_threads()
        1
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def memory_limit(limit: int | None) -> Iterator[None]:
    """Within the context an allocation beyond the limit, in bytes, is an error.

    What would otherwise take the machine down becomes a recorded failure of one task.

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
