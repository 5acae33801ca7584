"""What the machine has left, and what a process took of it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

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
