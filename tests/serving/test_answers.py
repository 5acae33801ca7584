"""Answers for some nodes equal a pass over the whole graph."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, SAGEConv

import teddy
from teddy.errors import InputError
from teddy.graph import Edges
from teddy.models import build_model
from teddy.serving import Server

MODELS = ["gcn", "gin", "sage", "gat", "unimp", "nagphormer"]
WEIGHTED = MODELS[:-1]
SUMS = ["gcn", "gin", "sage"]


def graph(seed, num_nodes=40, num_edges=70, features=6, sparse=False):
    """Edges of a random graph with nodes without neighbours, features, and a weight per edge."""
    generator = torch.Generator().manual_seed(seed)
    edge_index = torch.randint(num_nodes - 3, (2, num_edges), generator=generator)
    edges = Edges.from_edge_index(edge_index, num_nodes)
    x = torch.rand(num_nodes, features, generator=generator)
    if sparse:
        x = x * (x > 0.85)
    weight = 0.1 + torch.rand(edges.num_edges, generator=generator)
    return edges, x, weight


def masked_model(name, seed, features=6, layers=2, share=0.5):
    """A model whose weights have zeros, among them whole features and hidden units."""
    generator = torch.Generator().manual_seed(seed)
    layers = 1 if name == "nagphormer" else layers
    model = build_model(name, features, 3, hidden_channels=8, num_layers=layers).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.5 * torch.randn(parameter.shape, generator=generator))
            parameter.mul_(torch.rand(parameter.shape, generator=generator) > share)
    return model


def close(ours, reference):
    scale = max(1.0, float(reference.abs().max())) if reference.numel() else 1.0
    assert ours.shape == reference.shape
    assert float((ours - reference).abs().max()) <= 1e-5 * scale if ours.numel() else True


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    queries=st.lists(st.integers(0, 39), max_size=12),
    layers=st.integers(1, 3),
    sparse=st.booleans(),
    weighted=st.booleans(),
    share=st.sampled_from([0.0, 0.5, 0.9]),
    store=st.sampled_from([None, True, False]),
)
def test_answers_equal_the_full_pass(
    name, kernels, seed, queries, layers, sparse, weighted, share, store
):
    edges, x, weight = graph(seed, sparse=sparse)
    model = masked_model(name, seed, layers=layers, share=share)
    values = {}
    if weighted and name in WEIGHTED:
        values = {"edge_weight": weight[edges.messages.pair]}
    with torch.no_grad():
        reference = model(x, edges.edge_index, **values)
    store = store if name in SUMS and not sparse else None
    with teddy.kernels.use(kernels):
        server = Server(model, x, edges.edge_index, values, store_products=store)
        close(server.logits(queries), reference[queries])
        close(server.logits(torch.arange(40)), reference)


@pytest.mark.parametrize("name", SUMS)
def test_products_are_stored_where_few_rows_are_summed(name):
    """16 features, 32 hidden units: a complete graph reads features, a path products."""
    model, x = build_model(name, 16, 3, hidden_channels=32), torch.rand(200, 16)
    path = torch.stack([torch.arange(199), torch.arange(1, 200)])
    complete = torch.ones(200, 200).triu(1).nonzero().t()
    for edges, stored in ((path, True), (complete, False)):
        server = Server(model, x, torch.cat([edges, edges.flip(0)], dim=1))
        assert (server.graph.features.width != 16) == stored


@pytest.mark.parametrize(
    ("name", "sparse", "store", "message"),
    [
        ("gat", False, True, "store_products is not supported for a GAT"),
        ("gcn", True, False, "expected True or None for sparse features"),
    ],
)
def test_products_that_cannot_be_stored(name, sparse, store, message):
    x = torch.zeros(4, 6) if sparse else torch.rand(4, 6)
    with pytest.raises(InputError, match=message):
        Server(build_model(name, 6, 3), x, torch.tensor([[0], [1]]), store_products=store)


def test_a_dense_reference_by_hand():
    """Two layers of GCN on a path of four nodes, written out."""
    edge_index = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    x, model = torch.eye(4), build_model("gcn", 4, 2, hidden_channels=3).eval()
    adjacency = torch.eye(4)
    adjacency[edge_index[0], edge_index[1]] = 1
    scale = adjacency.sum(dim=1).rsqrt()
    adjacency = scale[:, None] * adjacency * scale
    first, second = model.weights
    with torch.no_grad():
        reference = adjacency @ ((adjacency @ x @ first).relu() @ second)
    server = Server(model, x, edge_index)
    close(server.logits([3, 0]), reference[[3, 0]])
    gathered = server.gathered([3])  # itself, 2, and 1 by two hops; messages to 3 and to 2
    assert (gathered.nodes, gathered.edges) == (3, 3)


def test_labels_as_inputs():
    edges, x, _ = graph(5)
    model = build_model("unimp", 6, 3, hidden_channels=4, label_rate=0.5)
    with torch.no_grad():
        model.labels.normal_()
    model.learn_labels(torch.randint(3, (40,)), torch.arange(0, 40, 3))
    model.eval()
    with torch.no_grad():
        reference = model(x, edges.edge_index)
    close(Server(model, x, edges.edge_index).logits(torch.arange(40)), reference)


class Network(nn.Module):
    """Your own module, with edge weights in one of its layers."""

    def __init__(self, conv, takes_weight):
        super().__init__()
        self.first, self.second, self.takes_weight = conv(6, 8), conv(8, 3), takes_weight
        self.norm = nn.BatchNorm1d(8)

    def forward(self, x, edge_index, edge_weight=None):
        inputs = (edge_weight,) if self.takes_weight else ()
        h = self.norm(self.first(x, edge_index, *inputs)).relu()
        return self.second(h, edge_index, *inputs)


@pytest.mark.parametrize(
    ("conv", "weighted"), [(GCNConv, True), (SAGEConv, False), (GATConv, False)]
)
def test_your_own_module(conv, weighted):
    edges, x, weight = graph(7)
    model = Network(conv, weighted).eval()
    values = {"edge_weight": weight[edges.messages.pair].abs()} if weighted else {}
    with torch.no_grad():
        reference = model(x, edges.edge_index, *values.values())
    server = Server(model, x, edges.edge_index, values)
    close(server.logits([39, 3, 3, 17]), reference[[39, 3, 3, 17]])
    close(server.logits(torch.arange(40)), reference)
    assert server.gathered([3]).nodes < 40


class LooksEverywhere(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = GCNConv(6, 3)

    def forward(self, x, edge_index):
        h = self.conv(x, edge_index)
        return h - h.mean(dim=0)


def test_a_module_that_needs_the_whole_graph_is_refused():
    edges, x, _ = graph(7)
    with pytest.raises(InputError, match="differ from a pass over the whole graph"):
        Server(LooksEverywhere(), x, edges.edge_index)


def test_specformer_is_refused():
    edges, x, _ = graph(7)
    with pytest.raises(InputError, match="a Specformer cannot be served"):
        Server(build_model("specformer", 6, 3), x, edges.edge_index)


def test_features_on_disk_stay_there(tmp_path):
    import numpy as np

    edges, x, _ = graph(9)
    path = tmp_path / "x.npy"
    np.save(path, x.numpy())
    stored = torch.from_numpy(np.load(path, mmap_mode="r+"))
    model = masked_model("gcn", 1, share=0.0)
    server = Server(model, stored, edges.edge_index)
    assert server.graph.features.array.ctypes.data == stored.data_ptr()
    with torch.no_grad():
        close(server.logits([1, 2]), model(x, edges.edge_index)[[1, 2]])


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([40], "nodes has 40, expected numbers from 0 to 39"),
        ([-1], "nodes has -1, expected numbers from 0 to 39"),
        ([0.5], "expected integers"),
        ([[1, 2]], "expected integers"),
    ],
)
def test_wrong_nodes_raise_a_clear_message(nodes, message):
    edges, x, _ = graph(9)
    server = Server(masked_model("gcn", 1), x, edges.edge_index)
    with pytest.raises(InputError, match=message):
        server.logits(nodes)
    assert server.logits([0]).shape == (1, 3)
