"""The search for the sparsest ticket: on made-up accuracies, and on real trainings."""

from __future__ import annotations

import numpy as np
import pytest

import teddy
from sweep.sweeps import SETTINGS
from teddy.methods import SparsityLevel
from teddy.methods.spec import MethodSpec
from teddy.sweep import Grid, LevelPair, Outcome, run_sweep, search_sparsest
from teddy.sweep import candidates as module
from teddy.sweep.folder import Folder
from teddy.sweep.statistics import paired_difference

#: A graph of 40 nodes has 12 to validate on, so one of them makes 8.3 points.
WIDE = 60.0


class Made:
    """Stands for sweeps: accuracies by a formula, in the files that a sweep would write.

    Args:
        gain: Of a level for edges and weights, in points of validation accuracy.
        scramble: Changes the test accuracies.
    """

    def __init__(self, gain, scramble=0):
        self.gain, self.scramble, self.trained = gain, scramble, []
        self.fails = None

    def __call__(self, grid, out, settings=None, *, keep_tickets=False, **options):
        folder = Folder(out)
        folder.create()
        left = [cell for cell in grid.cells if not folder.done(cell)]
        for cell in left:
            if self.fails is not None and len(self.trained) >= self.fails:
                raise KeyboardInterrupt
            level = MethodSpec.parse(cell.method).level(SparsityLevel.from_schedule(cell.level))
            noise = np.random.default_rng([cell.seed, cell.level]).normal(0, 0.1)
            tests = np.random.default_rng([cell.seed, cell.level, self.scramble]).random(2)
            dense = 70.0 + cell.seed
            folder.write_cell(
                cell,
                {
                    **cell.to_row(),
                    "val": dense + self.gain(level.graph_sparsity, level.weight_sparsity) + noise,
                    "dense_val": dense,
                    "edges_total": 10**6,
                    "edges_kept": round(10**6 * (1 - level.graph_sparsity)),
                    "weights_total": 10**6,
                    "weights_kept": round(10**6 * (1 - level.weight_sparsity)),
                    "test": 100 * tests[0],
                    "dense_test": 100 * tests[1],
                },
            )
            self.trained.append(cell)
        return Outcome([], len(left), 0, [], [])


def falls_after(level):
    """Two points better than dense up to a level, five worse after it."""
    limit = LevelPair(level, level)
    most = SparsityLevel.from_schedule(limit.edges).graph_sparsity + 1e-9
    return lambda graph, weights: 2.0 if max(graph, weights) <= most else -5.0


@pytest.fixture
def searched(tmp_path, monkeypatch):
    """Search on CiteSeer, whose nodes are many enough, with made-up trainings."""

    def search(made, name="out", **options):
        monkeypatch.setattr(module, "run_sweep", made)
        return search_sparsest("citeseer", "gin", tmp_path / name, **options)

    return search


def everything(found):
    """All but what depends on test nodes, and on what was there before."""
    plain = found.to_dict()
    for answer in plain["answers"]:
        del answer["test"]
    del plain["trainings"]["computed"]
    return plain


@pytest.mark.parametrize("level", [1, 2, 17, 39, 40])
def test_the_last_level_within_the_tolerance_is_found(searched, level):
    found = searched(Made(falls_after(level)))
    assert [answer.tried.point for answer in found.answers] == [LevelPair(level, level)]
    assert found.rule.resolution == 0.2  # 500 nodes to validate on
    assert found.undecided == []
    assert found.against == []
    assert found.tickets == sum(t.decision.seeds for t in found.tried) == found.computed
    assert found.grid == 41 * 10
    assert found.tickets + found.dense < 80
    tried = found.sparsest.tried
    assert tried.graph_sparsity == tried.weight_sparsity == pytest.approx(1 - 0.95**level, abs=1e-6)


def test_nothing_may_be_good_enough(searched):
    found = searched(Made(lambda graph, weights: -5.0))
    assert found.answers == []
    assert found.sparsest is None
    assert {t.decision.verdict for t in found.tried} == {"rejected"}


def test_undecided_levels_are_not_accepted(searched):
    found = searched(Made(lambda graph, weights: -0.5), levels=[10, 20])
    assert found.answers == []
    assert sorted(found.undecided) == [LevelPair(10, 10), LevelPair(20, 20)]
    assert {t.decision.seeds for t in found.tried} == {10}


