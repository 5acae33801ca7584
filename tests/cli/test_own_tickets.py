"""Tickets with weights, directions, other targets and own modules at the command line, later."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
import torch

import teddy
from cli.command import refused, run_here, save_npz
from cli.test_own import targets
from methods.test_own import Weighted, own_graph
from ticket.test_export import read_edges

KINDS = ("weighted", "directed", "multilabel", "regression")
METRICS = {"multilabel": "micro-F1", "regression": "R2"}


def arrays(data):
    return {key: data[key].numpy() for key in data.keys()}  # noqa: SIM118


def later(changes):
    """The same graph with one edge more, from node 1 to 38."""
    edges = np.concatenate([changes["edge_index"], [[1], [38]]], axis=1)
    more = {"edge_index": edges}
    if "edge_weight" in changes:
        more["edge_weight"] = np.append(changes["edge_weight"], np.float32(1.25))
    return {**changes, **more}


@pytest.fixture(scope="module", params=KINDS)
def home(request, tmp_path_factory):
    """A ticket of each kind, its graph, the graph with an edge more, and how to load them."""
    kind, folder = request.param, tmp_path_factory.mktemp(request.param)
    how = {"task": kind if kind in METRICS else "classification", "directed": kind == "directed"}
    changes = arrays(own_graph(kind == "directed", "edge_weight"))
    if kind in METRICS:
        changes["y"] = targets(kind)
    save_npz(folder / "graph.npz", **changes)
    save_npz(folder / "later.npz", **later(changes))
    data = teddy.load_dataset(folder / "graph.npz", **how)
    weighted = kind in ("weighted", "directed")
    ticket = teddy.find_ticket(
        data, "gcn", 0.5, 0.5, epochs=3, hidden_channels=4, weighted=weighted, **how
    )
    ticket.save(folder / "a.ticket")
    return folder, ticket, how


def test_predictions_are_the_tickets(home, tmp_path):
    folder, ticket, how = home
    data = teddy.load_dataset(folder / "graph.npz", **how)
    done = run_here("predict", folder / "a.ticket", folder / "graph.npz", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert found["test"] == pytest.approx(ticket.info.ticket.test)
    check(found["predictions"], ticket.predict(data), how)


def check(rows, predicted, how):
    values = [row[1:2] if how["task"] == "classification" else row[1:] for row in rows]
    found = np.array(values, dtype=float)
    np.testing.assert_allclose(found, predicted.view(len(rows), -1), rtol=1e-5)


def test_predictions_need_no_labels(home, tmp_path):
    folder, ticket, how = home
    data = teddy.load_dataset(folder / "graph.npz", **how)
    fields = dict(np.load(folder / "graph.npz"))
    unlabelled = {key: fields[key] for key in ("x", "edge_index", "edge_weight") if key in fields}
    np.savez(tmp_path / "graph.npz", **unlabelled)
    done = run_here("predict", folder / "a.ticket", "graph.npz", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    metric = METRICS.get(how["task"], "accuracy")
    assert f"no {metric}, data have no labels" in done.stderr
    check(list(csv.reader(io.StringIO(done.stdout)))[1:], ticket.predict(data), how)


@pytest.mark.parametrize("rule", ["scored", "training", "none"])
def test_predictions_on_a_changed_graph(home, rule, tmp_path):
    folder, ticket, how = home
    data, before = (teddy.load_dataset(folder / f"{n}.npz", **how) for n in ("later", "graph"))
    original = ["--original", folder / "graph.npz"] if rule == "training" else []
    arguments = [folder / "a.ticket", folder / "later.npz", "--changed", rule, *original]
    done = run_here("predict", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    metric = METRICS.get(how["task"], "accuracy")
    assert f"test {metric} " in done.stderr
    rows = list(csv.reader(io.StringIO(done.stdout)))[1:]
    there = ticket.transfer(data, rule, before if original else None)
    check(rows, there.predict(data), how)
    assert "has it changed since" in refused(run_here("predict", *arguments[:2], cwd=tmp_path))


def test_exports_print_their_inputs(home, tmp_path):
    folder, ticket, how = home
    done = run_here("export", folder / "a.ticket", "a.pt2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    gives = "predictions" if how["task"] == "regression" else "logits"
    assert done.stdout.startswith(f"a.pt2: {gives}(x, edge_index, edge_weight), ")
    arguments = folder / "a.ticket", "kept.parquet", folder / "graph.npz"
    done = run_here("export", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = read_edges(tmp_path / "kept.parquet")
    data = teddy.load_dataset(folder / "graph.npz", **how)
    fields = ticket.fields(data)
    columns = torch.cat([fields["edge_index"], fields["edge_weight"][None]]).t().tolist()
    if not how["directed"]:
        columns = [column for column in columns if column[0] < column[1]]
    assert sorted(zip(*found.values(), strict=True)) == sorted(map(tuple, columns))


def test_inspect_and_bench_name_the_metric(home, tmp_path, monkeypatch):
    monkeypatch.setattr("teddy.ticket.speed._MOST", 1)
    folder, ticket, how = home
    metric = METRICS.get(how["task"], "accuracy")
    where = folder / "a.ticket", folder / "graph.npz"
    done = run_here("inspect", *where, "--node", "3", "--picture", "a.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"test {metric} %" in done.stdout
    assert (tmp_path / "a.png").stat().st_size > 0
    found = json.loads(run_here("inspect", *where, "--json", cwd=tmp_path).stdout)
    assert (found["left"]["before"]["homophily"] is None) == (how["task"] != "classification")
    assert found["left"]["after"]["edges"] == int(ticket.keep.sum())
    done = run_here("bench", *where, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["metric"] == metric
    assert found["rows"][0]["macs"] == sum(ticket.info.macs.dense)
    assert f"Test {metric} %" in run_here("bench", *where, cwd=tmp_path).stdout


def test_your_own_module_is_inspected_but_not_run(tmp_path):
    data = own_graph(kind="edge_weight")
    save_npz(tmp_path / "graph.npz", **arrays(data))
    ticket = teddy.find_ticket(data, Weighted, 0.5, 0.5, epochs=2)
    ticket.save(tmp_path / "a.ticket")
    done = run_here("inspect", "--all", "a.ticket", "graph.npz", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Graph before and after pruning" in done.stdout
    for arguments in (
        ["predict", "a.ticket", "graph.npz"],
        ["predict", "a.ticket", "graph.npz", "--changed", "none"],
        ["bench", "a.ticket", "graph.npz"],
        ["export", "a.ticket", "a.onnx"],
        ["export", "a.ticket", "a.parquet", "graph.npz"],
    ):
        line = refused(run_here(*arguments, cwd=tmp_path))
        assert "its model is your own module (methods.test_own.Weighted), expected" in line
        assert line.endswith("(--module FILE.py:NAME)")


MINE = """
from torch import nn
from torch_geometric.nn import GraphConv

