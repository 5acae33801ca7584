"""Sets of graphs at the command line."""

from __future__ import annotations

import csv
import io
import json

import pytest
import torch
from pyarrow.parquet import read_table
from torch_geometric.data import Data

import teddy
from cli.command import refused, run_here
from graph_sets import rings_and_trees

TASK = ["--task", "graph-classification"]
TINY = ["--epochs", 3, "--hidden-channels", 8, "--model", "gcn"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("graphs")
    torch.save(rings_and_trees(), path / "rings.pt")
    done = run_here("find", "solubility", *TASK, *TINY, "--out", "s.ticket", "--json", cwd=path)
    assert done.returncode == 0, done.stderr
    (path / "found.json").write_text(done.stdout)
    return path


def test_from_find_to_predict(folder):
    result = json.loads((folder / "found.json").read_text())
    assert (result["task"], result["metric"]) == ("graph-classification", "accuracy")
    assert result["edges"] == {"total": 17153, "kept": 5523}
    assert result["health"]["after"]["edges"] == 5523
    ticket = teddy.Ticket.load(folder / "s.ticket")
    done = run_here("predict", "s.ticket", cwd=folder)
    assert done.returncode == 0, done.stderr
    expected = f"1,282 graphs to stdout; test accuracy {ticket.info.ticket.test:.2f}%"
    assert done.stderr.strip() == expected
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows[0] == ["graph", "class", "confidence"]
    classes = [ticket.info.classes[c] for c in ticket.predict(teddy.load_dataset("solubility"))]
    assert [row[1] for row in rows[1:]] == classes


def test_inspect_shows_the_parts(folder):
    done = run_here("inspect", "--all", "s.ticket", cwd=folder)
    assert done.returncode == 0, done.stderr
    for text in ("820 graphs that train", "257 graphs that test", "nodes without an edge"):
        assert text in done.stdout
    metadata = json.loads(run_here("inspect", "s.ticket", "--json", cwd=folder).stdout)
    assert metadata["graphs"]["parts"]["val"] == {"graphs": 205, "total": 2797, "kept": 905}
    assert metadata["left"]["hubs"][0]["node"].count(":") == 1


def test_a_ticket_is_timed_and_exported(folder, monkeypatch):
    monkeypatch.setattr("teddy.ticket.speed._MOST", 1)
    done = run_here("bench", "s.ticket", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    ways = [row["way"] for row in json.loads(done.stdout)["rows"] if row["threads"] == 1]
    assert ways == ["dense", "sparse graph", "sparse weights", "compiled"]
    done = run_here("export", "s.ticket", "s.pt2", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "s.pt2: logits(x, edge_index, batch), " in done.stdout
    done = run_here("export", "s.ticket", "s.parquet", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert read_table(folder / "s.parquet").num_rows == 5523


def test_an_epoch_of_any_task_is_timed(folder):
    tiny = "--models", "gcn", "--epochs", 3, "--hidden-channels", 4, "--json"
    for arguments in (
        ["rings.pt", "--task", "graph-classification:readout=max"],
        ["citeseer", "--task", "link-prediction:dimensions=8"],
        ["citeseer", "--inductive", "--split", "20/40/40", "--evaluate-every", 2],
        ["citeseer", "--directed", "--class-weight", "balanced", "--threads", 1],
        ["citeseer", "--loader", "partitions:parts=4:batch=2"],
    ):
        done = run_here("bench", *arguments, *tiny, cwd=folder)
        assert done.returncode == 0, done.stderr
        rows = json.loads(done.stdout)["rows"]
        assert rows[0]["model"] == "gcn"
        assert all(row["torch_ms"] > 0 for row in rows)
    line = refused(run_here("bench", *tiny, "--evaluate-every", 3, cwd=folder))
    assert "epochs is 3, expected a whole number from 4" in line


def test_your_own_list(folder):
    done = run_here("find", "rings.pt", *TINY, "--task",
                    "graph-classification:readout=sum", "--budget", "all", "--split", "50/25/25",
                    "--out", "r.ticket", cwd=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    info = teddy.Ticket.load(folder / "r.ticket").info
    assert (info.graphs["budget"], info.graphs["readout"]) == ("all", "sum")
    assert (info.split, info.split_seed) == ("50/25/25", 0)
    done = run_here("predict", "r.ticket", "rings.pt", "--json", cwd=folder)
    assert json.loads(done.stdout)["test"] == info.ticket.test
    new = rings_and_trees(seed=3)
    for graph in new:
        del graph.y, graph.train_mask, graph.val_mask, graph.test_mask
    torch.save(new, folder / "new.pt")
    done = run_here("predict", "r.ticket", "new.pt", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "40 graphs to stdout; no accuracy, data have no labels" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["find", "solubility"], "is a set of graphs, expected one graph for the task"),
        (["find", "citeseer", *TASK], "citeseer: is one graph, expected several for the task"),
        (
            ["find", "solubility", *TASK, "--budget", "every"],
            "budget is 'every'",
        ),
        (
            ["find", "solubility", "--task", "graph-classification:readout=mode"],
            "readout is 'mode'",
        ),
        (["find", "solubility", *TASK, "--method", "gain"], "does not support score gain"),
        (
            ["find", "solubility", "--task", "regression"],
            "is a set of graphs, expected the task graph-classification",
        ),
        (["find", "citeseer", "--task", "regression:budget=all"], "has no option 'budget'"),
        (["bench", "solubility"], "is a set of graphs, expected one graph for the task class"),
        (["bench", "s.ticket", *TASK], "expected --task only with a data set"),
        (["export", "s.ticket", "a.onnx", "solubility"], "expected it only for .parquet"),
        (["predict", "s.ticket", "--changed", "scored"], "its tickets take any graphs without it"),
        (["predict", "s.ticket", "citeseer"], "citeseer: is one graph, expected several"),
        (["predict", "s.ticket", "rings.pt"], "the ticket expects 14 features, got 4"),
        (
            ["inspect", "s.ticket", "--node", "3"],
            "node is '3', expected an id of the graph, such as '0:0'",
        ),
    ],
)
def test_unsupported_settings_print_a_clear_message(arguments, line, folder):
    before = {path.name for path in folder.iterdir()}
    assert line in refused(run_here(*arguments, cwd=folder))
    assert {path.name for path in folder.iterdir()} == before


def test_other_graphs_are_not_evaluated_on_the_tickets_split(folder):
    """A split that is drawn by labels would make test graphs of some that it learnt from."""
    graphs = [Data(x=g.x, edge_index=g.edge_index, y=g.y) for g in rings_and_trees()]
    torch.save(graphs, folder / "bare.pt")
    torch.save(graphs[2:] + graphs[:2], folder / "turned.pt")  # classes in the same order
    done = run_here("find", "bare.pt", *TASK, *TINY, "--out", "b.ticket", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "test accuracy" in run_here("predict", "b.ticket", "bare.pt", cwd=folder).stderr
    done = run_here("predict", "b.ticket", "turned.pt", cwd=folder)
    assert "40 graphs to stdout; no accuracy, the graphs differ from the ticket's" in done.stderr


def test_labels_needn_be_such_as_one_could_train_on(folder):
    graphs = rings_and_trees()
    done = run_here("find", "rings.pt", *TASK, *TINY, "--out", "l.ticket", cwd=folder)
    assert done.returncode == 0, done.stderr
    for y, file in ((1, "one.pt"), (7, "seven.pt")):
        for graph in graphs:
            graph.y = y
        torch.save(graphs, folder / file)
    done = run_here("predict", "l.ticket", "one.pt", cwd=folder)
    assert (done.returncode, done.stdout.count("\n")) == (0, 41), done.stderr
    line = refused(run_here("predict", "l.ticket", "seven.pt", cwd=folder))
    assert "y[0] is 7, expected a class of the model, 0 to 1, or -1" in line
    for graph in graphs:
        del graph.y
    torch.save(graphs, folder / "no-labels.pt")
    done = run_here("inspect", "l.ticket", "no-labels.pt", cwd=folder)
    assert done.returncode == 0, done.stderr
