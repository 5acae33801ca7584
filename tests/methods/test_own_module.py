"""A module that can't be used, or a call that can't be meant: one line before the first epoch."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

import teddy
from conftest import small_graph
from hetero_graphs import hetero_module, library
from teddy.errors import TeddyWarning
from teddy.sweep.seeds import find_over_seeds


class Convs(nn.Module):
    """An ordinary module; those below change how it is called."""

    def __init__(self, inputs=12, outputs=3):
        super().__init__()
        self.first, self.last = GCNConv(inputs, 8), GCNConv(8, outputs)

    def forward(self, x, edge_index):
        return self.last(self.first(x, edge_index).relu(), edge_index)


class Needy(Convs):
    def __init__(self, hidden, outputs):
        super().__init__()


class OfData(Convs):
    def forward(self, data):
        return super().forward(data.x, data.edge_index)


class OfMore(Convs):
    def forward(self, x, edge_index, pos):
        return super().forward(x, edge_index)


class OfNamed(Convs):
    def forward(self, x, edge_index, *, year):
        return super().forward(x, edge_index)


class OfAnything(Convs):
    def forward(self, *arguments, **named):
        return super().forward(*arguments)


class OfDicts(Convs):
    def forward(self, x_dict, edge_index_dict):
        return x_dict["paper"]


def line(data, model, **settings) -> str:
    with pytest.raises(teddy.InputError) as caught:
        teddy.find_ticket(data, model, epochs=2, **settings)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def make_needy(width):
    return Needy(width, 3)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (OfData(), "a OfData has forward(data), expected forward(x, edge_index): wrap it in"),
        (lambda: OfData(), "a OfData has forward(data), expected forward(x, edge_index)"),
        (OfMore(), "a OfMore needs pos, expected data with it"),
        (OfNamed(), "a OfNamed needs year, expected data with it"),
        (Needy, "model is the class Needy, which needs hidden, outputs, expected a module"),
        (make_needy, "model is the function make_needy, which needs width, expected a module"),
        (Convs().to("meta"), "a Convs has first.bias on the meta device, which holds no values"),
        (OfDicts(), "a OfDicts is for a HeteroData, expected forward(x, edge_index) for a Data"),
        (hetero_module(library()), "is for a HeteroData, expected forward(x, edge_index)"),
        (3, "model is a int, expected a name, a module or a function that makes one"),
    ],
)
def test_modules_that_cannot_be_called(model, expected):
    assert expected in line(small_graph(), model)


@pytest.mark.parametrize("model", [Convs, Convs(), OfAnything(), lambda: Convs()])
def test_modules_that_can(model):
    assert teddy.find_ticket(small_graph(), model, epochs=2).info.edges.kept


@pytest.mark.parametrize("task", ["link-prediction", "graph-classification"])
def test_other_tasks(task):
    graphs = [Data(x=torch.rand(4, 12), edge_index=torch.tensor([[0, 1], [1, 2]]), y=i % 2)
              for i in range(20)]  # fmt: skip
    data = small_graph() if task == "link-prediction" else graphs
    assert "a OfData has forward(data)" in line(data, OfData(), task=task)
    assert "a OfMore needs pos, expected data with it" in line(data, OfMore(), task=task)


def test_a_module_of_one_kind_of_node_on_a_heterogeneous_graph():
    data = library()
    found = line(data, Convs(6), target="paper")
    assert found.startswith("a Convs fails on x_dict and edge_index_dict (")
    assert found.endswith("expected a module for a HeteroData, such as to_hetero's")
    on_meta = Convs(6).to("meta")
    assert "a Convs has first.bias on the meta device" in line(data, on_meta, target="paper")


def test_progress(capsys):
    data, fast = small_graph(), {"model": "gcn", "epochs": 2, "hidden_channels": 8}
    quiet = teddy.find_ticket(data, **fast)
    for progress in (True, False):
        assert teddy.find_ticket(data, progress=progress, **fast).info == quiet.info
        assert find_over_seeds(data, seeds=[0], progress=progress, **fast).best.info == quiet.info
    assert capsys.readouterr().err == ""  # a bar is for a terminal
    assert "progress is 3, expected True, or a function" in line(data, "gcn", progress=3)


def test_progress_bar_in_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes stderr for a terminal
    teddy.find_ticket(small_graph(), "gcn", epochs=3, hidden_channels=8, progress=True)
    shown = capsys.readouterr().err
    assert "sparse, val" in shown
    assert shown.endswith("\x1b[2K")  # and is gone in the end


class Weighing(Convs):
    def forward(self, x, edge_index, weight=None):
        return super().forward(x, edge_index)


def test_weights_of_edges_under_another_name(tmp_path, recwarn):
    data, fast = small_graph(), {"epochs": 2, "hidden_channels": 8}
    data.weight = torch.ones(data.num_edges)
    message = "data.weight is not used; rename it to edge_weight to use edge weights, or delete it"
    with pytest.warns(TeddyWarning, match=message):
        teddy.find_ticket(data, "gcn", **fast)
    torch.save(data, tmp_path / "weights.pt")
    with pytest.warns(TeddyWarning, match="weights.pt: weight is not used"):
        teddy.load_dataset(tmp_path / "weights.pt")

    recwarn.clear()
    teddy.find_ticket(data, Weighing(), epochs=2)  # its forward has that name
    data.weight = torch.rand(3)
    teddy.find_ticket(data, "gcn", **fast)  # not of edges
    data.weight, data.edge_weight = data.edge_weight, torch.ones(data.num_edges)
    teddy.find_ticket(data, "gcn", **fast)
    assert not [w for w in recwarn if "is not used" in str(w.message)]