class Weighted(nn.Module):
    def __init__(self, hidden=8):
        super().__init__()
        self.first, self.last = GraphConv(12, hidden), GraphConv(hidden, 3)

    def forward(self, x, edge_index, edge_weight):
        return self.last(self.first(x, edge_index, edge_weight).relu(), edge_index, edge_weight)

class Needs(Weighted):
    def __init__(self, hidden):
        super().__init__(hidden)

def make():
    return Weighted(8)

def wide():
    return Weighted(9)

made, number = make(), 3
"""


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """A ticket of the user's own module, its graph, and the file of the module."""
    folder = tmp_path_factory.mktemp("mine")
    data = own_graph(kind="edge_weight")
    save_npz(folder / "graph.npz", **arrays(data))
    ticket = teddy.find_ticket(data, Weighted, 0.5, 0.5, epochs=2)
    ticket.save(folder / "a.ticket")
    (folder / "mine.py").write_text(MINE)
    return folder, ticket, data


@pytest.mark.parametrize("name", ["Weighted", "make", "made"])
def test_your_own_module_comes_from_a_file(name, mine):
    folder, ticket, data = mine
    arguments = "a.ticket", "graph.npz", "--module", f"mine.py:{name}"
    done = run_here("predict", *arguments, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["test"] == pytest.approx(ticket.info.ticket.test)
    check(found["predictions"], ticket.predict(data), {"task": "classification"})


def test_your_own_module_is_exported_and_timed(mine, monkeypatch):
    monkeypatch.setattr("teddy.ticket.speed._MOST", 1)
    folder, ticket, data = mine
    how = "--module", folder / "mine.py:Weighted"
    done = run_here("export", "a.ticket", "a.pt2", *how, cwd=folder)
    assert done.returncode == 0, done.stderr
    program = torch.export.load(folder / "a.pt2").module()
    fields = ticket.fields(data)
    logits = program(data.x, fields["edge_index"], fields["edge_weight"])
    torch.testing.assert_close(logits, ticket.logits(data), rtol=1e-4, atol=1e-5)
    done = run_here("bench", "a.ticket", "graph.npz", *how, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["model"] == "methods.test_own.Weighted"


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("mine.py", "module is 'mine.py', expected FILE.py:NAME"),
        ("nope.py:Weighted", "nope.py: no such file"),
        ("mine.py:Nope", "mine.py: has no 'Nope', expected a torch.nn.Module"),
        ("mine.py:number", "mine.py:number is of type int, expected a torch.nn.Module"),
        ("mine.py:Needs", "mine.py:Needs: calling it failed (TypeError: "),
        ("mine.py:wide", "a.ticket: the weights do not fit the model ("),
    ],
)
def test_a_module_that_can_not_be_taken(place, expected, mine):
    arguments = "a.ticket", "graph.npz", "--module", place
    line = refused(run_here("predict", *arguments, cwd=mine[0]))
    assert line.startswith(f"teddy: {expected}")


