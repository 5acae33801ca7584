"""The cells behind published tables are kept, and give these tables."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from cli.command import run_here

RESULTS = Path(__file__).parents[2] / "docs" / "results" / "paper"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    with tarfile.open(RESULTS / "cells.tar.xz") as cells:
        cells.extractall(folder, filter="data")
    large = ["large-scale", "--datasets", "arxiv-surrogate", "--epochs", 40]
    for names in (["transformers", "inductive"], large):
        done = run_here("reproduce", *names, "--no-run", "--out", folder, "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    ("table", "rows"),
    [("transformers/transformers", 75), ("inductive/inductive", 100), ("large-scale/costs", 9)],
)
def test_the_cells_give_the_published_table(made, table, rows):
    text = (made / f"{table}.csv").read_text()
    assert text == (RESULTS / f"{table}.csv").read_text()
    assert len(text.splitlines()) > rows
