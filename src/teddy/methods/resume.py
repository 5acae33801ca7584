"""Folder from which a search resumes.

::

    search.json                  settings of the search; others are refused
    dense.safetensors            logits of the dense model
    training-*.safetensors       state of each training
    lock                         held by the running process, released when it ends
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock
from torch import nn
from torch.nn.parameter import is_lazy

from teddy.data.checks import MASKS
from teddy.errors import InputError
from teddy.methods.problem import Problem
from teddy.methods.sparsity_level import SparsityLevel
from teddy.methods.store import FileStore, RankZeroStore, Store
from teddy.models.identity import module_digest
from teddy.sparsity import check_number
from teddy.store.atomic import UNFINISHED, StrPath
from teddy.store.folders import (
    check_owner,
    check_same,
    make_folder,
    read_record,
    try_lock,
    write_record,
)
from teddy.store.tensors import read_entry
from teddy.training import Checkpoint, Epoch, World, seeded
from teddy.training.config import recorded_config
from teddy.training.distributed import digest_of
from teddy.training.loader_specs import loader_text

# Seconds to wait for a process that is about to end.
_LOCK_TIMEOUT = 20.0


class SearchFolder:
    """Files of a search, written by the rank-zero process; without a path, none are written.

    Args:
        path: The folder, which is created.
        seconds: Time between two checkpoints of a training.
    """

    def __init__(self, path: StrPath | None, seconds: float = 30.0) -> None:
        self.path = None if path is None else Path(path)
        self.seconds = check_number(seconds, "checkpoint_seconds")
        self.world = World.current()

    def within(self, name: str) -> SearchFolder:
        """Subfolder with the same time between checkpoints."""
        return SearchFolder(None if self.path is None else self.path / name, self.seconds)

    @property
    def store(self) -> Store | None:
        """Store of everything besides the trainings."""
        return None if self.path is None else RankZeroStore(FileStore(self.path))

    @property
    def checkpoints(self) -> Callable[[str], Checkpoint] | None:
        """Function from the name of a training to its checkpoint."""
        path, seconds = self.path, self.seconds
        if path is None:
            return None
        return lambda phase: Checkpoint(
            path / f"training-{phase.replace(' ', '-')}.safetensors", seconds
        )

    def histories(self) -> Iterator[tuple[str, list[Epoch]]]:
        """Finished epochs of earlier trainings, each with its name."""
        for file in [] if self.path is None else sorted(self.path.glob("training-*.safetensors")):
            entry = read_entry(file)
            if entry is not None:
                epochs = [Epoch(**epoch) for epoch in entry.metadata["history"]]
                yield file.stem.removeprefix("training-"), epochs

    @contextmanager
    def held(self, settings: Callable[[], dict[str, Any]]) -> Iterator[None]:
        """Lock the folder for a search; raise if it holds a search with other settings."""
        if self.path is None:
            yield
            return
        lock, refused = FileLock(self.path / "lock"), None
        if self.world.is_rank_zero:
            try:
                self._open(self.path, lock, settings())
            except InputError as error:
                refused = str(error)
        try:
            refused = self.world.shared(refused)
            if refused is not None:
                raise InputError(refused)
            yield
        finally:
            lock.release()

    def _open(self, path: Path, lock: FileLock, settings: dict[str, Any]) -> None:
        make_folder(path)
        check_owner(path, "search.json", ["lock"], "search")
        if not try_lock(lock, _LOCK_TIMEOUT):
            raise InputError(f"{path}: in use by another process, expected one at a time")
        for unfinished in path.glob(f"{UNFINISHED}*"):  # of a process that was killed
            unfinished.unlink(missing_ok=True)
        record, settings = path / "search.json", json.loads(json.dumps(settings))
        check_same(path, read_record(record) if record.exists() else settings, settings, "a search")
        write_record(record, settings)


def folder_of(checkpoint: StrPath | SearchFolder | None) -> SearchFolder:
    """Folder of a search, from its path."""
    return checkpoint if isinstance(checkpoint, SearchFolder) else SearchFolder(checkpoint)


def search_settings(
    problem: Problem, method: str, level: SparsityLevel, options: dict[str, Any]
) -> dict[str, Any]:
    """Everything that determines the result of a search, as plain data."""
    x = problem.prepared.x
    parts = [x] if x.layout == torch.strided else [x.crow_indices(), x.col_indices(), x.values()]
    tensors = [*parts, problem.prepared.y]
    tensors += [problem.prepared[mask] for mask in MASKS]
    edges, weight = problem.views.full.edges, getattr(problem.task, "weight", None)
    tensors += edges.tensors()
    return {
        "method": method,
        **options,
        "model": _model(problem),
        **problem.source.options,
        **asdict(level),
        "seed": problem.seed,
        **recorded_config(problem.config),
        "loader": loader_text(problem.loader),
        "inductive": problem.views.grows,
        "inference": problem.views.inference,
        "device": problem.device.type,
        "teacher": None if problem.teacher is None else problem.teacher.name,
        "task": str(problem.task),
        "class_weight": None if weight is None else weight.tolist(),
        "graph": edges.fingerprint(),
        "data": digest_of(tensors),
        **problem.weight_budget.settings(),
        **problem.kind.identity(problem.prepared),
    }


def _model(problem: Problem) -> str:
    """Name of the model; for your own module with a digest of its settings and weights."""
    model = problem.source.model
    if isinstance(model, str):
        return model
    with seeded(problem.seed, problem.device):
        network = problem.source.make(0, 0)
    name = type(model).__qualname__
    if not isinstance(model, nn.Module):
        name = getattr(model, "__qualname__", "a function")
    # Lazy weights come from the seed.
    tensors = [t for t in (*network.parameters(), *network.buffers()) if not is_lazy(t)]
    both = module_digest(network) + digest_of(tensors)
    return f"{name} {hashlib.sha256(both.encode()).hexdigest()[:16]}"
