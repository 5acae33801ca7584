"""Tensors that are costly to compute, kept on disk from one process to the next."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as serialise
from torch import Tensor

from teddy.errors import InputError
from teddy.numbers import check_number
from teddy.store.atomic import write_atomically

_GIB = 2.0  # of all files together, where TEDDY_CACHE_GIB doesn't say otherwise
_ABANDONED = 86_400.0  # seconds after which an unfinished file is nobody's


def folder() -> Path:
    """Where the files are: in ``TEDDY_CACHE``, by default ``~/.cache/teddy``.

    Example:
        >>> folder().name
        'tensors'
    """
    named, home = os.environ.get("TEDDY_CACHE"), os.environ.get("XDG_CACHE_HOME")
    if named:
        return Path(named).expanduser() / "tensors"
    return (Path(home) if home else Path("~/.cache").expanduser()) / "teddy" / "tensors"


def load(key: str) -> dict[str, Tensor] | None:
    """Return what was saved under a key; None if it isn't there, or isn't whole.

    Example:
        >>> load("never saved") is None
        True
    """
    path = _path(key)
    try:
        with safe_open(path, framework="pt") as file:
            names = list(file.keys())
            tensors = {name: file.get_tensor(name) for name in names}
            expected = (file.metadata() or {}).get("sha256")
    except (OSError, RuntimeError, SafetensorError):
        return None
    if _digest(key, tensors) != expected:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # used now
    return tensors


def save(key: str, tensors: dict[str, Tensor]) -> None:
    """Keep tensors under a key.

    Files that weren't used for longest make room: all together take at most ``TEDDY_CACHE_GIB``
    (2 by default). Where nothing can be written nothing is kept, and nothing else happens.

    Example:
        >>> import tempfile, unittest.mock
        >>> with unittest.mock.patch.dict("os.environ", TEDDY_CACHE=tempfile.mkdtemp()):
        ...     save("one", {"x": torch.ones(1)})
        ...     load("one")
        {'x': tensor([1.])}
    """
    most = check_number(os.environ.get("TEDDY_CACHE_GIB", _GIB), "TEDDY_CACHE_GIB") * 2**30
    if sum(tensor.nbytes for tensor in tensors.values()) > most:
        return
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    content = serialise(tensors, {"sha256": _digest(key, tensors)})
    path = _path(key)
    with contextlib.suppress(OSError, InputError):
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_room(path.parent, most - len(content), path)
        write_atomically(path, content)


def _path(key: str) -> Path:
    return folder() / f"{hashlib.sha256(key.encode()).hexdigest()}.safetensors"


def _digest(key: str, tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256(key.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"\n{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _make_room(place: Path, left: float, replaced: Path) -> None:
    """Delete what was used longest ago until the others take no more than ``left`` bytes."""
    files = []
    for path in place.iterdir():
        with contextlib.suppress(OSError):  # another process deleted it
            state = path.stat()
            if path.suffix == ".safetensors" and path != replaced:
                files.append((state.st_mtime, state.st_size, path))
            elif path.name.startswith(".teddy-") and time.time() - state.st_mtime > _ABANDONED:
                path.unlink()
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= left:
            break
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
