"""Tasks, directions, class weights and weights of edges at the command line."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
import torch

import teddy
from cli.command import refused, run_here, save_npz
from conftest import small_graph

TINY = ["--epochs", 3, "--hidden-channels", 8, "--model", "gcn"]


def targets(name):
    x = small_graph().x.numpy()
    return (x[:, :3] > 0.3).astype(int) if name == "multilabel" else 50 + 10 * x[:, 0]


@pytest.mark.parametrize(
    ("task", "metric", "columns"),
    [
        ("multilabel", "micro-F1", ["node", "label 0", "label 1", "label 2"]),
        ("regression", "R2", ["node", "value"]),
    ],
)
def test_a_task_from_find_to_predict(task, metric, columns, tmp_path):
    save_npz(tmp_path / "graph.npz", y=targets(task))
    done = run_here("find", "graph.npz", *TINY, "--task", task, "--out", "a.ticket", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"test {metric} %" in done.stdout
    assert "edges within a class" in done.stdout
    ticket = teddy.Ticket.load(tmp_path / "a.ticket")
    data = teddy.load_dataset(tmp_path / "graph.npz", task=task)
    assert f"test {metric} %" in run_here("inspect", "a.ticket", cwd=tmp_path).stdout

    done = run_here("predict", "a.ticket", "graph.npz", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"test {metric} {ticket.info.ticket.test:.2f}%" in done.stderr
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows[0] == columns
    predicted = ticket.predict(data).view(40, -1)
    np.testing.assert_allclose(np.array(rows[1:], dtype=float)[:, 1:], predicted, rtol=1e-6)


def test_json_has_task_metric_and_direction(tmp_path):
    save_npz(tmp_path / "graph.npz", y=targets("regression"))
    done = run_here(
        "find", "graph.npz", *TINY, "--task", "regression", "--directed", "--json", cwd=tmp_path
    )
    result = json.loads(done.stdout)
    assert (result["task"], result["metric"], result["directed"]) == ("regression", "R2", True)
    assert result["health"]["before"]["homophily"] is None


def test_directions_and_weights_of_a_table_reach_the_ticket(tmp_path):
    data = small_graph()
    half = data.edge_index[:, : data.num_edges // 2]
    rng = np.random.default_rng(0)
    weights = rng.random((40, 40)).round(3) + 0.5
    directed_edges = sorted({(s, t) for s, t in half.t().tolist() if s != t})
    lines = [f"{s},{t},{weights[s, t]}" for s, t in directed_edges]
    (tmp_path / "edges.csv").write_text("source,target,weight\n" + "\n".join(lines) + "\n")
    split = np.select([data.train_mask, data.val_mask], ["train", "val"], "test")
    rows = [
        f"{i},{data.y[i]},{split[i]}," + ",".join(map(str, data.x[i].tolist())) for i in range(40)
    ]
    heads = ",".join(f"f{i}" for i in range(12))
    (tmp_path / "nodes.csv").write_text(f"id,label,split,{heads}\n" + "\n".join(rows) + "\n")

    options = ["--directed", "--class-weight", "balanced", "--method", "teddy:weighted=true"]
    done = run_here("find", ".", *TINY, *options, "--out", "a.ticket", "--report", "a.html",
                    cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    ticket = teddy.Ticket.load(tmp_path / "a.ticket")
    assert ticket.info.graph["directed"]
    assert ticket.info.graph["edge_inputs"] == ["edge_weight"]
    assert len(ticket.info.config["class_weight"]) == 3
    own = data.clone()
    own.edge_index = torch.tensor(directed_edges).t()
    own.edge_weight = torch.tensor([weights[s, t] for s, t in directed_edges]).float()
    same = teddy.find_ticket(own, "gcn", epochs=3, hidden_channels=8, directed=True, weighted=True,
                             class_weight="balanced")  # fmt: skip
    torch.testing.assert_close(ticket.logits(own), same.logits(own))
    done = run_here("predict", "a.ticket", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"test accuracy {ticket.info.ticket.test:.2f}%" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--task", "ranking"], "unknown task 'ranking'"),
        (["--task", "multilabel"], "y has shape [40], expected [40, labels] of 0 and 1"),
        (["--class-weight", "even"], "class_weight is 'even', expected 'balanced'"),
        (["--directed", "--model", "specformer"], "model specformer does not support"),
        (["--method", "random:weighted=true"], "score random does not support weighted degrees"),
        (["--method", "teddy:weighted=true"], "weighted is True, expected data with edge_weight"),
        (["--method", "wd-glt", "--task", "regression"], "does not support method wd-glt"),
    ],
)
def test_unsupported_settings_print_a_clear_message(options, message, tmp_path):
    save_npz(tmp_path / "graph.npz")
    done = run_here("find", "graph.npz", *TINY, *options, "--out", "a.ticket", cwd=tmp_path)
    assert message in refused(done)
    assert not (tmp_path / "a.ticket").exists()


def test_weights_that_differ_by_direction_are_refused(tmp_path):
    source, target = small_graph().edge_index.numpy()
    save_npz(tmp_path / "graph.npz", edge_weight=40.0 * source + target + 1)
    line = refused(run_here("find", "graph.npz", *TINY, cwd=tmp_path))
    assert "directed=True has one for each direction" in line
