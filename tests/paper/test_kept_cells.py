"""The cells behind published tables are kept, and give these tables."""

from __future__ import annotations

import csv
import tarfile
from pathlib import Path

import pytest

from cli.command import run_here
from teddy.sweep.statistics import ENOUGH_SEEDS, Difference

RESULTS = Path(__file__).parents[2] / "docs" / "results" / "paper"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    with tarfile.open(RESULTS / "cells.tar.xz") as cells:
        cells.extractall(folder, filter="data")
    large = ["large-scale", "--datasets", "arxiv-surrogate", "--epochs", 40]
    for names in (["transformers", "inductive", "extreme"], large):
        done = run_here("reproduce", *names, "--no-run", "--out", folder, "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ("transformers/transformers", 75),
        ("inductive/inductive", 100),
        ("large-scale/costs", 9),
        ("extreme/extreme", 33),
        ("extreme/heat-map", 15),
    ],
)
def test_the_cells_give_the_published_table(made, table, rows):
    text = (made / f"{table}.csv").read_text()
    assert text == (RESULTS / f"{table}.csv").read_text()
    assert len(text.splitlines()) > rows


TABLES = [
    path
    for path in (*RESULTS.glob("*/*.csv"), RESULTS.parent / "methods.csv")
    if {"seeds", "verdict"} <= set(path.read_text().splitlines()[0].split(","))
]


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_published_verdicts_are_those_of_the_code(path):
    """Also of tables whose cells were not kept."""
    assert len(TABLES) == 8
    rows = [row for row in csv.DictReader(path.open()) if row["verdict"] not in ("", "dense")]
    assert rows
    for row in rows:
        seeds = int(row["seeds"])
        assert (row["verdict"] == "too few seeds") == (seeds < ENOUGH_SEEDS)
        if row.get("low"):
            mean, low, high = (float(row[name]) for name in ("difference", "low", "high"))
            assert row["verdict"] == Difference(mean, low, high, seeds).verdict
            assert high > low
