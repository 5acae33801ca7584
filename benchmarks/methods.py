"""Time of methods on the same kernels, of the Sinkhorn term against POT's, and of jobs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from typing import Any

import torch

from benchmarks.timing import Comparison, compare, milliseconds
from benchmarks.training import data_sets
from teddy.kernels import jit
from teddy.methods import METHODS, SparsityLevel, make_problem
from teddy.methods.wasserstein import class_separation
from teddy.sweep import Grid, Settings, run_sweep
from teddy.training import TrainConfig

#: Time of a level in the paper's Table 3 (on a GPU), UGS and WD-GLT over TEDDY.
PAPER = {
    ("cora", "gcn"): (6.30 / 2.12, 54.11 / 2.12),
    ("cora", "gin"): (4.38 / 1.86, 68.55 / 1.86),
    ("citeseer", "gcn"): (8.21 / 2.65, 83.73 / 2.65),
    ("citeseer", "gin"): (6.61 / 2.51, 108.74 / 2.51),
}


def simulations(names: tuple[str, ...], models: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Time one level of TEDDY, UGS and WD-GLT: choosing, and training the ticket.

    All use the same small number of epochs. A level is a round of masks, for methods that have
    masks, and the training; the dense model is not counted.
    """
    epochs = 15
    for name, data in data_sets(names):
        for kind in models:
            if (name, kind) not in PAPER:
                continue
            seconds = {
                method: _simulation(data, kind, method, epochs)
                for method in ("teddy", "ugs", "wd-glt")
            }
            ugs, wd_glt = (seconds[m] / seconds["teddy"] for m in ("ugs", "wd-glt"))
            yield {
                "work": f"{name} {kind} level 1, {epochs} epochs",
                "seconds": seconds,
                "ugs_over_teddy": ugs,
                "wd_glt_over_teddy": wd_glt,
                "paper": PAPER[name, kind],
            }


def _simulation(data: Any, kind: str, method: str, epochs: int) -> float:
    """Median seconds of a round and a training; the first of four turns warms up."""
    times = []
    for _ in range(4):
        problem = make_problem(data, kind, Settings(TrainConfig(epochs)), method=method)
        problem.dense()
        started = time.perf_counter()
        list(METHODS[method].tickets(problem, [SparsityLevel.from_schedule(1)]))
        times.append(time.perf_counter() - started)
    return sorted(times[1:])[1]


def separation(num_nodes: int = 2708, num_classes: int = 7) -> Comparison:
    """Compare the Wasserstein term and its gradient, at Cora's size, with POT's Sinkhorn."""
    torch.manual_seed(0)
    logits = (2 * torch.randn(num_nodes, num_classes)).requires_grad_()

    def term() -> list[float]:
        return milliseconds(lambda: class_separation(logits).backward())

    def pot() -> list[float]:
        kernels, jit.numba = jit.numba, None
        try:
            return term()
        finally:
            jit.numba = kernels

    return compare(f"WD-GLT's term, {num_nodes} nodes, against POT", term, pot)


def throughput() -> dict[str, Any]:
    """Time a sweep with one job and with two."""
    grid = Grid(["citeseer"], ["gcn"], ["teddy", "random"], [1, 10], range(4))
    settings = Settings(TrainConfig(epochs=100))
    seconds = {}
    for jobs in (1, 2):
        # A small sweep first, which starts processes and loads kernels.
        with tempfile.TemporaryDirectory() as folder:
            warm = Grid(["citeseer"], ["gcn"], ["teddy", "random"], [1], range(2))
            run_sweep(warm, folder, Settings(TrainConfig(epochs=2)), jobs=jobs)
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            run_sweep(grid, folder, settings, jobs=jobs)
            seconds[jobs] = time.perf_counter() - started
    return {
        "work": f"a sweep of {len(grid.cells)} cells, 1 job against 2",
        "seconds": seconds,
        "ratio": seconds[1] / seconds[2],
    }
