"""Processes that answer HTTP requests on one port and share the memory of one graph.

The parent loads everything, then forks: what a worker does not change, it shares with the others.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from teddy.errors import InputError

# Seconds that requests in flight have after a signal to stop.
_GRACE = 10
# A worker that lives shorter than this many seconds is started again after a pause.
_SHORT_LIFE = 1.0
# The service ends after that many errors in a row of workers that lived for less than a minute.
_MOST_FAILURES = 5
_STOPS = (signal.SIGTERM, signal.SIGINT)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is any that is free.

    Raises:
        InputError: if the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named asyncio sets TCP_NODELAY; else answers wait 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise InputError(
            f"cannot listen on {host}:{port} ({error.strerror or error}), expected a free port"
        ) from None
    listener.listen(2048)
    listener.set_inheritable(True)
    return listener


def run(make_app: Callable[[], Any], listener: socket.socket, workers: int = 1) -> None:
    """Answer requests until SIGTERM or Ctrl-C; a worker that dies is started again.

    Args:
        make_app: Makes the application, once in each worker.
        listener: Where they come.
        workers: Number of processes.
    """
    if workers == 1:
        for number in _STOPS:
            signal.signal(number, _leave)
        _serve(make_app, listener)
        return
    with tempfile.TemporaryDirectory(prefix="teddy-serve-") as folder:
        # The metrics of all workers are in files of this folder.
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        try:
            _Parent(make_app, listener, workers).run()
        finally:
            del os.environ["PROMETHEUS_MULTIPROC_DIR"]


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


def _serve(make_app: Callable[[], Any], listener: socket.socket) -> None:
    import uvicorn

    config = uvicorn.Config(
        make_app(), log_level="warning", access_log=False, timeout_graceful_shutdown=_GRACE,
        lifespan="off",
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listener])


class _Parent:
    """The process that starts workers and waits for them."""

    def __init__(self, make_app: Callable[[], Any], listener: socket.socket, workers: int) -> None:
        self.make_app, self.listener = make_app, listener
        self.workers, self.stopping, self.failures = workers, False, 0
        self.started: dict[int, float] = {}
        self.pipe = os.pipe()  # its end tells workers that the parent was killed

    def run(self) -> None:
        """Keep the workers running until a signal stops them."""
        handlers = {number: signal.signal(number, self._stop) for number in _STOPS}
        try:
            for _ in range(self.workers):
                if not self.stopping:
                    self._start()
            while self.started:
                self._wait()
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            for end in self.pipe:
                os.close(end)
        if self.failures == _MOST_FAILURES:
            raise InputError("workers end as soon as they start, see the errors above")

    def _start(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)  # until the child is noted
        child = os.fork()
        if child:
            self.started[child] = time.monotonic()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
            return
        code = 1
        try:
            for number in _STOPS:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
            os.close(self.pipe[1])
            threading.Thread(target=self._watch, daemon=True).start()
            torch.set_num_threads(1)  # each worker has a core; threads do not survive a fork
            _serve(self.make_app, self.listener)
            code = 0
        except KeyboardInterrupt:
            code = 0
        except BaseException as error:
            print(f"teddy: a worker failed ({type(error).__name__}: {error})", file=sys.stderr)
        finally:
            os._exit(code)

    def _watch(self) -> None:
        """Stop this worker when the parent has ended, however it did."""
        os.read(self.pipe[0], 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _wait(self) -> None:
        """Wait for a worker to end, and start it again unless all are to stop."""
        try:
            child, status = os.wait()
        except ChildProcessError:
            self.started.clear()
            return
        started = self.started.pop(child, None)
        if started is None or self.stopping:
            return
        life = time.monotonic() - started
        failed = os.waitstatus_to_exitcode(status) == 1 and life < 60
        self.failures = self.failures + 1 if failed else 0
        if self.failures == _MOST_FAILURES:
            self._stop()
            return
        print(f"teddy: worker {child} ended (status {status}), started again", file=sys.stderr)
        if life < _SHORT_LIFE:
            time.sleep(_SHORT_LIFE)
        if not self.stopping:
            self._start()

    def _stop(self, number: int = 0, frame: FrameType | None = None) -> None:
        self.stopping = True
        for child in list(self.started):
            try:
                os.kill(child, signal.SIGTERM)
            except ProcessLookupError:
                continue
