"""Bad input, a full disk, Ctrl-C: one line, an exit code, nothing lost."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from cli.command import FAST, Started, refused, run_here, save_npz
from conftest import small_graph


def test_a_non_file_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "is not a file" in refused(run_here("find", *FAST, "--out", "pipe", cwd=tmp_path))
    assert (tmp_path / "pipe").is_fifo()


BAD = [
    (["find", "--graph-sparsity", "-0.1"], "graph_sparsity must be in [0, 1], got -0.1."),
    (["find", "--weight-sparsity", "1.5"], "weight_sparsity must be in [0, 1], got 1.5"),
    (["find", "--seeds", "0"], "seeds is 0"),
    (["find", "--seeds", "many"], "'--seeds'"),
    (["find", "--epochs", "0"], "epochs is 0"),
    (["find", "--model", "gnn"], "unknown model 'gnn'"),
    (["find", "--model", "gnc"], "did you mean 'gcn'"),
    (["find", "--method", "gnn"], "unknown method 'gnn'"),
    (["find", "--method", "teddy:distill=0", "--distill", "5"], "expected it in one place"),
    (["find", "--method", "teddy:lambda=1"], "teddy has no option 'lambda'"),
    (["find", "citeser"], "did you mean 'citeseer'"),
    (["find", "nothing.npz"], "nothing.npz"),
    (["find", "--split", "10/10/10"], "10/10/10"),
    (["find", "--split-seed", "7"], "split_seed is 7, but citeseer has its own split"),
    (["sweep", "citeseer", "--split-seed", "7", "--out", "x"], "split_seed is 7, but citeseer"),
    (["find", "--out", "nowhere/a.ticket"], "there is no folder nowhere"),
    (["find", "--out", "."], "is not a file"),
    (["find", "--device", "cuda:99"], "device is 'cuda:99'"),
    (["find", "--nonsense"], "--nonsense"),
    (["find", "--hidden-channels", "99999999999999999999"], "expected a whole number"),
    (["find", "--hidden-channels", "2000000000"], "not enough memory"),
    (["find", "--device", "meta"], "device is 'meta'"),
    (["find", "~nosuchuser/x.npz"], "nosuchuser"),
    (["find", "a\nb.npz"], "a b.npz"),
    (["find", "--out", "x" * 300], "can't be written"),
    (["inspect", "nothing.ticket"], "nothing.ticket: no such file"),
    (["predict", "nothing.ticket"], "nothing.ticket: no such file"),
    (["nonsense"], "nonsense"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=lambda value: str(value)[:40])
def test_bad_input_prints_one_line_and_exits_with_2(arguments, words, tmp_path):
    assert words in refused(run_here(*arguments, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_bad_graphs_print_a_clear_message_and_overwrite_nothing(tmp_path):
    out = tmp_path / "a.ticket"
    out.write_text("the old one")
    x = small_graph().x.numpy().copy()
    x[17, 3] = np.nan
    y = small_graph().y.numpy().copy()
    y[5] = -7
    edges = small_graph().edge_index.numpy().copy()
    edges[1, 12] = 99
    cases = {
        "nan.npz": ({"x": x}, "x[17, 3] is nan"),
        "label.npz": ({"y": y}, "y[5] is -7"),
        "edge.npz": ({"edge_index": edges}, "99"),
    }
    for name, (change, words) in cases.items():
        save_npz(tmp_path / name, **change)
        line = refused(run_here("find", name, *FAST, "--out", "a.ticket", cwd=tmp_path))
        assert name in line
        assert words in line
        assert out.read_text() == "the old one"


def test_a_ticket_and_another_graph_print_a_clear_message(tmp_path):
    assert run_here("find", *FAST, "--out", "a.ticket", cwd=tmp_path).returncode == 0
    assert "belongs to citeseer" in refused(run_here("predict", "a.ticket", "pubmed", cwd=tmp_path))
    content = (tmp_path / "a.ticket").read_bytes()
    (tmp_path / "a.ticket").write_bytes(content[:-100])
    for command in ("inspect", "predict"):
        assert "damaged" in refused(run_here(command, "a.ticket", cwd=tmp_path))


def test_a_full_disk_prints_one_line_and_the_old_ticket_stays(full_disk, tmp_path):
    old = full_disk / "a.ticket"
    old.write_text("the old one")
    done = run_here("find", "--epochs", 2, "--hidden-channels", 128, "--out", old, cwd=tmp_path)
    assert "No space left on device" in refused(done)
    assert old.read_text() == "the old one"
    assert [p.name for p in full_disk.iterdir()] == ["a.ticket"]


def wait_for_threads(pid: int) -> None:
    """Wait until a process that has torch loaded computes: it has used a second of time."""
    for _ in range(600):
        user_time = int(Path(f"/proc/{pid}/stat").read_text().split()[13])
        if user_time > os.sysconf("SC_CLK_TCK"):
            return
        time.sleep(0.1)
    raise AssertionError("the process does nothing")


def interrupt(process):
    """Press Ctrl-C until it is heard: an import may swallow the first one."""
    for _ in range(4):
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=25)[1]
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    raise AssertionError("the process doesn't stop")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_ctrl_c_leaves_no_traceback_and_no_file(tmp_path):
    process = Started("find", "--epochs", "100000", "--out", "a.ticket", cwd=tmp_path)
    wait_for_threads(process.pid)
    errors = interrupt(process)
    assert process.returncode == 130
    assert "interrupted, nothing was written" in errors
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_with_a_checkpoint_prints_how_to_resume(tmp_path, monkeypatch):
    from teddy import sweep

    def interrupted(*_args, **_settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(sweep, "find_over_seeds", interrupted)
    done = run_here("find", *FAST, "--checkpoint", "c", cwd=tmp_path)
    assert done.returncode == 130
    assert done.stderr == "teddy: interrupted; the same command resumes from c\n"
    without = run_here("find", *FAST, cwd=tmp_path)
    assert without.returncode == 130
    assert "interrupted, nothing was written" in without.stderr


@pytest.mark.parametrize("command", ["sweep", "search", "tune"])
def test_a_set_of_graphs_is_refused_before_any_training(command, tmp_path):
    done = run_here(command, "solubility", "--out", "o", cwd=tmp_path)
    refused(done)
    assert done.stderr == (
        "teddy: solubility: is a set of graphs, expected one graph for the task classification, "
        "or the task graph-classification\n"
    )
    assert not (tmp_path / "o").exists()
