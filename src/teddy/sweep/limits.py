"""Limits of a sweep's process: its memory, and its parent's life."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from teddy.machine import keep_interrupts


def ended_with_parent(parent: int | None) -> Callable[..., None] | None:
    """End when the process that started this one has ended, however it did."""
    if parent is None:
        return None

    def check(*_: object) -> None:
        if os.getppid() != parent:
            os._exit(1)

    return check


def show_messages() -> None:
    """Let what the library says in this process be seen on stderr, as the command line does."""
    logging.basicConfig(level=logging.WARNING, format="teddy: %(message)s")
    logging.getLogger("teddy").setLevel(logging.INFO)
    keep_interrupts()


@contextmanager
def memory_limit(limit: int | None) -> Iterator[None]:
    """Within the context an allocation beyond the limit, in bytes, is an error.

    What would otherwise take the machine down becomes a recorded failure of one series.

    Example:
        >>> with memory_limit(None):
        ...     pass
    """
    try:
        import resource
    except ImportError:  # not on this system
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_DATA)
    if limit is None or (before[0] != resource.RLIM_INFINITY and before[0] <= limit):
        yield
        return
    resource.setrlimit(resource.RLIMIT_DATA, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
