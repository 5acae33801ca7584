"""Sweeps that are killed, doubled, damaged and starved."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import teddy
from cli.command import refused, run, save_npz
from teddy.methods import METHODS
from teddy.sweep import Grid, Settings, run_sweep
from teddy.sweep.folder import Folder
from teddy.sweep.limits import memory_limit
from teddy.sweep.table import SCHEMA, read_table
from teddy.sweep.worker import Done, Job, run_task
from teddy.training import TrainConfig

SETTINGS = Settings(TrainConfig(epochs=4), model_options={"hidden": 8})


@pytest.fixture
def graph(tmp_path):
    return str(save_npz(tmp_path / "graph.npz"))


def grid_of(graph, methods=("teddy", "ugs"), simulations=(0, 1, 3), seeds=(0, 1)):
    return Grid([graph], ["gcn"], list(methods), list(simulations), list(seeds))


def results(folder):
    """Everything but times."""
    rows = read_table(folder)
    return [{k: v for k, v in row.items() if not k.startswith("seconds")} for row in rows]


def test_a_sweep_finds_what_find_ticket_finds(graph, tmp_path):
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
            data, "gcn", sparsity, sparsity, row["seed"], 4, method=row["method"], hidden=8
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
        run_sweep(grid_of(graph), out, Settings(TrainConfig(epochs=5), model_options={"hidden": 8}))
    from conftest import small_graph

    save_npz(Path(graph), y=small_graph().y.numpy()[::-1].copy())
    with pytest.raises(teddy.InputError, match=r"holds results of .* with other data"):
        run_sweep(grid_of(graph), out, SETTINGS)
    assert results(out) == before


def test_a_deleted_and_a_damaged_cell_are_repaired(graph, tmp_path):
    out = tmp_path / "out"
    run_sweep(grid_of(graph), out, SETTINGS)
    whole, cells = results(out), sorted((out / "cells").iterdir())
    cells[0].unlink()
    cells[1].write_bytes(cells[1].read_bytes()[:-40])
    text = cells[2].read_text()
    cells[2].write_text(text.replace('"test": ', '"test": 1', 1))  # a flipped digit
    cells[3].write_bytes(b"")
    outcome = run_sweep(grid_of(graph), out, SETTINGS)
    assert outcome.computed == 4
    assert len(outcome.repaired) == 3
    assert all("damaged" in line for line in outcome.repaired)
    assert results(out) == whole


def test_damaged_work_is_done_again(graph, tmp_path):
    out = tmp_path / "out"
    run_sweep(grid_of(graph), out, SETTINGS)
    whole = results(out)
    for index, path in enumerate(sorted((out / "work").rglob("*.safetensors"))):
        content = bytearray(path.read_bytes())
        content[-1] ^= 255  # a flipped byte in every other file, a torn one between
        path.write_bytes(content[:50] if index % 2 else content)
    shutil.rmtree(out / "cells")
    run_sweep(grid_of(graph), out, SETTINGS)
    assert results(out) == whole


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_fails_is_recorded_and_tried_again(graph, tmp_path, jobs):
    plugin, switch = tmp_path / "mine.py", tmp_path / "fixed"
    plugin.write_text(
        "from pathlib import Path\n"
        "from teddy.methods import METHODS, method\n"
        "@method('half-broken')\n"
        "def search(problem, levels):\n"
        "    for level in levels:\n"
        f"        if level.graph_sparsity > 0.1 and not Path({str(switch)!r}).exists():\n"
        "            raise FileNotFoundError('no way')\n"
        "        yield from METHODS['random'].tickets(problem, [level])\n"
    )
    from teddy.methods.plugin import load_file

    load_file(plugin)
    grid, out = grid_of(graph, ["half-broken", "teddy"]), tmp_path / "out"
    outcome = run_sweep(grid, out, SETTINGS, plugins=[plugin], jobs=jobs)
    assert outcome.computed == 10
    assert outcome.missing == 2
    assert {row["error"] for row in outcome.failures} == {"FileNotFoundError: no way"}
    assert {(row["simulation"], row["seed"]) for row in outcome.failures} == {(3, 0), (3, 1)}
    assert "Traceback" in outcome.failures[0]["details"]

    switch.touch()
    outcome = run_sweep(grid, out, SETTINGS, plugins=[plugin])
    assert (outcome.computed, outcome.missing, outcome.failures) == (2, 0, [])

    plugin.write_text(plugin.read_text() + "# edited\n")
    load_file(plugin)  # another content is loaded again
    with pytest.raises(
        teddy.InputError, match=r"holds results of .* half-broken with other methods"
    ):
        run_sweep(grid, out, SETTINGS, plugins=[plugin])


def test_a_process_that_is_killed_fails_alone(graph, tmp_path):
    plugin = tmp_path / "deadly.py"
    plugin.write_text(
        "import os, signal\n"
        "from teddy.methods import method\n"
        "@method('deadly')\n"
        "def search(problem, levels):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "    yield\n"
    )
    from teddy.methods.plugin import load_file

    load_file(plugin)
    grid = grid_of(graph, ["deadly", "teddy"], [1], [0, 1])
    outcome = run_sweep(grid, tmp_path / "out", SETTINGS, plugins=[plugin], jobs=2)
    assert outcome.computed == 2
    assert [row["method"] for row in outcome.failures] == ["deadly"] * 2
    assert "its process was killed" in outcome.failures[0]["error"]


def test_too_much_memory_is_a_failure_not_a_crash(graph, tmp_path):
    plugin = tmp_path / "greedy.py"
    plugin.write_text(
        "import torch\n"
        "from teddy.methods import method\n"
        "@method('greedy')\n"
        "def search(problem, levels):\n"
        "    for level in levels:\n"
        "        torch.ones(2 * 2**30, dtype=torch.int8)\n"
        "        yield problem.train_ticket('greedy', level, problem.graph.pairs[0] >= 0)\n"
    )
    from teddy.methods.plugin import load_file

    load_file(plugin)
    grid = grid_of(graph, ["greedy", "teddy"], [1], [0])
    outcome = run_sweep(grid, tmp_path / "out", SETTINGS, plugins=[plugin], jobs=2, memory=1.5)
    assert outcome.computed == 1
    (failure,) = outcome.failures
    assert failure["error"] == "not enough memory, 1.5 GiB a job"


def test_the_memory_limit_ends_with_its_context():
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    with memory_limit(2**40):
        assert resource.getrlimit(resource.RLIMIT_DATA)[0] == 2**40
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_a_task_that_another_process_has_is_left_to_it(graph, tmp_path):
    out = tmp_path / "out"
    (task,) = grid_of(graph, ["teddy"], [1], [0]).tasks
    folder = Folder(out)
    folder.create()
    with folder.lock(task.key):
        code = (
            "import pickle, sys; from teddy.sweep.worker import run_task;"
            "print(run_task(pickle.load(sys.stdin.buffer)).busy)"
        )
        import pickle

        done = subprocess.run(
            [sys.executable, "-c", code], input=pickle.dumps(Job(str(out), task, SETTINGS, graph)),
            capture_output=True, check=True,
        )  # fmt: skip
        assert done.stdout.split() == [b"True"]
    assert run_task(Job(str(out), task, SETTINGS, graph)) == Done(computed=1)


SWEEP = ["--methods", "teddy,ugs,random", "--models", "gcn", "--simulations", "0,1,2,4", "--seeds",
         "3", "--hidden", "64", "--epochs", "60"]  # fmt: skip


def start(graph, out, *more):
    return subprocess.Popen(
        [sys.executable, "-m", "teddy", "sweep", graph, *SWEEP, "--out", str(out), *more],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def wait_for_cells(out, count, process):
    for _ in range(1200):
        found = len(list((out / "cells").glob("*.json"))) if (out / "cells").is_dir() else 0
        if found >= count or process.poll() is not None:
            return found
        time.sleep(0.05)
    raise AssertionError("no cells in a minute")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_kill_9_then_the_same_command_ends_with_the_same_table(graph, tmp_path, jobs):
    whole = tmp_path / "whole"
    assert run("sweep", graph, *SWEEP, "--out", whole, cwd=tmp_path).returncode == 0

    out = tmp_path / "killed"
    killed_after = []
    for target in (5, 14, 23):
        process = start(graph, out, "--jobs", jobs)
        killed_after.append(wait_for_cells(out, target, process))
        os.kill(process.pid, signal.SIGKILL)  # the parent alone: its workers must notice
        process.communicate()
    cells = {path: path.stat().st_mtime_ns for path in (out / "cells").glob("*.json")}
    done = run("sweep", graph, *SWEEP, "--out", out, "--jobs", jobs, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["missing"] == 0
    assert 0 < killed_after[0] < 36
    # What was whole stays; a worker may have ended its cell after its parent was gone.
    assert report["computed"] <= 36 - len(cells)
    for path, when in cells.items():
        assert path.stat().st_mtime_ns == when
    assert results(out) == results(whole)
    assert not list(out.rglob(".teddy-*"))


def test_ctrl_c_says_how_to_go_on(graph, tmp_path):
    out = tmp_path / "out"
    process = start(graph, out, "--jobs", "2")
    wait_for_cells(out, 4, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"interrupted; the same command goes on in {out}" in errors
    assert "Traceback" not in errors
    assert run("sweep", graph, *SWEEP, "--out", out, cwd=tmp_path).returncode == 0


def test_two_processes_share_the_work(graph, tmp_path):
    out = tmp_path / "out"
    both = [start(graph, out, "--json") for _ in range(2)]
    reports = []
    for process in both:
        output, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        reports.append(json.loads(output))
    assert all(report["missing"] == 0 for report in reports)
    assert sum(report["computed"] for report in reports) == 36
    whole = tmp_path / "whole"
    run("sweep", graph, *SWEEP, "--out", whole, cwd=tmp_path)
    assert results(out) == results(whole)


def test_no_cell_is_written_twice_by_two_processes(graph, tmp_path):
    """Every write is logged by a plugin that both processes load."""
    out, log = tmp_path / "out", tmp_path / "log"
    plugin = tmp_path / "log.py"
    plugin.write_text(
        "import os\n"
        "from teddy.sweep.folder import Folder\n"
        "plain = Folder.write_cell\n"
        "def write_cell(self, cell, row):\n"
        f"    handle = os.open({str(log)!r}, os.O_APPEND | os.O_CREAT | os.O_WRONLY)\n"
        "    os.write(handle, f'{cell.key}\\n'.encode()); os.close(handle)\n"
        "    plain(self, cell, row)\n"
        "Folder.write_cell = write_cell\n"
    )
    both = [start(graph, out, "--load", str(plugin), "--jobs", "2") for _ in range(2)]
    for process in both:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    written = log.read_text().split()
    assert len(written) == len(set(written)) == 36


def test_a_full_disk_is_said_and_repaired(graph, full_disk, tmp_path):
    grid = grid_of(graph, ["teddy"], range(30), [0])
    with pytest.raises(teddy.InputError, match="No space left on device"):
        run_sweep(grid, full_disk / "out", SETTINGS)
    found = Folder(full_disk / "out").rows()
    assert 0 < len(found) < 30
    assert not list((full_disk / "out").rglob(".teddy-*"))
    roomy = tmp_path / "roomy"
    shutil.copytree(full_disk / "out", roomy)
    outcome = run_sweep(grid, roomy, SETTINGS)
    assert outcome.computed == 30 - len(found)
    assert outcome.missing == 0


def test_tickets_can_be_kept(graph, tmp_path):
    grid = grid_of(graph, ["ugs"], [0, 1, 2], [0])
    run_sweep(grid, tmp_path / "out", SETTINGS, keep_tickets=True)
    data = teddy.load_dataset(graph)
    for cell in grid.cells:
        path = Folder(tmp_path / "out").ticket_path(cell)
        assert path.exists() == (cell.simulation > 0)
        if path.exists():
            teddy.Ticket.load(path).verify(data)


def test_dask_runs_the_same_tasks(graph, tmp_path):
    pytest.importorskip("distributed")
    grid = grid_of(graph, ["teddy", "random"], [1], [0, 1])
    outcome = run_sweep(grid, tmp_path / "out", SETTINGS, jobs=2, backend="dask")
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
        (["--simulations", "1,two"], "simulations has 'two', expected such as 5 or 1-20"),
        (["--simulations", ""], "got no simulations"),
        (["--seeds", "0"], "seeds is 0"),
        (["--jobs", "0"], "jobs is 0"),
        (["--backend", "slurm"], "unknown backend 'slurm'"),
        (["--threads", "0"], "threads is 0"),
        (["--memory", "-1"], "memory is -1.0, expected a number of GiB above 0"),
        (["--memory", "nan"], "memory is nan"),
        (["--hidden", "0"], "hidden is 0"),
        (["--distill", "-1"], "distill is -1.0"),
        (["--methods", "ugs:weights=foo"], "weights is 'foo', expected one of: projection, masks"),
        (["--methods", "ugs:l1_edges=-5"], "l1_edges is -5.0, expected a number from 0"),
        (["--methods", "wd-glt:epsilon=0"], "epsilon is 0.0, expected a number above 0"),
        (["--methods", "teddy:distill=-1"], "distill is -1.0"),
        (["--simulations", "5-1"], "simulations has '5-1', expected such as 5 or 1-20"),
        (["--against", "ugs"], "no 'ugs' to compare with, expected one of: teddy, random"),
        (["--load", "nothing.py"], "nothing.py: there is no such file"),
        (["--summary", "--out", "nowhere"], "nowhere: no results here"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(arguments, message, tmp_path):
    assert message in refused(run("sweep", "citeseer", *arguments, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_registered_method_is_there():
    assert {"teddy", "ugs", "wd-glt", "random", "degree-high", "degree-low", "two-hop",
            "local-degree", "forest-fire", "k-neighbor"} <= set(METHODS)  # fmt: skip


def test_threads_of_one_process_take_turns(graph, tmp_path):
    """As the workers of a cluster may be: random numbers and threads are of the whole process."""
    from concurrent.futures import ThreadPoolExecutor

    grid, out = grid_of(graph, ["teddy", "random"], [1, 2], range(4)), tmp_path / "out"
    Folder(out).create()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run_task, [Job(str(out), task, SETTINGS, graph) for task in grid.tasks]))
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


def test_a_result_under_another_name_is_not_taken(graph, tmp_path):
    out = tmp_path / "out"
    grid = grid_of(graph, ["teddy"], [1], [0, 1])
    run_sweep(grid, out, SETTINGS)
    whole = results(out)
    first, second = (Folder(out).cell_path(cell) for cell in grid.cells)
    shutil.copy(first, second)
    outcome = run_sweep(grid, out, SETTINGS)
    assert "the result of another cell" in outcome.repaired[0]
    assert outcome.computed == 1
    assert results(out) == whole


def test_tickets_can_be_asked_for_later(graph, tmp_path):
    grid = grid_of(graph, ["teddy"], [0, 1], [0])
    run_sweep(grid, tmp_path / "out", SETTINGS)
    run_sweep(grid, tmp_path / "out", SETTINGS, keep_tickets=True)
    assert len(list((tmp_path / "out" / "tickets").iterdir())) == 1


def test_a_score_from_a_file_is_a_method(graph, tmp_path):
    plugin = tmp_path / "score.py"
    plugin.write_text(
        "from teddy.edges import SCORES\n"
        "@SCORES.register('id-sum')\n"
        "def id_sum(graph, pairs, seed=0):\n"
        "    return pairs.sum(dim=0).double()\n"
    )
    done = run(
        "sweep", graph, "--load", plugin, "--methods", "id-sum,random", "--models", "gcn",
        "--simulations", "1", "--seeds", "1", "--epochs", "2", "--hidden", "4", "--jobs", "2",
        "--out", "out", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["computed"] == 2


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


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("keep = problem.graph.pairs[0] >= 0", r"greedy-0 kept (\d+) of \1 edges, expected"),
        ("keep = torch.ones(3, dtype=torch.bool)", r"greedy-1 chose edges by \[3\] of torch.bool"),
        ("yield None; return", "greedy-2 gave a NoneType, expected a ticket for each level"),
    ],
)
def test_a_method_that_does_not_do_what_it_was_asked_is_said(body, message, graph, tmp_path):
    name = message.split()[0]
    plugin = tmp_path / f"{name}.py"
    plugin.write_text(
        "import torch\n"
        "from teddy.methods import method\n"
        f"@method('{name}')\n"
        "def search(problem, levels):\n"
        "    for level in levels:\n"
        f"        {body}\n"
        f"        yield problem.train_ticket('{name}', level, keep)\n"
    )
    from teddy.methods.plugin import load_file

    load_file(plugin)
    outcome = run_sweep(grid_of(graph, [name], [1], [0]), tmp_path / "out", SETTINGS)
    assert re.search(message, outcome.failures[0]["error"])


def test_a_file_may_not_take_the_name_of_a_method(tmp_path):
    plugin = tmp_path / "teddy2.py"
    plugin.write_text(
        "from teddy.methods import method\n@method('teddy')\ndef mine(problem, levels): ...\n"
    )
    before = METHODS["teddy"]
    from teddy.methods.plugin import load_file

    with pytest.raises(teddy.InputError, match="registers 'teddy', expected a name that is new"):
        load_file(plugin)
    assert METHODS["teddy"] is before


def test_the_summary_says_what_is_left_out(graph, tmp_path):
    arguments = ["--models", "gcn", "--methods", "teddy,random", "--simulations", "1", "--epochs",
                 "2", "--hidden", "4"]  # fmt: skip
    assert (
        run("sweep", graph, *arguments, "--seeds", "3", "--out", "x", cwd=tmp_path).returncode == 0
    )
    cells = sorted((tmp_path / "x" / "cells").iterdir())
    cells[0].write_text("{")
    done = run("sweep", "--summary", "--out", "x", cwd=tmp_path)
    assert done.stderr.startswith("teddy: left out: ")
    assert "3 seeds" in done.stdout
    assert "(2)" in done.stdout  # of two seeds only
    report = json.loads(run("sweep", "--summary", "--json", "--out", "x", cwd=tmp_path).stdout)
    assert report["damaged"] == 1
    assert report["failures"] == []
    again = run("sweep", graph, *arguments, "--seeds", "3", "--out", "x", cwd=tmp_path)
    assert "tried again" in again.stderr
