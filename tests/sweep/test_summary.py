from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import teddy
from cli.command import run_here, save_npz
from teddy.sweep import best_methods, sparsest_winning, summarize

RNG = np.random.default_rng(0)


def rows(method, simulation, tests, dense=80.0, seeds=None):
    return [
        {"dataset": "cora", "model": "gcn", "method": method, "simulation": simulation,
         "seed": seed, "graph_sparsity": 0.1, "weight_sparsity": 0.1, "test": test,
         "dense_test": dense, "test_rows": 1000, "last_test": test - 1, "seconds_round": 1.0,
         "seconds_sparse": 2.0}
        for seed, test in zip(seeds or range(len(tests)), tests, strict=True)
    ]  # fmt: skip


def test_the_interval_is_scipys():
    ours, theirs = RNG.normal(81, 1, 5), RNG.normal(80, 1, 5)
    table = rows("a", 1, ours) + rows("b", 1, theirs)
    a, b = summarize(table, against="b")
    expected = stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    assert a.against.mean == pytest.approx(np.mean(ours - theirs))
    assert (a.against.low, a.against.high) == pytest.approx(tuple(expected))
    assert b.against is None
    alone = stats.ttest_1samp(ours - 80.0, 0).confidence_interval(0.95)
    assert (a.difference.low, a.difference.high) == pytest.approx(tuple(alone))
    assert a.deviation == pytest.approx(np.std(ours, ddof=1))
    assert a.seconds == 3.0


def test_only_seeds_of_both_are_compared():
    table = rows("a", 1, [81.0, 82.0, 99.0], seeds=[0, 1, 7])
    table += rows("b", 1, [80.0, 80.0, 0.0], seeds=[0, 1, 8])
    assert summarize(table, against="b")[0].against.mean == pytest.approx(1.5)


def test_who_wins_and_the_sparsest():
    table = rows("a", 1, [82.0, 82.1, 81.9]) + rows("a", 5, [81.0, 81.1, 80.9])
    table += rows("a", 10, [70.0, 70.1, 69.9]) + rows("b", 1, [83.0, 70.0, 95.0])
    table += rows("a", 0, [80.0, 80.0, 80.0])
    found = summarize(table)
    assert best_methods(found)["cora", "gcn", 5] == "a"
    assert best_methods(found)["cora", "gcn", 1] == "b"
    sparsest = sparsest_winning(found)
    assert sparsest["cora", "gcn", "a"].level == 5
    assert sparsest["cora", "gcn", "b"] is None
    verdicts = {(s.method, s.level): s.verdict for s in found}
    assert verdicts["a", 10] == "losing"
    assert verdicts["b", 1] == "undecided"


def test_a_missing_method_raises_a_clear_message():
    with pytest.raises(teddy.InputError, match="against is 'ugs', which has no results"):
        summarize(rows("a", 1, [81.0]), against="ugs")


def test_the_command_prints_all_sections(tmp_path):
    graph = save_npz(tmp_path / "graph.npz")
    grid = ["--methods", "teddy,random", "--models", "gcn", "--levels", "0,1-2", "--seeds",
            "2", "--epochs", "3", "--hidden-channels", "8", "--out", "runs"]  # fmt: skip
    done = run_here("sweep", graph, *grid, "--against", "random", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in ("test accuracy %, 2 seeds, dense", "f too few seeds (a verdict needs 3)",
                  "Too few seeds for a verdict: ", "Difference to random",
                  "12 of 12 cells, 12 computed now"):  # fmt: skip
        assert words in " ".join(done.stdout.split())
    again = run_here("sweep", "--summary", "--out", "runs", "--json", cwd=tmp_path)
    report = json.loads(again.stdout)
    assert len(report["summary"]) == 6
    assert {row["verdict"] for row in report["summary"]} == {"dense", "too few seeds"}
    assert {row["simulation"] for row in report["sparsest"]} == {None}
    assert "inning ticket" not in done.stdout
    assert {row["method"] for row in report["sparsest"]} == {"teddy", "random"}
