"""``teddy sparsify`` as a user runs it."""

from __future__ import annotations

import json

import pytest

from cli.command import refused, run_here
from scale.reference import SCORES, kept_rows
from scale.tables import places, write

ROWS = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 3), (1, 0)]


def test_a_table_and_a_report(tmp_path):
    write(tmp_path / "in.parquet", ROWS)
    done = run_here("sparsify", "in.parquet", "out.parquet", "--sparsity", 0.5, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert places(tmp_path / "out.parquet") == [0, 3, 4, 5]
    assert "by memory (6 rows take about" in done.stdout
    for row in ("edges", "self-loops", "degree: mean, median, max", "components"):
        assert row in done.stdout


def test_json(tmp_path):
    write(tmp_path / "in.csv", ROWS)
    arguments = ["in.csv", "out.csv", "--sparsity", 0.5, "--engine", "stream", "--json"]
    done = json.loads(run_here("sparsify", *arguments, cwd=tmp_path).stdout)
    assert done["engine"] == "stream"
    assert done["edges"] == {"total": 4, "kept": 2}
    assert done["rows"] == {"total": 6, "kept": 4}
    assert done["degrees"] == {"nodes": 4, "mean": 2.0, "median": 2, "max": 3}
    assert done["components"] == 2
    assert set(done["seconds"]) == {"score", "choose", "write", "total"}
    assert places(tmp_path / "out.csv") == [0, 3, 4, 5]


def test_directed(tmp_path):
    write(tmp_path / "in.parquet", ROWS)
    arguments = ["in.parquet", "out.parquet", "--sparsity", 0.5, "--directed", "--json"]
    done = json.loads(run_here("sparsify", *arguments, cwd=tmp_path).stdout)
    assert done["edges"] == {"total": 5, "kept": 2}


@pytest.mark.parametrize("engine", ["memory", "stream", "duckdb"])
@pytest.mark.parametrize("score", SCORES)
def test_scores(tmp_path, score, engine):
    write(tmp_path / "in.parquet", ROWS)
    options = ["--sparsity", 0.5, "--score", score, "--seed", 3, "--engine", engine, "--json"]
    done = json.loads(run_here("sparsify", "in.parquet", "o.csv", *options, cwd=tmp_path).stdout)
    assert (done["score"], done["seed"]) == (score, 3 if score == "random" else None)
    stays = kept_rows(ROWS, 0.5, score=score, seed=3)
    assert places(tmp_path / "o.csv") == [i for i, stay in enumerate(stays) if stay]


def test_the_report_names_the_score(tmp_path):
    write(tmp_path / "in.parquet", ROWS)
    options = ["--sparsity", 0.5, "--score", "random", "--seed", 3]
    done = run_here("sparsify", "in.parquet", "out.parquet", *options, cwd=tmp_path)
    assert "out.parquet: random, by memory (" in done.stdout
    assert "random score 0, seed 3" in done.stdout
    done = run_here("sparsify", "in.parquet", "all.csv", "--sparsity", 0, "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["threshold"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["in.parquet", "out.parquet"], "Missing option '--sparsity'"),
        (
            ["in.parquet", "out.parquet", "--sparsity", "2"],
            "sparsity must be in [0, 1], got 2 (did",
        ),
        (["none.parquet", "out.parquet", "--sparsity", "0.5"], "none.parquet: no such file"),
        (["in.parquet", "in.parquet", "--sparsity", "0.5"], "holds the input"),
        (["in.parquet", "o.csv", "--sparsity", "0.5", "--engine", "dask"], "unknown engine 'dask'"),
        (
            ["in.parquet", "o.csv", "--sparsity", "0.5", "--score", "gain"],
            "score 'gain' is not supported for edge tables, expected one of: teddy, degree-high, ",
        ),
        (["in.parquet", "o.csv", "--sparsity", "0.5", "--seed", "-1"], "seed is -1, expected"),
        (["in.parquet", "o.csv", "--sparsity", "0.5", "--memory", "lots"], "memory is 'lots'"),
        (
            ["in.parquet", "o.csv", "--sparsity", "0.5", "--engine", "duckdb", "--memory", "1MB"],
            "expected at least 1.2 GB for duckdb",
        ),
        (
            ["in.parquet", "o.csv", "--sparsity", "0.5", "--engine", "stream", "--memory", "1MB"],
            "memory is 0.0 GB, expected at least 1.2 GB for stream",
        ),
        (["file:///in.parquet", "o", "--sparsity", "0.5"], "expected both with a scheme"),
    ],
)
def test_bad_input(tmp_path, arguments, message):
    write(tmp_path / "in.parquet", ROWS)
    assert message in refused(run_here("sparsify", *arguments, cwd=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]
