"""Tensors that are costly to compute, kept on disk from one process to the next."""

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

_GIB = 2.0  # of all files together, where TEDDY_CACHE_GIB doesn't say otherwise
_ABANDONED = 86_400.0  # seconds after which an unfinished file is nobody's


def folder() -> Path:
    """Folder of the files: in ``TEDDY_CACHE``, by default ``~/.cache/teddy``."""
    named, home = os.environ.get("TEDDY_CACHE"), os.environ.get("XDG_CACHE_HOME")
    if named:
        return Path(named).expanduser() / "tensors"
    return (Path(home) if home else Path("~/.cache").expanduser()) / "teddy" / "tensors"


def load(key: str) -> dict[str, Tensor] | None:
    """Return the tensors saved under a key; None if there are none, or the file is damaged."""
    entry = read_entry(_path(key))
    if entry is None or entry.metadata.get("key") != key:
        return None
    with contextlib.suppress(OSError):
        os.utime(_path(key))  # used now
    return entry.tensors


def save(key: str, tensors: dict[str, Tensor]) -> None:
    """Keep tensors under a key.

    All files together take at most ``TEDDY_CACHE_GIB`` (2 by default): those unused for longest
    are deleted. Where nothing can be written nothing is kept, and nothing else happens.

    Example:
        >>> import tempfile, unittest.mock
        >>> with unittest.mock.patch.dict("os.environ", TEDDY_CACHE=tempfile.mkdtemp()):
        ...     save("one", {"x": Tensor([1.0])})
        ...     load("one")
        {'x': tensor([1.])}
    """
    most = check_number(os.environ.get("TEDDY_CACHE_GIB", _GIB), "TEDDY_CACHE_GIB") * 2**30
    if sum(tensor.nbytes for tensor in tensors.values()) > most:
        return
    content, path = entry_bytes(Entry(tensors, {"key": key})), _path(key)
    with contextlib.suppress(OSError, InputError):
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_room(path.parent, most - len(content), path)
        write_atomically(path, content)


def _path(key: str) -> Path:
    return folder() / f"{hashlib.sha256(key.encode()).hexdigest()}.safetensors"


def _make_room(place: Path, left: float, replaced: Path) -> None:
    """Delete the files unused for longest until the others take at most ``left`` bytes."""
    files = []
    for path in place.iterdir():
        with contextlib.suppress(OSError):  # another process deleted it
            state = path.stat()
            if path.suffix == ".safetensors" and path != replaced:
                files.append((state.st_mtime, state.st_size, path))
            elif path.name.startswith(UNFINISHED) and time.time() - state.st_mtime > _ABANDONED:
                path.unlink()
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= left:
            break
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
