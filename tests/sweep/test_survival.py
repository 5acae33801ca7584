"""Sweeps that are killed, doubled, damaged and starved."""

from __future__ import annotations

import json
import os
import shutil
import signal

import pytest

import teddy
from cli.command import fork, run_forked, run_here, save_npz
from sweep.sweeps import SETTINGS, SWEEP, grid_of, results, start, wait_for_cells
from teddy.sweep import run_sweep
from teddy.sweep.folder import Folder
from teddy.sweep.worker import SeriesJob, SeriesOutcome, run_series


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


def test_the_summary_lists_omitted_cells(graph, tmp_path):
    arguments = ["--models", "gcn", "--methods", "teddy,random", "--levels", "1", "--epochs",
                 "2", "--hidden-channels", "4"]  # fmt: skip
    command = ["sweep", graph, *arguments, "--seeds", "3", "--out", "x"]
    assert run_here(*command, cwd=tmp_path).returncode == 0
    cells = sorted((tmp_path / "x" / "cells").iterdir())
    cells[0].write_text("{")
    done = run_here("sweep", "--summary", "--out", "x", cwd=tmp_path)
    assert done.stderr.startswith("teddy: skipped: ")
    assert "3 seeds" in done.stdout
    assert "(2)" in done.stdout  # of two seeds only
    report = json.loads(run_here("sweep", "--summary", "--json", "--out", "x", cwd=tmp_path).stdout)
    assert report["damaged"] == 1
    assert report["failures"] == []
    again = run_here(*command, cwd=tmp_path)
    assert "computed again" in again.stderr


def test_a_series_that_another_process_has_is_left_to_it(graph, tmp_path):
    out = tmp_path / "out"
    (series,) = grid_of(graph, ["teddy"], [1], [0]).series
    folder = Folder(out)
    folder.create()
    with folder.lock(series.key):
        other = fork(_is_busy, SeriesJob(str(out), series, SETTINGS, graph))
        other.join(60)
        assert other.exitcode == 0
    assert run_series(SeriesJob(str(out), series, SETTINGS, graph)) == SeriesOutcome(computed=1)


def _is_busy(job):
    assert run_series(job).busy is True


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The graph of the sweeps that are disturbed here, and what they come to undisturbed."""
    folder = tmp_path_factory.mktemp("whole")
    graph = str(save_npz(folder / "graph.npz"))
    assert run_here("sweep", graph, *SWEEP, "--out", "out", cwd=folder).returncode == 0
    return graph, results(folder / "out")


@pytest.mark.parametrize(
    ("jobs", "stops"),
    [
        ("1", [(5, signal.SIGKILL), (14, signal.SIGKILL), (23, signal.SIGKILL)]),
        pytest.param("2", [(5, signal.SIGINT), (18, signal.SIGKILL)], marks=pytest.mark.slow),
    ],
    ids=["1", "2"],
)
def test_kill_9_then_the_same_command_ends_with_the_same_table(whole, tmp_path, jobs, stops):
    graph, expected = whole
    out = tmp_path / "killed"
    stopped_after = []
    for target, number in stops:
        process = start(graph, out, "--jobs", jobs)
        stopped_after.append(wait_for_cells(out, target, process))
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does
            says_how_to_go_on(process, out)
        else:
            process.send_signal(number)  # the parent alone: its workers must notice
            process.communicate()
    cells = {path: path.stat().st_mtime_ns for path in (out / "cells").glob("*.json")}
    done = run_forked("sweep", graph, *SWEEP, "--out", out, "--jobs", jobs, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["missing"] == 0
    assert 0 < stopped_after[0] < 36
    # What was whole stays; a worker may have ended its cell after its parent was gone.
    assert report["computed"] <= 36 - len(cells)
    for path, when in cells.items():
        assert path.stat().st_mtime_ns == when
    assert results(out) == expected
    assert not list(out.rglob(".teddy-*"))


def says_how_to_go_on(interrupted, out):
    _, errors = interrupted.communicate(timeout=60)
    assert interrupted.returncode == 130
    assert f"interrupted; the same command resumes from {out}" in errors
    assert "Traceback" not in errors


def test_ctrl_c_says_how_to_resume(whole, tmp_path):
    graph, expected = whole
    out = tmp_path / "out"
    process = start(graph, out)
    wait_for_cells(out, 4, process)
    os.killpg(process.pid, signal.SIGINT)
    says_how_to_go_on(process, out)
    assert run_here("sweep", graph, *SWEEP, "--out", out, cwd=tmp_path).returncode == 0
    assert results(out) == expected


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_two_processes_share_the_work_and_no_cell_is_written_twice(whole, tmp_path, jobs):
    """Every write is logged by a plugin that both load; the second comes into the first's work."""
    graph, expected = whole
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
    command = (graph, out, "--load", plugin, "--json", "--jobs")
    first = start(*command, jobs)
    wait_for_cells(out, 1, first)
    reports = []
    for process in (first, start(*command, "1")):
        output, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        reports.append(json.loads(output))
    assert all(report["missing"] == 0 for report in reports)
    assert sum(report["computed"] for report in reports) == 36
    written = log.read_text().split()
    assert len(written) == len(set(written)) == 36
    assert results(out) == expected


def test_a_full_disk_is_reported_and_recovered_from(graph, full_disk, tmp_path):
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
