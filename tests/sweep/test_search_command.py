"""The command for searches."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

import teddy
from cli.command import refused, run_here
from sweep.sweeps import wait_for_cells
from sweep.test_search import WIDE

COMMAND = ["--model", "gcn", "--epochs", "4", "--hidden-channels", "8", "--tolerance", WIDE,
           "--seeds", 5,
           "--max-level", 20, "--step", 10]  # fmt: skip


def test_the_command_prints_a_table_and_writes_requested_files(graph, tmp_path):
    files = ["--plot", "a.png", "--ticket", "a.ticket"]
    done = run_here("search", graph, *COMMAND, "--out", "x", *files, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "accepted" in done.stdout
    ticket = teddy.Ticket.load(tmp_path / "a.ticket").info
    edges, weights = (100 * (1 - n.kept / n.total) for n in (ticket.edges, ticket.weights))
    removed = f"{edges:.1f}% of edges and {weights:.1f}% of weights removed"
    assert f"Sparsest: level 20, {removed}." in done.stdout
    assert "It is the highest level tried; --max-level tries higher ones." in done.stdout
    assert "all levels and seeds would be 15" in done.stdout
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert ticket.graph_sparsity == pytest.approx(0.6415, 1e-3)
    again = run_here("search", graph, *COMMAND, "--out", "x", "--json", cwd=tmp_path)
    result = json.loads(again.stdout)
    assert result["trainings"]["computed"] == 0
    assert result["answers"][0]["edges"] == 20
    assert result["answers"][0]["verdict"] == "accepted"
    assert len(result["answers"][0]["test"]["ticket"]) == result["answers"][0]["seeds"]


def test_the_command_reports_that_no_level_was_accepted(graph, tmp_path):
    arguments = [*COMMAND, "--tolerance", 0, "--seeds", 2, "--ticket", "a.ticket", "--out", "x"]
    done = run_here("search", graph, *arguments, "--frontier", "--plot", "a.pdf", cwd=tmp_path)
    assert done.returncode == 1
    assert "No level was accepted" in done.stdout
    assert "Undecided with 2 seeds, counted as not accepted: level" in done.stdout
    assert "there is no ticket to save" in done.stderr
    assert not (tmp_path / "a.ticket").exists()
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tolerance", "-1"], "tolerance is -1"),
        (["--confidence", "95"], "confidence is 95"),
        (["--seeds", "1"], "seeds is 1"),
        (["--step", "0"], "max_level=40 and step=0"),
        (["--max-level", "3", "--step", "4"], "max_level=3 and step=4"),
        (["--plot", "a.gif"], "a.gif: ends in '.gif', expected .png, .pdf or .svg"),
        (["--model", "gnn"], "gnn"),
        (["--method", "tedy"], "tedy"),
    ],
)
def test_the_command_refuses_with_a_clear_message(tmp_path, arguments, message):
    done = run_here("search", "citeseer", *arguments, "--out", "x", cwd=tmp_path)
    assert message in refused(done)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_kill_9_and_ctrl_c_then_the_same_command_ends_with_the_same_answer(graph, tmp_path):
    arguments = ["search", graph, "--model", "gcn", "--epochs", "60", "--hidden-channels", "64",
                 "--seeds",
                 "8", "--tolerance", "0", "--max-level", "8", "--json"]  # fmt: skip
    whole = json.loads(run_here(*arguments, "--out", "whole", cwd=tmp_path).stdout)
    out = tmp_path / "killed"
    for target, end in ((2, signal.SIGKILL), (9, signal.SIGINT)):
        process = subprocess.Popen(
            [sys.executable, "-m", "teddy", *arguments, "--out", str(out)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        wait_for_cells(out, target, process)
        os.killpg(process.pid, end)
        _, errors = process.communicate(timeout=60)
        assert "Traceback" not in errors
    assert f"interrupted; the same command resumes from {out}" in errors
    done = json.loads(run_here(*arguments, "--out", out, cwd=tmp_path).stdout)
    assert 0 < done["trainings"].pop("computed") < whole["trainings"].pop("computed")
    del done["folder"], whole["folder"]
    assert done == whole
