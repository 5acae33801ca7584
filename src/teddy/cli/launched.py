"""Processes started by torchrun, which end when their job does."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading


def join_job() -> None:
    """Under torchrun, end when it ends, and print the reason."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return
    # A separate thread: the others may be waiting for a process that has ended.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    threading.Thread(target=_wait_to_end, daemon=True).start()
    launcher = os.getppid()
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG, of Linux
    except (OSError, AttributeError):
        return
    if os.getppid() != launcher:
        os._exit(1)


def name() -> str:
    """Name of this process in messages: ``teddy``, with its rank if that is not zero.

    Example:
        >>> name()
        'teddy'
    """
    rank = os.environ.get("RANK", "0")
    return "teddy" if rank == "0" else f"teddy: process {rank}"


def _wait_to_end() -> None:
    number = signal.sigwait({signal.SIGTERM})
    print(
        f"{name()}: terminated, as another process of the job may have failed; with --checkpoint "
        "the same command resumes",
        file=sys.stderr,
        flush=True,
    )
    os._exit(128 + number)
