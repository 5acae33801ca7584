"""Errors of a disk that is full."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from teddy.errors import InputError

#: What engines that write themselves say of a full disk.
FULL = "No space left on device"


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what a disk says into one line with the name of the file.

    Example:
        >>> with writing(Path("bucket-000")):
        ...     raise OSError(errno.ENOSPC, "No space left on device")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: bucket-000: the disk is full (No space left on device), expected
        room beside the output; free some, or write to another disk
    """
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise disk_full(path, why) from error
        raise InputError(f"{path}: can't be written ({why})") from error


def disk_full(path: Path | str, why: str) -> InputError:
    """The error for a file that has no room."""
    return InputError(
        f"{path}: the disk is full ({why}), expected room beside the output; free some, or write "
        "to another disk"
    )
