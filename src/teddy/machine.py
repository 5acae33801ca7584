"""What the machine has left, and what a process took of it."""

from __future__ import annotations

import _thread
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

_CGROUP = Path("/sys/fs/cgroup")


def free_memory() -> int:
    """Bytes that this process can still get: of the machine, of its container, of its own limit.

    Example:
        >>> free_memory() > 0
        True
    """
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


def forget_peak_memory() -> None:
    """Let :func:`peak_memory` begin anew, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int | None:
    """Bytes that this process had resident at most, since they were forgotten; None: not known.

    Example:
        >>> peak = peak_memory()
        >>> peak is None or peak > 1_000_000
        True
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:  # not on this system
        return None
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def _number(path: Path) -> int | None:
    """What a file of the kernel says; None: nothing, or "max"."""
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def keep_interrupts() -> None:
    """Deliver a Ctrl-C anew that arrives where Python ignores exceptions, as in a finaliser.

    Python would print a traceback and go on as if nothing had happened.
    """
    usual = sys.unraisablehook
    if getattr(usual, "keeps_interrupts", False):
        return

    def hook(found: Any) -> None:
        if issubclass(found.exc_type, KeyboardInterrupt):
            # A moment later: here it would be ignored once more.
            threading.Timer(0.01, _thread.interrupt_main).start()
        else:
            usual(found)

    hook.keeps_interrupts = True  # type: ignore[attr-defined]
    sys.unraisablehook = hook
