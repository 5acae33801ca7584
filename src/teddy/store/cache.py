"""Disk cache of tensors that are costly to compute."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path

from torch import Tensor

from teddy.errors import InputError
from teddy.sparsity import check_number
from teddy.store.atomic import UNFINISHED, write_atomically
from teddy.store.tensors import Entry, entry_bytes, read_entry

_GIB = 2.0  # default of TEDDY_CACHE_GIB, the limit for all files together
_ABANDONED = 86_400.0  # seconds after which an unfinished file is deleted


def folder() -> Path:
    """Folder of the files: in ``TEDDY_CACHE``, by default ``~/.cache/teddy``."""
    cache, home = os.environ.get("TEDDY_CACHE"), os.environ.get("XDG_CACHE_HOME")
    if cache:
        return Path(cache).expanduser() / "tensors"
    return (Path(home) if home else Path("~/.cache").expanduser()) / "teddy" / "tensors"


def load(key: str) -> dict[str, Tensor] | None:
    """Return the tensors saved under a key; None without a file, or if it is damaged."""
    entry = read_entry(_path(key))
    if entry is None or entry.metadata.get("key") != key:
        return None
    with contextlib.suppress(OSError):
        os.utime(_path(key))  # used now
    return entry.tensors


def save(key: str, tensors: dict[str, Tensor]) -> None:
    """Save tensors under a key; do nothing if the folder can't be written.

    All files together take at most ``TEDDY_CACHE_GIB`` (2 by default): the least recently used
    ones are deleted.

    Example:
        >>> import tempfile, unittest.mock
        >>> with unittest.mock.patch.dict("os.environ", TEDDY_CACHE=tempfile.mkdtemp()):
        ...     save("one", {"x": Tensor([1.0])})
        ...     load("one")
        {'x': tensor([1.])}
    """
    limit = check_number(os.environ.get("TEDDY_CACHE_GIB", _GIB), "TEDDY_CACHE_GIB") * 2**30
    if sum(tensor.nbytes for tensor in tensors.values()) > limit:
        return
    content, path = entry_bytes(Entry(tensors, {"key": key})), _path(key)
    with contextlib.suppress(OSError, InputError):
        path.parent.mkdir(parents=True, exist_ok=True)
        _delete_oldest(path.parent, limit - len(content), path)
        write_atomically(path, content)


def _path(key: str) -> Path:
    return folder() / f"{hashlib.sha256(key.encode()).hexdigest()}.safetensors"


def _delete_oldest(folder: Path, limit: float, replaced: Path) -> None:
    """Delete the least recently used files until the others take at most ``limit`` bytes."""
    files = []
    for path in folder.iterdir():
        with contextlib.suppress(OSError):  # another process deleted it
            state = path.stat()
            if path.suffix == ".safetensors" and path != replaced:
                files.append((state.st_mtime, state.st_size, path))
            elif path.name.startswith(UNFINISHED) and time.time() - state.st_mtime > _ABANDONED:
                path.unlink()
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= limit:
            break
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
