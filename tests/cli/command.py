"""The command for the tests: in a new process, in one forked ready to go, and in this one."""

from __future__ import annotations

import atexit
import functools
import io
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import numpy as np
import typer.main

from conftest import small_graph
from teddy.cli import progress

#: Typer builds the commands anew for each call, which takes longer than most of the calls.
typer.main.get_command = functools.cache(typer.main.get_command)

FAST = ["--epochs", "4", "--hidden-channels", "16"]
DOCUMENTED = (
    "dataset", "model", "method", "graph_sparsity", "weight_sparsity", "seeds", "edges", "weights",
    "macs", "dense", "ticket", "verdict", "seconds", "ticket_file",
)  # fmt: skip


def run(*arguments, cwd, **environment):
    return subprocess.run(
        [sys.executable, "-m", "teddy", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def run_here(*arguments, cwd):
    """The same in this process, which has loaded everything already."""
    from teddy.cli import main

    out, errors = io.StringIO(), io.StringIO()
    progress.SECONDS = math.inf  # a slow machine prints no lines of progress
    with chdir(cwd), redirect_stdout(out), redirect_stderr(errors):
        try:
            main([str(argument) for argument in arguments])
            code = 0
        except SystemExit as end:
            code = end.code or 0
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), errors.getvalue())


#: What the commands load when they run; a process that has loaded it forks those of the tests.
LOADED = [
    "torch_geometric", "teddy.cli.app", "teddy.methods", "teddy.models", "teddy.data",
    "teddy.ticket", "teddy.training", "teddy.sweep", "teddy.scale", "optuna", "joblib", "ibis",
    "duckdb", "pyarrow.parquet", "pytest", "hypothesis",
]  # fmt: skip


def fork(target, *arguments):
    """Start target(*arguments) in a process that has the library loaded and done nothing yet."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LOADED)
    process = context.Process(target=target, args=arguments)
    process.start()
    return process


class Started:
    """The command in a forked process with its own session, used as a ``subprocess.Popen``.

    With ``code``, the words are of a program that is run in place of the command.
    """

    def __init__(self, *arguments, cwd=".", code=None, **environment):
        self.folder = tempfile.TemporaryDirectory()
        self.outputs = [Path(self.folder.name, name) for name in ("out", "errors")]
        words = [str(argument) for argument in arguments]
        environment = {**os.environ, **environment}
        self.process = fork(_live, words, code, str(cwd), environment, self.outputs)
        self.pid = self.process.pid

    @property
    def returncode(self):
        return self.process.exitcode

    def poll(self):
        return self.returncode

    def send_signal(self, number):
        with suppress(ProcessLookupError):  # it has ended
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout=None):
        """What it has said, once it has ended."""
        self.process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("teddy", timeout)
        return tuple(path.read_text() for path in self.outputs)


def _live(arguments, code, cwd, environment, outputs):
    """All of a process's life but the start."""
    os.setsid()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for path, stream in zip(outputs, (sys.stdout, sys.stderr), strict=True):
        os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND), stream.fileno())
    sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    sys.argv = ["teddy", *arguments]
    progress.SECONDS = math.inf
    try:
        exec(code or "from teddy.cli import main; main()", {"__name__": "__main__"})
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()


def run_forked(*arguments, cwd=".", code=None, **environment):
    """As ``run``, without the seconds that loading the library takes."""
    started = Started(*arguments, cwd=cwd, code=code, **environment)
    out, errors = started.communicate(timeout=300)
    return subprocess.CompletedProcess(arguments, started.returncode, out, errors)


def refused(done):
    """One line on stderr, exit code 2, nothing on stdout; return the line."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("teddy: ")
    return done.stderr.strip()


def save_npz(path: Path, **changes):
    data = small_graph()
    arrays = {key: data[key].numpy() for key in data.keys()}  # noqa: SIM118
    np.savez(path, **(arrays | changes))
    return path
