"""Files that are whole or not there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from teddy.errors import InputError

#: How the names of files begin that aren't whole yet.
UNFINISHED = ".teddy-"

StrPath = str | os.PathLike[str]


def write_atomically(path: StrPath, content: bytes) -> None:
    """Write a file so that its name never stands for a part of it.

    Raises:
        InputError: if it can't be written; a file of that name stays as it was.

    Example:
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "note"
        >>> write_atomically(path, b"whole")
        >>> path.read_bytes()
        b'whole'
    """
    target, temporary = _target(path), None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=UNFINISHED)
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


def check_writable(path: StrPath) -> None:
    """Raise now if :func:`write_atomically` would for a reason that is there already.

    Example:
        >>> check_writable("no-such-folder/a.ticket")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: no-such-folder/a.ticket: there is no folder no-such-folder
    """
    target = _target(path)
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=UNFINISHED):
            pass
    except OSError as error:
        raise InputError(f"{path}: can't be written ({error.strerror})") from None


def _target(path: StrPath) -> Path:
    """Follow links to the file that is meant; refuse what isn't one."""
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            raise InputError(f"{path}: is not a file, expected one or a new name")
    except OSError as error:
        raise InputError(f"{path}: can't be written ({error.strerror})") from None
    if not target.parent.is_dir():
        raise InputError(f"{path}: there is no folder {Path(path).parent}")
    return target


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
