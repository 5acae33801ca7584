"""Memory, threads and interrupts of this process.

``TEDDY_PROCESS=off`` in the environment disables the process-wide settings of
:func:`wait_passively` and :func:`keep_freed_memory`.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_CGROUP = Path("/sys/fs/cgroup")
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_MMAP_MAX = -1, -3, -4
# Setting any of these disables glibc's own adjustment. Afterwards they get the values at which that
# adjustment ends in a process that has freed large blocks.
_AFTERWARDS = {_M_MMAP_MAX: 65536, _M_MMAP_THRESHOLD: 32 << 20, _M_TRIM_THRESHOLD: 64 << 20}


def free_memory() -> int:
    """Free bytes within the limits of the machine, its container and this process."""
    import psutil

    free = int(psutil.virtual_memory().available)
    limit, used = (_number(_CGROUP / name) for name in ("memory.max", "memory.current"))
    if limit is not None:
        free = min(free, limit - (used or 0))
    try:
        import resource
    except ImportError:  # not on this system
        return max(0, free)
    most, _ = resource.getrlimit(resource.RLIMIT_DATA)
    if most != resource.RLIM_INFINITY:
        free = min(free, most - int(psutil.Process().memory_info().rss))
    return max(0, free)


def reset_peak_memory() -> None:
    """Reset the peak of :func:`peak_memory`, where the system supports it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int | None:
    """Peak resident bytes since :func:`reset_peak_memory`; None where they are unknown."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:  # not on this system
        return None
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def _number(path: Path) -> int | None:
    """Number in a system file; None without the file, or if it holds "max"."""
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def keep_interrupts() -> None:
    """Raise a Ctrl-C again that arrives where Python ignores exceptions, as in a finaliser."""
    usual = sys.unraisablehook
    if getattr(usual, "keeps_interrupts", False):
        return

    def hook(error: Any) -> None:
        if issubclass(error.exc_type, KeyboardInterrupt):
            # A moment later: here it would be ignored again.
            threading.Timer(0.01, _thread.interrupt_main).start()
        else:
            usual(error)

    hook.keeps_interrupts = True  # type: ignore[attr-defined]
    sys.unraisablehook = hook


def wait_passively() -> None:
    """Let OpenMP threads sleep while they wait, since spinning takes the cores from other threads.

    Torch reads ``OMP_WAIT_POLICY`` on import, so this has no effect afterwards, nor where the
    variable is set.
    """
    if "torch" not in sys.modules and os.environ.get("TEDDY_PROCESS") != "off":
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@contextmanager
def keep_freed_memory() -> Iterator[None]:
    """Keep freed memory in the process within the context, and release it afterwards (glibc only).

    Otherwise every large tensor that a step frees is returned to the system, and the next one is
    mapped and cleared page by page, which can cost more than the arithmetic.
    """
    libc = None if os.environ.get("TEDDY_PROCESS") == "off" else _glibc()
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
