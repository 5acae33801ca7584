"""Settings of the whole process, for speed: all of them are here.

- :func:`wait_passively`, on import of ``teddy``: OpenMP threads sleep while they wait.
- :func:`keep_freed_memory`, during a training: glibc keeps freed memory for the next step.

``TEDDY_PROCESS=off`` in the environment switches both off.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_MMAP_MAX = -1, -3, -4
# Setting any of these ends glibc's own adjustment of them. Afterwards they are set to where that
# adjustment ends in a process that has freed large blocks.
_AFTERWARDS = {_M_MMAP_MAX: 65536, _M_MMAP_THRESHOLD: 32 << 20, _M_TRIM_THRESHOLD: 64 << 20}


def switched_off() -> bool:
    """Whether ``TEDDY_PROCESS=off`` forbids settings of the whole process.

    Example:
        >>> import unittest.mock
        >>> with unittest.mock.patch.dict("os.environ", TEDDY_PROCESS="off"):
        ...     switched_off()
        True
    """
    return os.environ.get("TEDDY_PROCESS") == "off"


def wait_passively() -> None:
    """Let OpenMP threads sleep while they wait; spinning, they take the cores from other threads.

    Torch reads ``OMP_WAIT_POLICY`` when it is loaded, so this does nothing after that, nor where
    the variable is set.
    """
    if "torch" not in sys.modules and not switched_off():
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@contextmanager
def keep_freed_memory() -> Iterator[None]:
    """Within the context glibc keeps freed memory for the process; afterwards it is given back.

    Otherwise every large tensor that a step frees goes back to the system, and the next step's is
    mapped and cleared page by page, which can cost more than the arithmetic. Elsewhere than on
    glibc this does nothing.

    Example:
        >>> with keep_freed_memory():
        ...     pass
    """
    libc = None if switched_off() else _glibc()
    if libc is None:
        yield
        return
    libc.mallopt(_M_MMAP_MAX, 0)
    libc.mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)
    try:
        yield
    finally:
        for setting, value in _AFTERWARDS.items():
            libc.mallopt(setting, value)
        libc.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    try:
        libc = ctypes.CDLL(None)
        return libc if hasattr(libc, "gnu_get_libc_version") else None
    except (OSError, TypeError):
        return None
