"""A sweep over a graph whose edges have weights."""

from __future__ import annotations

import numpy as np
import pytest

import teddy
from cli.command import save_npz
from conftest import small_graph
from sweep.sweeps import SETTINGS, grid_of
from teddy.sweep import run_sweep


def test_a_sweep_takes_weights_and_notices_others(tmp_path):
    ends = small_graph().edge_index.numpy()
    weights = 0.5 + (ends[0] * ends[1]) % 7
    graph = str(save_npz(tmp_path / "graph.npz", edge_weight=weights))
    grid = grid_of(graph, methods=("teddy:weighted=true",), levels=(1,), seeds=(0,))
    (row,) = run_sweep(grid, tmp_path / "out", SETTINGS).rows
    level = row["graph_sparsity"]
    data = teddy.load_dataset(graph)
    ticket = teddy.find_ticket(
        data, "gcn", level, level, epochs=4, hidden_channels=8, weighted=True
    )
    assert row["test"] == ticket.info.ticket.test
    assert row["dense_test"] == ticket.info.dense.test
    save_npz(tmp_path / "graph.npz", edge_weight=np.ones(weights.size))
    with pytest.raises(teddy.InputError, match="graph"):
        run_sweep(grid, tmp_path / "out", SETTINGS)
