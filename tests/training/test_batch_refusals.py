"""Batches and models that mini-batch training refuses."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch_geometric.data import Data

import teddy
from conftest import small_graph
from hetero_graphs import library
from training.batch_kinds import LINKS, PARTS, Nodes, joined, links, whole
from training.test_batch_searches import find


def without(name):
    def make(graph):
        batch = copy.copy(graph)
        del batch[name]
        return [batch]

    return make


def changed(name, value):
    def make(graph):
        batch = copy.copy(graph)
        batch[name] = value(graph[name])
        return [batch]

    return make


def renumbered(change):
    def make(graphs):
        batch = next(iter(joined(graphs)))
        batch.batch = change(batch.batch)
        return [batch]

    return make


def one_end_each(graph):
    """No link has both ends in a batch."""
    nothing = torch.empty(2, 0, dtype=torch.long)
    return [Data(n_id=node, edge_index=nothing) for node in graph.n_id.split(1)]


def nameless(graph):
    batch = copy.copy(graph)
    del batch.edge_id, batch.edge_weight
    return [batch]


def no_authors(graph):
    batch = copy.copy(graph)
    del batch["author"].n_id
    return [batch]


@pytest.mark.parametrize(
    ("kind", "loader", "message"),
    [
        ("weights gcn", nameless, "a batch of the loader has no edge_id, expected a loader that"),
        ("weights gcn", changed("edge_weight", lambda w: w[1:]), "edge_weight of a batch has "),
        ("weights gcn", "graphs:batch=2", "needs a set of graphs, expected the task graph-cl"),
        ("attributes", changed("pos", lambda p: p[1:]), "pos of a batch has 39 rows, expected 40"),
        ("graphs gcn", PARTS, "partitions do not support a set of graphs"),
        ("graphs gcn", renumbered(lambda b: b.flip(0)), "batch of a batch does not number the nod"),
        ("graphs gcn", renumbered(lambda b: b[1:]), "batch does not number the nodes of"),
        ("graphs gcn", renumbered(lambda b: b // 2), "does not number the nodes of 24 graphs"),
        ("links gcn", one_end_each, "epoch 0 had 60 batches without training rows"),
        ("graphs gcn", lambda graphs: [Data(**{
            k: v for k, v in graphs[0].to_dict().items() if k != "graph_id"
        })], "graph_id of a batch is no list of graphs"),
        ("graphs gcn", "graphs:batch=0", "batch is 0, expected a whole number from 1"),
        ("graphs gcn", "graphs:parts=2", "graphs has no option 'parts', expected one of: batch, t"),
        ("links gcn", "graphs", "needs a set of graphs, expected the task graph-cl"),
        ("hetero", PARTS, "partitions do not support a HeteroData, expected a function"),
        ("hetero", lambda graph: [Data()], "the loader returned a Data, expected a HeteroData"),
        ("hetero", no_authors, "a batch of the loader has no n_id"),
    ],
)  # fmt: skip
def test_an_unsupported_loader_raises_a_clear_message(kind, loader, message, tmp_path):
    with pytest.raises(teddy.InputError, match=message):
        find(kind, tmp_path / "x", loader, epochs=1)


@pytest.mark.parametrize("model", ["nagphormer", "specformer"])
def test_models_of_the_whole_graph_take_no_batches(model):
    with pytest.raises(teddy.InputError, match="does not support mini-batches"):
        teddy.find_ticket(links(), model, **LINKS, loader=PARTS, epochs=1)


def test_types_without_features_take_no_batches():
    data = library()
    del data["venue"].x
    data["venue"].num_nodes = 6

    class Blind(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(6, 3)

        def forward(self, x_dict, edge_index_dict):
            return self.linear(x_dict["paper"])

    with pytest.raises(teddy.InputError, match="nodes of type 'venue' have no x, expected one"):
        teddy.find_ticket(data, Blind(), target="paper", epochs=1, loader=whole)


def test_values_of_pairs_of_nodes_take_no_batches():
    class Far(Nodes):
        def forward(self, x, edge_index, distance):
            return super().forward(x, edge_index) + distance.sum()

    data = small_graph()
    data.distance = torch.ones(40, 40)
    for loader in (whole, PARTS):
        with pytest.raises(teddy.InputError, match="distance refers to pairs of nodes"):
            teddy.find_ticket(data, Far(12, 3), epochs=1, loader=loader)


def test_functions_are_given_the_training_links_alone():
    seen = []

    def look(graph):
        seen.append(graph)
        return [graph]

    data = links()
    teddy.find_ticket(data, "gcn", epochs=1, loader=look, **LINKS)
    expected = data.edge_label_index[:, data.train_mask]
    assert all(torch.equal(graph.edge_label_index, expected) for graph in seen)
    assert "y" not in seen[0]
    assert "val_mask" not in seen[0]
