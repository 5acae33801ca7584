"""The number of test rows, of tickets of every task and of results that were kept without it."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

import teddy
from conftest import small_graph
from graph_sets import rings_and_trees
from hetero_graphs import hetero_module, library
from sweep.sweeps import SETTINGS, grid_of
from teddy.sweep import find_over_seeds, read_table, run_sweep, summarize
from teddy.sweep.folder import Folder
from teddy.sweep.grid import Cell
from teddy.sweep.metric import Metric
from teddy.sweep.resolution import LATER_COLUMNS, HeldOut, with_test_rows
from teddy.tasks import auc, micro_f1, parse_task, r2

FAST = {"seeds": [0], "epochs": 1}


def test_rows_are_nodes_links_or_graphs_that_the_split_leaves_for_the_test():
    data = small_graph()
    assert (
        find_over_seeds(data, model="gcn", hidden_channels=4, **FAST).test_rows
        == data.test_mask.sum()
    )
    linked = teddy.split_links(data)
    links = {"model": "gcn", "hidden_channels": 4, "task": "link-prediction"}
    for graph in (data, linked):  # split by the search, or before
        found = find_over_seeds(graph, **links, **FAST)
        assert found.test_rows == int(linked.test_mask.sum())
    graphs = rings_and_trees()
    graphs_found = find_over_seeds(
        graphs, model="gcn", hidden_channels=4, task="graph-classification", **FAST
    )
    assert graphs_found.test_rows == sum(bool(graph.test_mask) for graph in graphs)
    hetero = library()
    found = find_over_seeds(hetero, model=hetero_module(hetero), target="paper", **FAST)
    assert found.test_rows == int(hetero["paper"].test_mask.sum())


def test_one_example_changes_the_metric_by_the_resolution():
    """The floor of a standard deviation, against the metric with one example changed."""
    rng = torch.Generator().manual_seed(0)
    links = torch.randint(0, 2, (60,), generator=rng).float()
    logits = torch.randperm(60, generator=rng).float()
    order = logits.sort().indices
    ends = links[order]
    place = int(((ends[:-1] == 1) & (ends[1:] == 0)).nonzero()[0])  # a link just below a pair
    swapped = logits.clone()
    swapped[order[place]], swapped[order[place + 1]] = place + 1.0, float(place)
    worth = parse_task("link-prediction").resolution(links)
    assert auc(swapped, links) - auc(logits, links) == pytest.approx(worth)

    labels = (torch.rand(40, 3, generator=rng) < 0.5).float()
    worth = parse_task("multilabel").resolution(labels)
    assert worth == 100 / labels.sum()
    wrong = labels.clone()
    found, absent = labels.nonzero()[0], (labels == 0).nonzero()[0]
    wrong[tuple(found)], wrong[tuple(absent)] = 0, 1  # as many labels, one of them wrong
    assert micro_f1(labels, labels) - micro_f1(wrong, labels) == pytest.approx(float(worth))

    y = torch.randn(50, 1, generator=rng)
    off = y.clone()
    off[7] += (y - y.mean()).square().mean().sqrt()
    assert r2(y, y) - r2(off, y) == pytest.approx(parse_task("regression").resolution(y), rel=1e-4)


def test_the_size_of_a_test_set_is_that_of_the_task():
    data = teddy.split_links(small_graph())
    found = find_over_seeds(data, model="gcn", hidden_channels=4, task="link-prediction", **FAST)
    half = int(data.test_mask.sum()) // 2
    assert found.tested == HeldOut(2 * half, 100 / half**2)


def test_rows_of_different_tasks_are_not_summarized_together():
    row = {"dataset": "a", "model": "gcn", "method": "teddy", "simulation": 5, "seed": 0}
    other = {**row, "task": "link-prediction", "metric": "AUC", "hits_at": 50}
    with pytest.raises(teddy.InputError, match="results have several tasks"):
        summarize([row, other])
    assert Metric.from_rows([other]) == Metric("link-prediction", "AUC", 50)


def as_before(row):
    """A row as an earlier version wrote it."""
    return {name: value for name, value in row.items() if name not in LATER_COLUMNS}


def test_a_folder_and_a_table_of_an_earlier_version_are_read(graph, tmp_path):
    grid, out = grid_of(graph, seeds=range(3)), tmp_path / "out"
    outcome = run_sweep(grid, out, SETTINGS)
    nodes = int(teddy.load_dataset(graph).test_mask.sum())
    assert {row["test_rows"] for row in outcome.rows} == {nodes}
    for row in outcome.rows:
        Folder(out).write_cell(Cell.from_row(row), as_before(row))
    table = pq.read_table(out / "results.parquet").drop(list(LATER_COLUMNS))
    pq.write_table(table, out / "old.parquet")
    for path in (out, out / "old.parquet"):
        rows = read_table(path)
        assert [as_before(row) for row in rows] == [as_before(row) for row in read_table(out)]
        assert len(summarize(rows)) == 6
        assert {(row["task"], row["metric"]) for row in rows} == {("classification", "accuracy")}
        assert {row["resolution"] for row in rows} == {100 / rows[0]["test_rows"]}
        (found,) = {row["test_rows"] for row in rows}
        assert nodes % found == 0  # of few nodes and rows perhaps a divisor, never more
    again = run_sweep(grid, out, SETTINGS)
    assert (again.computed, again.missing) == (0, 0)


def test_test_rows_of_one_row_fill_the_others():
    rows = [{"dataset": "a", "split": "public", "test": 50.0} for _ in range(3)]
    rows[1]["test_rows"] = 40
    assert [row["test_rows"] for row in with_test_rows(rows)] == [40, 40, 40]
    assert "test_rows" not in rows[0]


@pytest.mark.parametrize("nodes", [7, 257, 1000, 1331, 48603, 2213091])
def test_the_number_of_nodes_is_inferred_from_accuracies(nodes):
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
