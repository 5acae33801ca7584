"""Memory that a training frees and needs again at the next step."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_MMAP_MAX = -1, -3, -4
# Setting any of these ends glibc's own adjustment of them. Afterwards they are set to where that
# adjustment ends in a process that has freed large blocks.
_AFTERWARDS = {_M_MMAP_MAX: 65536, _M_MMAP_THRESHOLD: 32 << 20, _M_TRIM_THRESHOLD: 64 << 20}


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
    libc = _glibc()
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
