"""Tickets served: equal to their own predictions, and after changes to a transferred ticket."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg
from torch_geometric.nn import GCNConv

import teddy
from conftest import small_graph
from serving.test_answers import close
from teddy.errors import InputError

QUICK = {"epochs": 3, "hidden_channels": 16}


OPTIONS = [{}, {"structure": "neurons"}, {"weights": "masks"}]


@pytest.mark.parametrize(
    ("model", "options"),
    [
        *((model, options) for model in ("gcn", "gin", "sage", "gat") for options in OPTIONS),
        ("unimp", {}),
        ("nagphormer", {}),
    ],
)
def test_a_ticket_answers_as_it_predicts(citeseer, model, options):
    if model == "nagphormer":
        citeseer = small_graph()
    ticket = teddy.find_ticket(citeseer, model, **QUICK, **options)
    nodes = [5, 0, 5, citeseer.num_nodes - 1]
    reference = ticket.logits(citeseer)
    server = ticket.server(citeseer)
    close(server.logits(nodes), reference[nodes])
    assert torch.equal(ticket.predict(citeseer, nodes=nodes), ticket.predict(citeseer)[nodes])
    close(server.predict_proba(nodes), ticket.predict_proba(citeseer)[nodes])
    close(ticket.server(ticket.apply(citeseer)).logits(nodes), reference[nodes])


@pytest.mark.parametrize("task", ["multilabel", "regression"])
def test_predictions_are_those_of_the_task(task):
    data = small_graph()
    labels = torch.stack([data.y == 0, data.y == 1], dim=1)
    data.y = labels.float() if task == "multilabel" else 100 * data.x[:, 0] + 5
    ticket = teddy.find_ticket(data, "gin", task=task, **QUICK)
    found, expected = ticket.predict(data, nodes=[3, 1]), ticket.predict(data)[[3, 1]]
    assert found.dtype == expected.dtype
    close(found.float(), expected.float())


def test_directed_and_weighted_edges():
    data = small_graph()
    columns = torch.unique(data.edge_index[:, :90], dim=1)
    data.edge_index = columns[:, columns[0] != columns[1]]
    data.edge_weight = torch.rand(data.edge_index.size(1)) + 0.1
    ticket = teddy.find_ticket(data, "gcn", directed=True, **QUICK)
    close(ticket.server(data).logits(range(40)), ticket.logits(data))


@pytest.mark.parametrize("conv", [True, False])
def test_your_own_module(citeseer, conv):
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = GCNConv(3703, 8), GCNConv(8, 6)

        def forward(self, x, edge_index):
            return self.last(self.first(x, edge_index).relu(), edge_index)

    model = Own() if conv else pyg.GCN(3703, 8, 2, 6, jk="cat")
    ticket = teddy.find_ticket(citeseer, model, epochs=2)
    nodes = [3000, 5, 77]
    close(ticket.server(citeseer).logits(nodes), ticket.logits(citeseer)[nodes])


@pytest.mark.parametrize("model", ["gcn", "gin", "sage", "gat"])
def test_changes_follow_the_documented_rule(model):
    """A server that has changed equals the ticket, transferred by the rule ``training``."""
    data = small_graph()
    ticket = teddy.find_ticket(data, model, 0.5, 0.5, **QUICK)
    server = ticket.server(data)
    edges, keep = ticket.prune(data)
    pruned = edges.pairs[:, ~keep][:, :3]
    new = torch.tensor([[40, 41, 40, 7], [3, 40, 9, 38]])
    x = torch.rand(2, data.x.size(1))
    server.add_nodes(x)
    server.add_edges(torch.cat([new, pruned], dim=1))
    server.set_features([5], x[:1])
    changed = copy.copy(data)
    changed.x = torch.cat([data.x, x])
    changed.x[5] = x[0]
    changed.edge_index = torch.cat([data.edge_index, new, new.flip(0)], dim=1)
    for name in ("train_mask", "val_mask", "test_mask", "y"):
        changed[name] = torch.cat([data[name], data[name][:2]])
    moved = ticket.transfer(changed, "training", data)
    close(server.logits(range(42)), moved.logits(changed))
    close(moved.server(changed).logits(range(42)), moved.logits(changed))


def test_columns_of_new_features_follow_their_names():
    data = small_graph()
    data.feature_names = [f"f{number}" for number in range(12)]
    ticket = teddy.find_ticket(data, "gcn", **QUICK)
    other = copy.copy(data)
    other.x, other.feature_names = data.x.flip(1), data.feature_names[::-1]
    server = ticket.server(other)
    close(server.logits(range(40)), ticket.logits(data))
    server.set_features([4], other.x[9:10])
    changed = copy.copy(data)
    changed.x = data.x.clone()
    changed.x[4] = data.x[9]
    close(server.logits(range(40)), ticket.logits(changed))


def test_specformer_raises_a_clear_message():
    data = small_graph()
    ticket = teddy.find_ticket(data, "specformer", epochs=2)
    with pytest.raises(InputError, match=r"a Specformer cannot be served.*use predict\(data\)"):
        ticket.predict(data, nodes=[1])
