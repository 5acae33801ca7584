"""``teddy report``."""

from __future__ import annotations

import json

import pytest

from cli.command import refused, run_forked, run_here
from report.rows import sweep
from teddy.sweep.results_table import write_table


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run").mkdir()
    write_table(sweep(), tmp_path / "run" / "results.parquet")
    return tmp_path


def test_a_sweep_becomes_a_page_and_plots(folder):
    done = run_here(
        "report", "run", "-o", "my.html", "--plots", "plots", "--title", "Mine", cwd=folder
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["my.html", "plots/accuracy.png", "plots/accuracy.pdf"]
    assert "<title>Mine</title>" in (folder / "my.html").read_text()
    assert (folder / "plots" / "accuracy.pdf").read_bytes().startswith(b"%PDF")


def test_json_lists_the_written_files(folder):
    done = run_here("report", "run/results.parquet", "--json", cwd=folder)
    assert json.loads(done.stdout) == {"report": "report.html", "cells": 54, "plots": []}


def test_bad_input_prints_a_clear_message_and_writes_nothing(folder):
    assert "nowhere: has no results" in refused(run_here("report", "nowhere", cwd=folder))
    line = refused(run_here("report", "run", "-o", "nowhere/a.html", cwd=folder))
    assert "there is no folder nowhere" in line
    assert [path.name for path in folder.iterdir()] == ["run"]


def test_without_plotly_the_message_names_the_package(folder):
    fake = folder / "fake"
    fake.mkdir()
    (fake / "plotly.py").write_text("raise ModuleNotFoundError('no', name='plotly')")
    done = run_forked("report", "run", cwd=folder, PYTHONPATH=str(fake))
    assert refused(done) == "teddy: a report needs plotly: pip install 'teddy-glt[report]'"
    assert not (folder / "report.html").exists()
