"""The number of test rows, of tickets of every task and of results that were kept without it."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import teddy
from conftest import small_graph
from graph_sets import rings_and_trees
from hetero_graphs import hetero_module, library
from sweep.sweeps import SETTINGS, grid_of
from teddy.sweep import find_over_seeds, read_table, run_sweep, summarize
from teddy.sweep.folder import Folder
from teddy.sweep.grid import Cell
from teddy.sweep.resolution import with_test_rows

FAST = {"seeds": [0], "epochs": 1}


def test_rows_are_nodes_links_or_graphs_that_the_split_leaves_for_the_test():
    data = small_graph()
    assert find_over_seeds(data, model="gcn", hidden=4, **FAST).test_rows == data.test_mask.sum()
    linked = teddy.split_links(data)
    links = {"model": "gcn", "hidden": 4, "task": "link-prediction"}
    for graph in (data, linked):  # split by the search, or before
        found = find_over_seeds(graph, **links, **FAST)
        assert found.test_rows == int(linked.test_mask.sum())
    graphs = rings_and_trees()
    graphs_found = find_over_seeds(
        graphs, model="gcn", hidden=4, task="graph-classification", **FAST
    )
    assert graphs_found.test_rows == sum(bool(graph.test_mask) for graph in graphs)
    hetero = library()
    found = find_over_seeds(hetero, model=hetero_module(hetero), target="paper", **FAST)
    assert found.test_rows == int(hetero["paper"].test_mask.sum())


def as_before(row):
    """A row as an earlier version wrote it."""
    return {name: value for name, value in row.items() if name != "test_rows"}


def test_a_folder_and_a_table_of_an_earlier_version_are_read(graph, tmp_path):
    grid, out = grid_of(graph, seeds=range(3)), tmp_path / "out"
    outcome = run_sweep(grid, out, SETTINGS)
    nodes = int(teddy.load_dataset(graph).test_mask.sum())
    assert {row["test_rows"] for row in outcome.rows} == {nodes}
    for row in outcome.rows:
        Folder(out).write_cell(Cell.of(row), as_before(row))
    pq.write_table(pq.read_table(out / "results.parquet").drop(["test_rows"]), out / "old.parquet")
    for path in (out, out / "old.parquet"):
        rows = read_table(path)
        assert [as_before(row) for row in rows] == [as_before(row) for row in read_table(out)]
        assert len(summarize(rows)) == 6
        (found,) = {row["test_rows"] for row in rows}
        assert nodes % found == 0  # of few nodes and rows perhaps a divisor, never more
    again = run_sweep(grid, out, SETTINGS)
    assert (again.computed, again.missing) == (0, 0)


def test_a_row_that_says_how_many_nodes_were_tested_speaks_for_the_others():
    rows = [{"dataset": "a", "split": "public", "test": 50.0} for _ in range(3)]
    rows[1]["test_rows"] = 40
    assert [row["test_rows"] for row in with_test_rows(rows)] == [40, 40, 40]
    assert "test_rows" not in rows[0]


@pytest.mark.parametrize("nodes", [7, 257, 1000, 1331, 48603, 2213091])
def test_the_number_of_nodes_is_told_from_accuracies(nodes):
    right = np.random.default_rng(0).integers(1, nodes, 12)
    rows = [{"dataset": "a", "split": "public", "test": 100.0 * k / nodes} for k in right.tolist()]
    rows.append({"dataset": "a", "split": "20/40/40", "test": 50.0, "last_test": None})
    *found, other = (row["test_rows"] for row in with_test_rows(rows))
    assert set(found) == {nodes}
    assert other == 2


def test_numbers_that_are_no_accuracies_leave_no_verdict():
    tests = np.random.default_rng(0).normal(80, 0.1, 3).tolist()
    (row, *_) = with_test_rows([{"dataset": "a", "test": test} for test in tests])
    assert row["test_rows"] == 1
    json.dumps(row)
