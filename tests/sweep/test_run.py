"""Cells that a sweep computes, resumes and refuses."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import teddy
from cli.command import refused, run_here, save_npz
from sweep.sweeps import SETTINGS, grid_of, results
from teddy.methods import METHODS
from teddy.sweep import Settings, run_sweep
from teddy.sweep.folder import Folder
from teddy.sweep.results_table import SCHEMA, read_table
from teddy.sweep.worker import SeriesJob, run_series
from teddy.training import TrainConfig


def test_a_sweep_finds_the_tickets_of_find_ticket(graph, tmp_path):
    outcome = run_sweep(grid_of(graph), tmp_path / "out", SETTINGS)
    assert outcome.computed == 12
    assert not outcome.failures
    data = teddy.load_dataset(graph)
    for row in outcome.rows:
        if row["simulation"] == 0:
            assert row["test"] == row["dense_test"]
            continue
        sparsity = row["graph_sparsity"]
        ticket = teddy.find_ticket(
            data,
            "gcn",
            sparsity,
            sparsity,
            row["seed"],
            method=row["method"],
            epochs=4,
            hidden_channels=8,
        )
        assert row["test"] == ticket.info.ticket.test
        assert row["dense_test"] == ticket.info.dense.test
        assert row["edges_kept"] == ticket.info.edges.kept
        assert row["weights_kept"] == ticket.info.weights.kept
        assert row["macs_ticket"] == sum(ticket.info.macs.ticket)
        assert row["distill"] == ticket.info.config["distill"]


def test_the_table_is_tidy(graph, tmp_path):
    outcome = run_sweep(grid_of(graph), tmp_path / "out", SETTINGS)
    table = pq.read_table(tmp_path / "out" / "results.parquet")
    assert table.schema == SCHEMA
    assert table.num_rows == len(outcome.rows) == 12
    for row in outcome.rows:  # no column is forgotten
        assert set(row) == set(SCHEMA.names)
    assert {tuple(r[k] for k in ("method", "simulation", "seed")) for r in read_table(
        tmp_path / "out")} == {(m, i, s) for m in ("teddy", "ugs") for i in (0, 1, 3)
                               for s in (0, 1)}  # fmt: skip


def test_again_computes_nothing_and_more_extends(graph, tmp_path):
    run_sweep(grid_of(graph), tmp_path / "out", SETTINGS)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "cells").iterdir()}
    assert run_sweep(grid_of(graph), tmp_path / "out", SETTINGS).computed == 0
    more = run_sweep(grid_of(graph, ["teddy", "random"]), tmp_path / "out", SETTINGS)
    assert more.computed == 6
    assert len(more.rows) == 18
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())


def test_the_dense_model_without_edges_is_trained_once(graph, tmp_path, monkeypatch):
    from teddy.methods import problem as module

    trained = []
    plain = module.train
    monkeypatch.setattr(
        module, "train", lambda *a, **k: trained.append(k["teacher"] is None) or plain(*a, **k)
    )
    methods = ["teddy", "gain", "gain:distill=0", "auto"]
    outcome = run_sweep(grid_of(graph, methods, [3], [0]), tmp_path / "out", SETTINGS)
    assert not outcome.failures
    assert sum(trained) == 2  # for its logits, and once more for those without edges
    assert len(trained) == 2 + 1 + 1 + 1 + 4  # auto tries four scores


def test_the_dense_model_is_trained_once_and_the_rounds_are_kept(graph, tmp_path, monkeypatch):
    from teddy.methods import problem as module

    trained = []
    plain = module.train
    monkeypatch.setattr(
        module,
        "train",
        lambda *a, **k: (trained.append(k.get("teacher") is None), plain(*a, **k))[1],
    )
    run_sweep(grid_of(graph, ["teddy", "random", "degree-high"]), tmp_path / "out", SETTINGS)
    assert trained.count(True) == 2  # one a seed
    assert trained.count(False) == 3 * 2 * 2


def test_processes_give_the_same_table_as_one(graph, tmp_path):
    run_sweep(grid_of(graph), tmp_path / "one", SETTINGS)
    run_sweep(grid_of(graph), tmp_path / "two", SETTINGS, jobs=2)
    assert results(tmp_path / "one") == results(tmp_path / "two")


def test_other_settings_or_data_are_refused_and_nothing_is_lost(graph, tmp_path):
    out = tmp_path / "out"
    run_sweep(grid_of(graph), out, SETTINGS)
    before = results(out)
    with pytest.raises(teddy.InputError, match="holds results with epochs 4, got 5"):
        run_sweep(
            grid_of(graph),
            out,
            Settings(TrainConfig(epochs=5), model_options={"hidden_channels": 8}),
        )
    from conftest import small_graph

    save_npz(Path(graph), y=small_graph().y.numpy()[::-1].copy())
    with pytest.raises(teddy.InputError, match=r"holds results of .* with other data"):
        run_sweep(grid_of(graph), out, SETTINGS)
    assert results(out) == before


def test_tickets_can_be_kept(graph, tmp_path):
    grid = grid_of(graph, ["ugs"], [0, 1, 2], [0])
    run_sweep(grid, tmp_path / "out", SETTINGS, keep_tickets=True)
    data = teddy.load_dataset(graph)
    for cell in grid.cells:
        path = Folder(tmp_path / "out").ticket_path(cell)
        assert path.exists() == (cell.level > 0)
        if path.exists():
            teddy.Ticket.load(path).verify(data)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_dask_runs_the_same_tasks(graph, tmp_path, jobs):
    pytest.importorskip("distributed")
    grid = grid_of(graph, ["teddy", "random"], [1], [0, 1])
    outcome = run_sweep(grid, tmp_path / "out", SETTINGS, jobs=jobs, backend="dask")
    assert outcome.computed == 4
    run_sweep(grid, tmp_path / "plain", SETTINGS)
    assert results(tmp_path / "out") == results(tmp_path / "plain")


def test_ray_runs_the_same_tasks(graph, tmp_path):
    pytest.importorskip("ray", reason="Ray isn't installed: pip install 'teddy-glt[ray]'")
    grid = grid_of(graph, ["teddy"], [1], [0, 1])
    outcome = run_sweep(grid, tmp_path / "out", SETTINGS, jobs=2, backend="ray")
    assert outcome.computed == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "tedy"], "unknown method 'tedy'"),
        (["--models", "gnc"], "unknown model 'gnc'"),
        (["--levels", "1,two"], "unknown level 'two', expected"),
        (["--levels", ""], "got no levels"),
        (["--seeds", "0"], "seeds is 0"),
        (["--jobs", "0"], "jobs is 0"),
        (["--backend", "slurm"], "unknown backend 'slurm'"),
        (["--threads", "0"], "threads is 0"),
        (["--memory", "-1"], "memory is -1.0, expected a number of GiB above 0"),
        (["--memory", "nan"], "memory is nan"),
        (["--hidden-channels", "0"], "hidden_channels is 0"),
        (["--distill", "-1"], "distill is -1.0"),
        (["--methods", "ugs:weights=foo"], "weights is 'foo', expected one of: projection, masks"),
        (["--methods", "ugs:l1_edges=-5"], "l1_edges is -5.0, expected a number from 0"),
        (["--methods", "wd-glt:epsilon=0"], "epsilon is 0.0, expected a number above 0"),
        (["--methods", "teddy:distill=-1"], "distill is -1.0"),
        (["--levels", "5-1"], "unknown level '5-1', expected"),
        (["--against", "ugs"], "against is 'ugs', expected one of: teddy, random"),
        (["--load", "nothing.py"], "nothing.py: no such file"),
        (["--summary", "--out", "nowhere"], "nowhere: has no results"),
    ],
)
def test_bad_input_raises_a_clear_message_and_writes_nothing(arguments, message, tmp_path):
    assert message in refused(run_here("sweep", "citeseer", *arguments, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_built_in_methods_are_registered():
    assert {"teddy", "ugs", "wd-glt", "random", "degree-high", "degree-low", "two-hop",
            "local-degree", "forest-fire", "k-neighbor"} <= set(METHODS)  # fmt: skip


def test_threads_of_one_process_take_turns(graph, tmp_path):
    """As the workers of a cluster may be: random numbers and threads are of the whole process."""
    from concurrent.futures import ThreadPoolExecutor

    grid, out = grid_of(graph, ["teddy", "random"], [1, 2], range(4)), tmp_path / "out"
    Folder(out).create()
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(
                run_series, [SeriesJob(str(out), task, SETTINGS, graph) for task in grid.series]
            )
        )
    run_sweep(grid, tmp_path / "plain", SETTINGS)
    assert results(out) == results(tmp_path / "plain")


def test_paths_may_be_relative_and_the_working_folder_may_change(graph, tmp_path, monkeypatch):
    outcomes = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        shutil.copy(graph, tmp_path / name / "graph.npz")
        monkeypatch.chdir(tmp_path / name)
        outcomes.append(run_sweep(grid_of("graph.npz", ["teddy"]), "out", SETTINGS, jobs=2))
    assert [outcome.missing for outcome in outcomes] == [0, 0]


def test_options_are_kept_to_the_last_digit(graph, tmp_path):
    grid = grid_of(graph, ["teddy:distill=12.3456789", "teddy:distill=12.3456999"], [1], [0])
    rows = run_sweep(grid, tmp_path / "out", SETTINGS).rows
    assert sorted(row["distill"] for row in rows) == [12.3456789, 12.3456999]


def test_tickets_can_be_requested_later(graph, tmp_path):
    grid = grid_of(graph, ["teddy"], [0, 1], [0])
    run_sweep(grid, tmp_path / "out", SETTINGS)
    run_sweep(grid, tmp_path / "out", SETTINGS, keep_tickets=True)
    assert len(list((tmp_path / "out" / "tickets").iterdir())) == 1


def test_a_folder_that_another_process_has_just_begun_is_taken(tmp_path):
    # Between its first bytes and its name, sweep.json is a file in the making.
    (tmp_path / "cells").mkdir()
    (tmp_path / ".teddy-abc").write_text("{")
    Folder(tmp_path).check()


def test_a_folder_of_something_else_is_left_alone(graph, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "results.parquet").write_text("mine")
    with pytest.raises(teddy.InputError, match=r"has results\.parquet but no sweep\.json"):
        run_sweep(grid_of(graph), other, SETTINGS)
    assert [path.name for path in other.iterdir()] == ["results.parquet"]

    out = tmp_path / "out"
    run_sweep(grid_of(graph, ["teddy"], [1], [0]), out, SETTINGS)
    (out / "sweep.json").unlink()
    (out / "results.parquet").unlink()
    with pytest.raises(teddy.InputError, match=r"has cells but no sweep\.json"):
        run_sweep(grid_of(graph), out, SETTINGS)
