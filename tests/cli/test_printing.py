"""Output of the commands: limited lines, untrusted names, progress in a pipe."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import pytest

import teddy
from cli.command import run_here
from conftest import small_graph
from teddy.cli import progress
from teddy.cli.inspect import FIRST_LINES
from teddy.cli.printing import limited_output, print_table, print_text

ESCAPE = "\x1b[31mred\x07\x9b2J\u202e"


def test_inspect_prints_the_first_lines_and_all_of_them_on_request(tmp_path):
    teddy.find_ticket(small_graph(), "gin", epochs=1).save(tmp_path / "a.ticket")
    every = run_here("inspect", "a.ticket", "--all", cwd=tmp_path).stdout.splitlines()
    shown = run_here("inspect", "a.ticket", cwd=tmp_path).stdout.splitlines()
    assert shown[:FIRST_LINES] == every[:FIRST_LINES]
    while every[-1] == "":
        every.pop()
    assert shown[FIRST_LINES:] == [f"... {len(every) - FIRST_LINES} more lines, printed with --all"]


@pytest.mark.parametrize(("lines", "limit", "printed"), [(5, 3, 4), (4, 3, 4), (3, 3, 3)])
def test_a_line_is_not_replaced_by_the_number_of_one_line(lines, limit, printed, capsys):
    with limited_output(limit):
        print("\n".join(map(str, range(lines))))
    assert len(capsys.readouterr().out.splitlines()) == printed


def test_names_do_not_control_the_terminal(capsys):
    print_table(ESCAPE, ["name", ESCAPE], [[ESCAPE, 1]])
    print_text(ESCAPE)
    out = capsys.readouterr().out
    assert out.count("red") == 4
    assert not set(ESCAPE) - set("[31mred2J") & set(out)


def test_a_ticket_with_escape_sequences_is_printed_without_them(tmp_path):
    data = small_graph()
    data.name = ESCAPE
    ticket = teddy.find_ticket(data, "gcn", epochs=1)
    ticket.save(tmp_path / "a.ticket")
    done = run_here("inspect", "a.ticket", "--all", cwd=tmp_path)
    assert done.returncode == 0
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(done.stdout)
    whole = json.loads(run_here("inspect", "a.ticket", "--json", cwd=tmp_path).stdout)
    assert whole["dataset"] == ESCAPE


def test_errors_do_not_control_the_terminal(tmp_path):
    line = run_here("find", "\x1b[31mcora", cwd=tmp_path).stderr
    assert "\x1b" not in line
    assert "unknown data set '\ufffd[31mcora'" in line


def test_progress_in_a_pipe_is_a_line_every_few_seconds(monkeypatch, capsys):
    now = 100.0
    monkeypatch.setattr(progress, "SECONDS", 5.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    assert not sys.stderr.isatty()
    with progress.seed_progress(2, first=7) as report:
        for second in range(1, 12):
            now = 100.0 + second
            report(7, "dense", SimpleNamespace(index=second - 1, val=80.0), second / 40)
    assert capsys.readouterr().err.splitlines() == [
        "teddy: seed 1/2, dense, epoch 5, 6% done, 1:15 left",
        "teddy: seed 1/2, dense, epoch 10, 12% done, 1:10 left",
    ]
    with progress.cell_progress(4) as cells:
        cells(0, 4)
        now += 6.0
        cells(1, 4)
        now += 1.0
        cells(2, 4)
    assert capsys.readouterr().err == "teddy: 1 of 4 cells, 25% done, 0:18 left\n"


def test_silent_progress_prints_nothing(monkeypatch, capsys):
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    with progress.seed_progress(1, silent=True) as report:
        report(0, "dense", SimpleNamespace(index=0, val=80.0), 0.5)
    assert capsys.readouterr().err == ""
