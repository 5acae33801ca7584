"""Small sweeps, for the tests."""

from __future__ import annotations

import time

from cli.command import Started
from teddy.sweep import Grid, Settings
from teddy.sweep.results_table import read_table
from teddy.training import TrainConfig

SETTINGS = Settings(TrainConfig(epochs=4), model_options={"hidden_channels": 8})


SWEEP = ["--methods", "teddy,ugs,random", "--models", "gcn", "--levels", "0,1,2,4", "--seeds",
         "3", "--hidden-channels", "64", "--epochs", "30"]  # fmt: skip


def grid_of(graph, methods=("teddy", "ugs"), levels=(0, 1, 3), seeds=(0, 1)):
    return Grid([graph], ["gcn"], list(methods), list(levels), list(seeds))


def results(folder):
    """Everything but times."""
    rows = read_table(folder)
    return [{k: v for k, v in row.items() if not k.startswith(("seconds", "peak"))} for row in rows]


def start(graph, out, *more):
    return Started("sweep", graph, *SWEEP, "--out", out, *more)


def wait_for_cells(out, count, process):
    for _ in range(6000):
        found = len(list((out / "cells").glob("*.json"))) if (out / "cells").is_dir() else 0
        if found >= count or process.poll() is not None:
            return found
        time.sleep(0.01)
    raise AssertionError("no cells in a minute")
