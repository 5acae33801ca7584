"""Kinds of problem in searches and tickets, including your own kinds."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import SAGEConv

import teddy
from cli.command import run_here, save_npz
from conftest import small_graph
from graph_sets import rings_and_trees
from hetero_graphs import library
from teddy.data.targets import Numbers
from teddy.methods import make_problem
from teddy.methods.plugin import ORIGINS, load_file
from teddy.prune import SCORES
from teddy.settings import Settings
from teddy.tasks import TASKS, GraphKind, Kind, LinkPrediction, Regression, kind_for, parse_task

FAST = {"epochs": 2, "hidden_channels": 4}


class Noted(Kind):
    """Nodes with a further field, and their own header field."""

    key: ClassVar[str] = "noted"
    row_fields: ClassVar[tuple[str, ...]] = ("weight_of_row",)

    def header_fields(self, views, choice, given, logits, head):
        return {"noted": {"kept": int(choice.keep.sum()), "rows": given.y.size(0)}}


class NotedTask(TASKS["classification"]):
    name = "noted"
    kind = Noted


@pytest.fixture
def noted():
    TASKS.register("noted")(NotedTask)
    yield
    del TASKS["noted"]


def noted_graph() -> Data:
    data = small_graph()
    data.weight_of_row = torch.arange(40)
    return data


@pytest.mark.parametrize("inductive", [False, True])
def test_a_kind_of_your_own_has_its_fields_in_all_views(noted, inductive):
    settings = Settings.from_dict({**FAST, "task": "noted", "inductive": inductive})
    views = make_problem(noted_graph(), "gcn", settings).views
    data = noted_graph()
    assert torch.equal(views.full.data.weight_of_row, data.weight_of_row)
    rows = data.train_mask if inductive else torch.ones(40, dtype=torch.bool)
    assert torch.equal(views.train.data.weight_of_row, data.weight_of_row[rows])


def test_a_kind_of_your_own_has_its_field_in_the_header(noted, tmp_path):
    data = noted_graph()
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, task="noted", **FAST)
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket")
    assert again.kind.header == {"kept": ticket.info.edges.kept, "rows": 40}
    assert torch.equal(again.predict(data), ticket.predict(data))
    assert "own" not in teddy.find_ticket(data, "gcn", **FAST).info.to_dict()


def test_a_kind_of_your_own_is_not_replaced_on_a_heterogeneous_graph():
    with pytest.raises(teddy.InputError, match="does not support a HeteroData, expected a Data"):
        kind_for(NotedTask(), library(papers=12))


@dataclass(frozen=True)
class GraphRegression(Regression):
    name: ClassVar[str] = "graph-regression"
    kind: ClassVar[type[Kind]] = GraphKind
    targets: ClassVar[Numbers] = Numbers()
    budget: str = teddy.settings.setting("each", "Edge budget.", choices=("each", "all"))
    readout: str = teddy.settings.setting("mean", "Readout.", choices=("mean", "sum", "max"))


def test_graph_regression_takes_kind_and_loss_from_two_tasks(tmp_path):
    graphs = rings_and_trees()
    for graph in graphs:
        graph.y = float(graph.num_nodes)
    TASKS.register("graph-regression")(GraphRegression)
    try:
        ticket = teddy.find_ticket(
            graphs,
            "gin",
            0.3,
            0.3,
            task="graph-regression:readout=sum",
            epochs=30,
            hidden_channels=8,
        )
        assert ticket.predict(graphs).shape == (40,)
        assert ticket.evaluate(graphs)["test"] == pytest.approx(ticket.info.ticket.test)
        ticket.save(tmp_path / "a.ticket")
        again = teddy.Ticket.load(tmp_path / "a.ticket")
        assert torch.equal(again.predict(graphs), ticket.predict(graphs))
    finally:
        del TASKS["graph-regression"]


class Encoder(nn.Module):
    def __init__(self, data):
        super().__init__()
        seen.append(data)
        self.conv = SAGEConv(12, 4)

    def forward(self, x, edge_index):
        return self.conv(x, edge_index)


seen: list[Data] = []


def test_a_function_that_makes_the_model_sees_no_held_out_link():
    data = small_graph()
    for key in ("y", "train_mask", "val_mask", "test_mask"):
        del data[key]
    seen.clear()
    teddy.find_ticket(data, lambda data: Encoder(data), task="link-prediction", epochs=1)
    links = teddy.split_links(data)
    assert seen
    for given in seen:
        assert torch.equal(given.edge_index, links.edge_index)


def weighted_sets(count, seed):
    random = torch.Generator().manual_seed(seed)
    graphs = rings_and_trees(count, seed)
    for graph in graphs:
        pairs, place = graph.edge_index.sort(dim=0).values.unique(dim=1, return_inverse=True)
        weights = torch.rand(pairs.size(1), generator=random) ** 4 + 0.01
        graph.edge_weight = weights[place]
    return graphs


def test_new_graphs_are_pruned_by_weighted_degrees_everywhere():
    ticket = teddy.find_ticket(
        weighted_sets(40, 0), "gcn", 0.5, 0.5, task="graph-classification",
        method="teddy:weighted=true", **FAST,
    )  # fmt: skip
    new = weighted_sets(6, 7)
    applied = ticket.apply(new).edge_index
    assert torch.equal(ticket.edge_index(new), applied)
    assert torch.equal(ticket.prune(new)[1], ticket.view(new).keep)
    plain = replace(ticket, info=replace(ticket.info, weighted=False))
    assert not torch.equal(plain.edge_index(new), applied)


def test_a_regression_ticket_as_teacher_predicts_in_the_users_scale():
    class Numbers2(Regression):
        name = "numbers"

    data = small_graph()
    data.y = 1000 + 50 * data.x[:, 0]
    TASKS.register("numbers")(Numbers2)
    try:
        settings = {"task": "numbers", "epochs": 40, "hidden_channels": 8}
        teacher = teddy.find_ticket(data, "sage", 0.0, 0.0, **settings)
        taught = teddy.find_ticket(data, "sage", 0.0, 0.0, teacher=teacher, **settings)
        assert taught.info.dense.test == pytest.approx(teacher.info.ticket.test, abs=0.01)
    finally:
        del TASKS["numbers"]


def test_tasks_are_taken_as_objects():
    task = LinkPrediction(dimensions=8)
    assert parse_task(task) is task
    assert "edge_label_index" in teddy.load_dataset("citeseer", task=task)


def test_weights_in_a_task_object_are_refused():
    task = teddy.Classification(weight=torch.ones(3))
    with pytest.raises(teddy.InputError, match="task has a weight, expected class_weight"):
        teddy.find_ticket(small_graph(), "gcn", task=task, **FAST)


def test_three_parts_of_a_link_split_are_refused_with_a_remedy():
    data = small_graph()
    with pytest.raises(teddy.InputError, match=r"data is a tuple.*teddy.links_of\(\*data\)"):
        teddy.find_ticket((data, data, data), "gcn", task="link-prediction", **FAST)


TASK = """
from dataclasses import dataclass
import torch
from torch import nn
from teddy.data.targets import Classes
from teddy.settings import setting
from teddy.tasks import TASKS, Classification
from teddy.tasks.heads import LinkHead
from teddy.tasks.links import LinkKind

