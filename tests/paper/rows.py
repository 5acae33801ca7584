"""Rows of a sweep that was never run, for tests of what is made of rows."""

from __future__ import annotations

from teddy.methods import SparsityLevel
from teddy.methods.spec import MethodSpec

DENSE = 80.0


def row(dataset, model, method, simulation, test, seed=0, dense=DENSE, **columns):
    level = MethodSpec.parse(method).level(SparsityLevel.from_schedule(simulation))
    return {
        "dataset": dataset, "model": model, "method": method, "simulation": simulation,
        "seed": seed, "test": test, "last_test": test - 1, "dense_test": dense,
        "graph_sparsity": level.graph_sparsity, "weight_sparsity": level.weight_sparsity,
        "seconds_round": 0.0, "seconds_sparse": 1.0, "test_rows": 1000, **columns,
    }  # fmt: skip


def curve(dataset, model, method, tests, levels=(1, 5, 10, 15, 20), **columns):
    """Three seeds at several levels with the same spread, so that every difference is clear."""
    return [
        row(dataset, model, method, i, test, seed, **columns)
        for i, test in zip(levels, tests, strict=True)
        for seed in range(3)
    ]