@pytest.mark.parametrize("frontier", [False, True])
def test_test_accuracies_change_no_decision(searched, frontier):
    options = {"frontier": frontier, "levels": range(5, 41, 5)}
    one = searched(Made(falls_after(20), scramble=1), "one", **options)
    other = searched(Made(falls_after(20), scramble=2), "other", **options)
    assert everything(one) == everything(other)
    assert one.sparsest.test != other.sparsest.test
    assert len(one.sparsest.ticket) == one.sparsest.tried.decision.seeds


def test_test_accuracies_are_read_once_the_answer_stands(searched, monkeypatch):
    calls = []

    def log(name):
        plain = getattr(module.Candidates, name)

        def logged(self, point, seeds):
            calls.append(name)
            return plain(self, point, seeds)

        monkeypatch.setattr(module.Candidates, name, logged)

    log("differences")
    log("test_accuracies")
    searched(Made(falls_after(20)))
    assert calls.count("test_accuracies") == 1
    assert calls[-1] == "test_accuracies"


def test_the_frontier_is_walked(searched):
    def gain(graph, weights):
        return 1.0 if graph + weights <= 1.2 else -4.0

    found = searched(Made(gain), frontier=True, levels=range(5, 41, 5))
    grid = [0, *range(5, 41, 5)]
    level = {i: 1 - 0.95**i for i in grid}
    good = [LevelPair(i, j) for i in grid for j in grid if level[i] + level[j] <= 1.2]
    corners = [p for p in good if not any(p != q and p.within(q) for q in good)]
    assert [answer.tried.point for answer in found.answers] == sorted(corners, reverse=True)
    assert len(found.tried) <= 18
    assert found.grid == 81 * 10
    for tried in found.tried:
        assert tried.graph_sparsity == pytest.approx(level[tried.point.edges], abs=1e-6)
        assert tried.weight_sparsity == pytest.approx(level[tried.point.weights], abs=1e-6)
    best = found.sparsest.tried
    most = max(level[p.edges] + level[p.weights] for p in corners)
    assert best.graph_sparsity + best.weight_sparsity == pytest.approx(most, abs=1e-5)


def test_existing_cells_are_used_and_change_nothing(searched, tmp_path):
    fresh = searched(Made(falls_after(17)), "fresh")
    grid = Grid(["citeseer"], ["gin"], ["teddy"], range(1, 41), range(2))
    Made(falls_after(17))(grid, tmp_path / "used")
    used = searched(more := Made(falls_after(17)), "used")
    assert everything(used) == everything(fresh)
    assert {cell.seed for cell in more.trained} == {2, 3}
    again = searched(none := Made(falls_after(17)), "used")
    assert everything(again) == everything(fresh)
    assert none.trained == []
    assert again.computed == 0


def test_an_interrupted_search_resumes(searched):
    whole = searched(Made(falls_after(17)), "whole")
    made = Made(falls_after(17))
    for stop in (0, 3, 11, 20):
        made.fails = stop
        with pytest.raises(KeyboardInterrupt):
            searched(made, "stopped")
    made.fails = None
    assert everything(searched(made, "stopped")) == everything(whole)
    assert len(made.trained) == len(set(made.trained)) == whole.tickets


def test_violations_of_the_assumption_are_reported(searched, tmp_path):
    def gain(graph, weights):  # good, then bad from simulation 10 to 15, and good again
        return -5.0 if 0.39 < graph < 0.54 else 2.0

    grid = Grid(["citeseer"], ["gin"], ["teddy"], [5, 12, 30], range(5))
    Made(gain)(grid, tmp_path / "out")
    found = searched(Made(gain))
    assert found.sparsest.tried.point == LevelPair(40, 40)
    assert [(t.point.edges, t.decision.verdict) for t in found.against] == [(12, "rejected")]

    def other(graph, weights):  # the last level alone is bad, and a stretch that bisection meets
        return -5.0 if graph > 0.87 or 0.6 < graph < 0.7 else 2.0

    Made(other)(Grid(["citeseer"], ["gin"], ["teddy"], [30], range(5)), tmp_path / "other")
    found = searched(Made(other), "other")
    assert found.sparsest.tried.point.edges < 20
    assert [(t.point.edges, t.decision.verdict) for t in found.against] == [(30, "accepted")]