class Signs(Classes):
    of, column = "link", None

class TwoLogits(LinkHead):
    def forward(self, outputs):
        score = super().forward(outputs)
        return torch.cat([-score, score], dim=1)

class SignedLinks(LinkKind):
    def with_rows(self, data, split=None, seed=0, source="data"):
        if "edge_label_index" in data:
            return data
        once = data.edge_index[0] < data.edge_index[1]
        data = data.clone()
        data.edge_label_index = data.edge_index[:, once]
        data.edge_label = (data.edge_weight[once] > self.task.options()["above"]).long()
        part = torch.arange(int(once.sum())) % 3
        for number, name in enumerate(("train_mask", "val_mask", "test_mask")):
            data[name] = part == number
        del data.edge_weight
        data.split, data.split_seed = split or "thirds", seed
        return data

    def head(self, network, graph, device):
        return TwoLogits(graph.edge_label_index.to(device))

    def ticket_head(self, graph, device):
        return TwoLogits(graph.edge_label_index.to(device))

@TASKS.register("edge-sign")
@dataclass(frozen=True, eq=False)
class EdgeSign(Classification):
    name, kind, targets = "edge-sign", SignedLinks, Signs()
    above: float = setting(0.0, "Weight above which a sign is positive.")
    dimensions: int = setting(8, "Outputs of a node.", low=1)
