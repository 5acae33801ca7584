"""Data sets of a sweep: loaded once per process, and identified by a digest."""

from __future__ import annotations

import hashlib
from typing import Any

import torch
from torch import Tensor

from teddy.methods.make_problem import load_data
from teddy.settings import Settings
from teddy.sweep.resolution import HeldOut
from teddy.tasks import Kind, kind_for, parse_task

_LOADED: dict[tuple[Any, ...], Any] = {}


def cached_dataset(name: str, settings: Settings, version: str) -> Any:
    """Load a data set, unless it is the one that this process loaded last."""
    task = settings.task
    key = name, settings.data, task.task, task.directed, task.target, version
    if key not in _LOADED:
        _LOADED.clear()
        _LOADED[key] = load_data(name, settings)
    return _LOADED[key]


def data_version(name: str, settings: Settings) -> str:
    """Load a data set and return a sha256 of everything that affects results."""
    data, digest = load_data(name, settings), hashlib.sha256()
    for part in _kind(data, settings).data_parts(data, settings):
        if isinstance(part, str | bytes):
            digest.update(part.encode() if isinstance(part, str) else part)
            continue
        for key, value in sorted(part.items()):
            if isinstance(value, Tensor):
                digest.update(f"{key} {list(value.shape)}".encode())
                dense = value if value.layout == torch.strided else value.to_dense()
                digest.update(dense.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def held_out(data: Any, mask: str, settings: Settings) -> HeldOut:
    """Size of the set of ``val_mask`` or ``test_mask``; of several splits, the smallest.

    Example:
        >>> import teddy
        >>> held_out(teddy.load_dataset("citeseer"), "val_mask", Settings())
        HeldOut(rows=500, resolution=0.2)
    """
    kind = _kind(data, settings)
    y, store = kind.rows(data, settings)
    splits = store[mask].reshape(y.size(0), -1).unbind(dim=1)
    sizes = [HeldOut.from_targets(kind.task, y[split]) for split in splits]
    return min(sizes, key=lambda size: size.rows)


def _kind(data: Any, settings: Settings) -> Kind:
    return kind_for(parse_task(settings.task.task), data, settings.task)
