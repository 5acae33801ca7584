"""The command in another process, for the tests."""

from __future__ import annotations

import os
import subprocess
import sys
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