def test_a_module_is_of_a_ticket(tmp_path):
    line = refused(run_here("bench", "citeseer", "--module", "mine.py:Weighted", cwd=tmp_path))
    assert line == "teddy: module is 'mine.py:Weighted', expected only with a ticket"


TINY = ["--model", "gcn", "--epochs", 2, "--hidden-channels", 4, "--seeds", 2, "--max-level", 5,
        "--step", 5,
        "--tolerance", 90, "--out", "run"]  # fmt: skip


def test_a_search_takes_weights_of_edges(tmp_path):
    save_npz(tmp_path / "graph.npz", **arrays(own_graph(kind="edge_weight")))
    how = ["--method", "teddy:weighted=true", "--ticket", "a.ticket"]
    done = run_here("search", "graph.npz", *TINY, *how, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ticket = teddy.Ticket.load(tmp_path / "a.ticket")
    assert ticket.info.graph["edge_inputs"] == ["edge_weight"]
    assert ticket.info.weighted
    data = teddy.load_dataset(tmp_path / "graph.npz")
    assert ticket.verify(data)
    keep = teddy.prune_edges(
        data.edge_index, ticket.info.graph_sparsity, num_nodes=40, edge_weight=data.edge_weight
    )
    kept = ticket.apply(data).edge_index
    assert torch.equal(kept, data.edge_index[:, keep])


@pytest.mark.parametrize("task", METRICS)
def test_a_search_is_of_classes(task, tmp_path):
    save_npz(tmp_path / "graph.npz", y=targets(task))
    line = refused(run_here("search", "graph.npz", *TINY, cwd=tmp_path))
    assert "graph.npz: y " in line
    assert "expected" in line
    assert not list(tmp_path.glob("run/cells/*"))
