"""What a process does that torchrun has started: end when the job does."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading


def join_job() -> None:
    """Under torchrun, end with it however it ends, and say why when it ends this process."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return
    # A thread of its own: the others may be waiting for a process that is no more.
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
    """How this process is called in messages: ``teddy``, with its number if it isn't the first.

    Example:
        >>> name()
        'teddy'
    """
    rank = os.environ.get("RANK", "0")
    return "teddy" if rank == "0" else f"teddy: process {rank}"


def _wait_to_end() -> None:
    number = signal.sigwait({signal.SIGTERM})
    print(
        f"{name()}: told to end, as when another process of the job has; with --checkpoint the "
        "same command goes on",
        file=sys.stderr,
        flush=True,
    )
    os._exit(128 + number)