"""


@pytest.fixture
def signed(tmp_path, monkeypatch):
    """A folder with a graph of signed edges and a task of them."""
    (tmp_path / "sign.py").write_text(TASK)
    data = small_graph()
    pairs = data.edge_index[:, data.edge_index[0] < data.edge_index[1]].unique(dim=1)
    weight = torch.linspace(-1, 1, pairs.size(1))[torch.randperm(pairs.size(1))]
    both = torch.cat([pairs, pairs.flip(0)], dim=1)
    save_npz(tmp_path / "signed.npz", edge_index=both.numpy(),
             edge_weight=torch.cat([weight, weight]).numpy())  # fmt: skip
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for registry in (TASKS, ORIGINS):
        for name in [name for name in registry if "edge-sign" in name]:
            del registry[name]
    for name in [name for name in sys.modules if name.startswith("teddy_plugin_")]:
        del sys.modules[name]


def run(*words):
    done = run_here(*words, "--json", cwd=".")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_classes_of_links_by_the_command_line(signed):
    own = ["--load", "sign.py"]
    task = ["--task", "edge-sign:above=0.25", "--model", "sage", "--out", "a.ticket"]
    small = ["--epochs", "20", "--hidden-channels", "8", "--seeds", "1"]
    run("find", "signed.npz", *own, *task, *small)
    ticket = teddy.Ticket.load("a.ticket")
    assert ticket.task.options() == {"above": 0.25, "dimensions": 8}
    found = run("predict", "a.ticket", "signed.npz", *own)
    assert found["test"] == pytest.approx(ticket.info.ticket.test)
    data = teddy.load_dataset("signed.npz", task=ticket.task)
    assert ticket.evaluate(data)["test"] == pytest.approx(ticket.info.ticket.test)
    assert run("inspect", "a.ticket", "signed.npz", *own)["task"]["options"] == {"above": 0.25}


def test_a_head_of_your_own_is_not_replaced_in_a_file(signed):
    load_file("sign.py")
    data = teddy.load_dataset("signed.npz", task="edge-sign")
    ticket = teddy.find_ticket(data, "sage", task="edge-sign", **FAST)
    compiled = ticket.compile(data)
    assert torch.allclose(compiled(), ticket.logits(data), atol=1e-5)
    with pytest.raises(teddy.InputError, match="cannot store your own head"):
        compiled.save("a.compiled")
    assert not (signed / "a.compiled").exists()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("TASKS.register('classification')(Half)", "'classification', expected a new name"),
        ("TASKS.register('half')(Half)", "the task 'half', expected name = 'half' in it"),
        (
            "SCORES.register('teddy')(lambda edges, signals, seed: 0)",
            "'teddy', expected a new name",
        ),
    ],
)
def test_registering_a_wrong_or_taken_name_is_refused(tmp_path, text, line):
    before = dict(TASKS), dict(SCORES)
    lines = ("from teddy.tasks import TASKS, Classification", "from teddy.prune import SCORES",
             "class Half(Classification): pass", text)  # fmt: skip
    (tmp_path / "own.py").write_text("\n".join(lines))
    with pytest.raises(teddy.InputError, match=line):
        load_file(tmp_path / "own.py")
    assert (dict(TASKS), dict(SCORES)) == before


@pytest.mark.parametrize("made", [torch.zeros(3), [0.0], torch.zeros(2, 2)])
def test_a_score_that_is_no_number_for_each_edge_is_refused(monkeypatch, made):
    monkeypatch.setitem(SCORES, "odd", lambda edges, signals, seed: made)
    with pytest.raises(
        teddy.InputError, match=r"expected a tensor .2. with a number for each edge"
    ):
        teddy.prune_edges(torch.tensor([[0, 1], [1, 2]]), 0.5, "odd")
