"""Atomic writes: a file is complete or does not exist."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import tempfile
from pathlib import Path

import psutil

from teddy.errors import InputError

#: Prefix of the names of unfinished files.
UNFINISHED = ".teddy-"

StrPath = str | os.PathLike[str]


def write_atomically(path: StrPath, content: bytes) -> None:
    """Write a file in full or not at all.

    Raises:
        InputError: if it can't be written; an existing file is unchanged.

    Example:
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "note"
        >>> write_atomically(path, b"whole")
        >>> path.read_bytes()
        b'whole'
    """
    target, temporary = _target(path), None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=_process_prefix(os.getpid()))
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(target)
    except OSError as error:
        raise InputError(f"{path}: can't be written ({error.strerror})") from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def remove_unfinished(folder: StrPath) -> None:
    """Delete unfinished files in a folder that killed processes of this machine have left."""
    ours = re.compile(re.escape(_process_prefix("")[:-1]) + r"(\d+)-")
    for path in Path(folder).rglob(f"{UNFINISHED}*"):
        written_by = ours.match(path.name)
        if written_by is not None and not psutil.pid_exists(int(written_by[1])):
            path.unlink(missing_ok=True)


def _process_prefix(process: int | str) -> str:
    """Prefix of the names of unfinished files of a process of this machine."""
    machine = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
    return f"{UNFINISHED}{machine}-{process}-"


def check_writable(path: StrPath) -> None:
    """Raise if :func:`write_atomically` would raise.

    Example:
        >>> check_writable("no-such-folder/a.ticket")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: no-such-folder/a.ticket: there is no folder no-such-folder, ...
    """
    target = _target(path)
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=UNFINISHED):
            pass
    except OSError as error:
        raise InputError(f"{path}: can't be written ({error.strerror})") from None


def _target(path: StrPath) -> Path:
    """Return the path with symbolic links resolved, or raise."""
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            raise InputError(f"{path}: is not a file, expected a file or a new name")
    except OSError as error:
        raise InputError(f"{path}: can't be written ({error.strerror})") from None
    if not target.parent.is_dir():
        raise InputError(f"{path}: there is no folder {Path(path).parent}, create it first")
    return target


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