def test_a_failed_training_is_reported(searched, monkeypatch):
    row = {"dataset": "citeseer", "model": "gin", "method": "teddy", "simulation": 40, "seed": 0,
           "error": "not enough memory"}  # fmt: skip
    with pytest.raises(
        teddy.InputError, match="level 40 seed 0: not enough memory; rerun the same command"
    ):
        searched(lambda *arguments, **options: Outcome([], 0, 1, [row], []))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": []}, "got no levels"),
        ({"levels": [0]}, "level is 0, expected a whole number from 1"),
        ({"seeds": 1}, "seeds is 1"),
        ({"tolerance": float("nan")}, "tolerance is nan"),
        ({"method": "teddy:only=edges", "frontier": True}, "without only and weight_level"),
        ({"ticket": "nowhere/a.ticket"}, "there is no folder nowhere"),
    ],
)
def test_invalid_settings_are_refused_before_anything_is_written(
    searched, tmp_path, monkeypatch, options, message
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(teddy.InputError, match=message):
        searched(Made(falls_after(1)), **options)
    assert list(tmp_path.iterdir()) == []


def test_a_search_runs_on_a_sweep_and_saves_its_ticket(graph, tmp_path):
    out, file = tmp_path / "out", tmp_path / "a.ticket"
    found = search_sparsest(
        graph, "gcn", out, tolerance=WIDE, seeds=5, levels=[10, 20], settings=SETTINGS, ticket=file
    )
    assert found.rule.resolution == pytest.approx(100 / 12)
    answer = found.sparsest
    assert answer.tried.point == LevelPair(20, 20)
    count = len(answer.ticket)
    outcome = run_sweep(Grid([graph], ["gcn"], ["teddy"], [20], range(count)), out, SETTINGS)
    assert outcome.computed == 0
    rows = sorted(outcome.rows, key=lambda row: row["seed"])[:count]
    assert answer.ticket == [row["test"] for row in rows]
    assert answer.dense == [row["dense_test"] for row in rows]
    means = [row["val"] - row["dense_val"] for row in rows]
    assert answer.tried.decision.mean == pytest.approx(np.mean(means))
    ticket = teddy.Ticket.load(file)
    assert ticket.info.seed == answer.seed
    assert ticket.info.ticket.val == max(row["val"] for row in rows)
    assert ticket.info.ticket.test == answer.ticket[answer.seed]


def test_the_reached_sparsity_is_shown(graph, tmp_path):
    """Whole units can't reach any share of weights: one of each layer stays."""
    method = "teddy:structure=neurons"
    found = search_sparsest(
        graph, "gat", tmp_path / "out", method=method, tolerance=100, seeds=3, levels=[80],
        settings=SETTINGS,
    )  # fmt: skip
    row = Folder(tmp_path / "out").rows()[0]
    left = row["weights_kept"] / row["weights_total"]
    assert found.sparsest.tried.weight_sparsity == pytest.approx(1 - left)
    assert 1 - left < 0.95 < row["weight_sparsity"]


def test_equal_differences_on_test_nodes_prove_nothing():
    floor = paired_difference([70, 70], [70, 70], test_rows=1000)
    assert (floor.low, floor.mean, floor.high) == pytest.approx((-0.898, 0, 0.898), abs=1e-3)


def test_points_off_the_diagonal_have_their_sparsities(graph, tmp_path):
    spec, out = MethodSpec.parse("random"), tmp_path / "out"
    candidates = module.Candidates(graph, "gcn", spec, out, SETTINGS)
    for point in (LevelPair(4, 4), LevelPair(4, 2), LevelPair(4, 0), LevelPair(0, 4)):
        candidates.differences(point, 1)
        method, simulation = module.grid_coordinates(spec, point)
        (row,) = [
            row for row in Folder(out).rows()
            if (row["method"], row["simulation"]) == (method, simulation)
        ]  # fmt: skip
        expected = pytest.approx([1 - 0.95**point.edges, 1 - 0.95**point.weights])
        assert [row["graph_sparsity"], row["weight_sparsity"]] == expected
        reached = [1 - row[f"{name}_kept"] / row[f"{name}_total"] for name in ("edges", "weights")]
        assert list(candidates.sparsities(point, 1)) == reached
        assert reached == pytest.approx([row["graph_sparsity"], row["weight_sparsity"]], abs=0.02)
    assert candidates.computed == 4
