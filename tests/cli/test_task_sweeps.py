"""Sweeps, reports, searches and tuning of every task at the command line, named by its metric."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from cli.command import refused, run_here, save_npz
from conftest import small_graph
from graph_sets import rings_and_trees
from teddy.sweep import read_table
from teddy.tasks import parse_task

TINY = ["--epochs", 2, "--hidden-channels", 8]
SWEEP = ["--models", "gcn", "--methods", "teddy,random", "--levels", "0,5", "--seeds", 3,
         *TINY]  # fmt: skip
METRICS = {
    "classification": "accuracy",
    "multilabel": "micro-F1",
    "regression": "R2",
    "link-prediction": "AUC",
    "graph-classification": "accuracy",
}


def save_data(folder, task):
    """Write a data set of a task; return the name of its file."""
    if task == "graph-classification":
        torch.save(rings_and_trees(), folder / "graphs.pt")
        return "graphs.pt"
    x = small_graph().x.numpy()
    y = {"multilabel": (x[:, :3] > 0.3).astype(int), "regression": 50 + 10 * x[:, 0]}
    save_npz(folder / "graph.npz", **({"y": y[task]} if task in y else {}))
    return "graph.npz"


def words_of(page):
    """A page without the code of plotly."""
    scripts = re.findall(r"<script>.*?</script>", page, flags=re.S)
    longest = max(scripts, key=len)
    return page.replace(longest, "")


def names_only(text, metric):
    """Whether a text names a metric, and accuracy only if that is it."""
    assert metric.lower() in text.lower()
    if metric != "accuracy":
        found = re.search(r".{0,60}accurac.{0,40}", text, flags=re.I)
        assert found is None, found[0]


@pytest.fixture(scope="module", params=METRICS)
def swept(request, tmp_path_factory):
    """A sweep of a task with its page: folder, task, name of the file, what was printed."""
    task, folder = request.param, tmp_path_factory.mktemp(request.param)
    file = save_data(folder, task)
    done = run_here(
        "sweep", file, "--task", task, *SWEEP, "--out", "d", "--report", "page.html", "--json",
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder, task, file, json.loads(done.stdout)


def test_a_sweep_names_the_metric(swept):
    folder, task, _, result = swept
    metric = METRICS[task]
    assert (result["missing"], result["failures"]) == (0, [])
    assert (result["task"], result["metric"]) == (task, metric)
    assert {(s["task"], s["metric"]) for s in result["summary"]} == {(task, metric)}
    names_only(words_of((folder / "page.html").read_text()), metric)
    done = run_here("sweep", "--summary", "--out", "d", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"test {metric} %" in done.stdout
    names_only(done.stdout, metric)
    assert ("hits@50" in done.stdout) == (task == "link-prediction")


def test_rows_have_the_columns_of_the_task(swept):
    folder, task, _, _ = swept
    rows = read_table(folder / "d")
    assert len(rows) == 12
    for row in rows:
        assert (row["task"], row["metric"]) == (task, METRICS[task])
        assert (row["homophily"] is not None) == (task == "classification")
        assert row["seconds_predict_ticket"] > 0
        assert row["isolated"] is not None
        assert row["edges_total"] == rows[0]["edges_total"]
        if row["simulation"]:
            assert row["pruned_degree"] > 0
            assert row["edges_kept"] < row["edges_total"]
        else:
            assert row["test"] == row["dense_test"]
            assert row["hits"] == row["dense_hits"]
        assert (row["hits"] is not None) == (task == "link-prediction")
        assert row["hits_at"] == (50 if task == "link-prediction" else None)
    (test_rows,) = {row["test_rows"] for row in rows}
    (resolution,) = {row["resolution"] for row in rows}
    if task == "link-prediction":
        assert resolution == 100 / (test_rows / 2) ** 2
    elif task == "multilabel":
        labels = small_graph().x[small_graph().test_mask][:, :3] > 0.3
        assert resolution == 100 / int(labels.sum())
    else:
        assert resolution == 100 / test_rows


def test_a_report_names_the_metric(swept):
    folder, task, _, _ = swept
    metric = METRICS[task]
    done = run_here("report", "d", "-o", "again.html", "--plots", "plots", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert sorted(path.stem for path in (folder / "plots").iterdir()) == [metric.lower()] * 2
    page = words_of((folder / "again.html").read_text())
    names_only(page, metric)
    assert f"test {metric}" in page
    title = metric[0].upper() + metric[1:]
    assert f"{title} against sparsity" in page
    assert ("hits@50" in page) == (task == "link-prediction")


def test_a_search_names_the_metric(swept):
    folder, task, file, _ = swept
    options = ["--task", task, "--model", "gcn", "--max-level", 10, "--step", 5, "--seeds", 3,
               "--tolerance", 200, *TINY]  # fmt: skip
    done = run_here("search", file, *options, "--out", "s", "--plot", "s.png", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"validation {METRICS[task]}" in done.stdout
    names_only(done.stdout, METRICS[task])
    done = run_here("search", file, *options, "--out", "s", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["task"], found["metric"]) == (task, METRICS[task])
    if task != "regression":  # after two epochs R2 may be anything
        (answer,) = found["answers"]
        assert ("hits" in answer) == (task == "link-prediction")


def test_tuning_names_the_metric(swept):
    folder, task, file, _ = swept
    options = ["--task", task, "--model", "gcn", "--trials", 2, "--seeds", 1, *TINY]
    done = run_here("tune", file, *options, "--out", "t", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"mean validation {METRICS[task]} %" in done.stdout
    names_only(done.stdout, METRICS[task])
    done = run_here("tune", file, *options, "--out", "t", "--json", cwd=folder)
    found = json.loads(done.stdout)
    assert (found["metric"], len(found["trials"])) == (METRICS[task], 2)


def test_find_writes_a_page_for_every_task(swept):
    folder, task, file, _ = swept
    done = run_here(
        "find", file, "--task", task, "--model", "gcn", *TINY, "--seeds", 2, "--report", "f.html",
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"test {METRICS[task]} %" in done.stdout
    names_only(done.stdout, METRICS[task])
    names_only(words_of((folder / "f.html").read_text()), METRICS[task])


def test_another_task_in_the_same_folder_is_refused(swept):
    folder, task, _, _ = swept
    other = "regression" if task == "link-prediction" else "link-prediction"
    (folder / "other").mkdir()
    file = Path("other") / save_data(folder / "other", other)
    done = run_here("sweep", file, "--task", other, *SWEEP, "--out", "d", cwd=folder)
    known = None if task == "classification" else task
    assert f"d: holds results with task {known}, got {other}" in refused(done)


def test_tuning_starts_from_the_default_of_the_task(tmp_path):
    file = save_data(tmp_path, "link-prediction")
    options = ["--model", "gin", "--search", "lr", "--trials", 1, "--seeds", 1, *TINY, "--json"]
    found = {
        task: json.loads(
            run_here("tune", file, "--task", task, *options, "--out", task, cwd=tmp_path).stdout
        )["best"]["lr"]
        for task in ("classification", "link-prediction")
    }
    assert found == pytest.approx({"classification": 0.01, "link-prediction": 0.003})


LINKS = ["--task", "link-prediction:hits_at=5:dimensions=4", "--split", "60/20/20"]


@pytest.mark.parametrize(
    ("options", "weighted"),
    [
        ([], True),
        (["--directed"], False),
        (["--directed"], True),
        (["--loader", "partitions:parts=4"], False),
        (["--class-weight", "balanced"], False),
        (["--inductive"], True),
        (["--inductive", "--task", "regression"], False),
        (LINKS, False),
        (LINKS, True),
    ],
)
def test_sweeps_take_the_settings_of_find(options, weighted, tmp_path):
    source, target = small_graph().edge_index.numpy()
    changes = {"edge_weight": (1.0 + np.minimum(source, target)) / 40} if weighted else {}
    if "regression" in options:
        changes["y"] = small_graph().x.numpy()[:, 0]
    save_npz(tmp_path / "graph.npz", **changes)
    done = run_here(
        "sweep", "graph.npz", *SWEEP, *options, "--out", "d", "--report", "page.html", "--json",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["missing"] == 0
    task = options[options.index("--task") + 1] if "--task" in options else "classification"
    assert result["metric"] == parse_task(task).metric
    if options is LINKS:
        assert {summary["hits_at"] for summary in result["summary"]} == {5}
        assert "hits@5" in (tmp_path / "page.html").read_text()


def test_a_sweep_that_fails_in_every_cell_has_no_page(tmp_path):
    save_npz(tmp_path / "graph.npz")
    options = ["--methods", "teddy", "--levels", "5", "--loader", "partitions:parts=400"]
    done = run_here(
        "sweep", "graph.npz", *SWEEP, *options, "--report", "page.html", "--json", cwd=tmp_path
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["report"] is None
    assert not (tmp_path / "page.html").exists()
