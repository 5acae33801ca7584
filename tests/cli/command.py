"""The command in another process, for the tests."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np

from conftest import small_graph

FAST = ["--epochs", "4", "--hidden", "16"]
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
    with chdir(cwd), redirect_stdout(out), redirect_stderr(errors):
        try:
            main([str(argument) for argument in arguments])
            code = 0
        except SystemExit as end:
            code = end.code or 0
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), errors.getvalue())


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
