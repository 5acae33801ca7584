"""Your own module receives listed self-loops, which are neither pruned nor counted."""

from __future__ import annotations

import copy

import pytest
import torch
import torch_geometric.transforms as T
from torch import nn
from torch.nn import functional as F
from torch_geometric.loader import RandomNodeLoader
from torch_geometric.nn import GCNConv, GraphConv
from torch_geometric.utils import remove_self_loops

import teddy
from conftest import small_graph
from teddy.data import split_nodes
from teddy.graph import Edges
from teddy.models.masks import Masks
from teddy.training.runner import Runner
from ticket.test_export import read_edges

TINY = {"graph_sparsity": 0.5, "weight_sparsity": 0.5, "epochs": 3}


class Plain(nn.Module):
    """Messages as they are listed: without self-loops a node doesn't hear of itself."""

    def __init__(self):
        super().__init__()
        self.first = GCNConv(12, 8, normalize=False, add_self_loops=False)
        self.last = GCNConv(8, 3, normalize=False, add_self_loops=False)

    def forward(self, x, edge_index, edge_weight=None):
        h = self.first(x, edge_index, edge_weight).relu()
        return self.last(h, edge_index, edge_weight)


def made(seed=0):
    torch.manual_seed(seed)
    return Plain()


def normalised(seed=0, nodes=40):
    """Weights of edges and self-loops as a GCN has them, of a graph without loops."""
    data = small_graph(seed, nodes)
    data.edge_index = torch.unique(remove_self_loops(data.edge_index)[0], dim=1)
    return T.GCNNorm()(data)


def num_loops(edge_index):
    return int((edge_index[0] == edge_index[1]).sum())


@pytest.mark.parametrize("transform", [T.GCNNorm(), T.AddSelfLoops()])
def test_the_dense_model_is_that_of_a_plain_loop(transform):
    data = small_graph()
    data.edge_index = torch.unique(remove_self_loops(data.edge_index)[0], dim=1)
    data = transform(data)
    settings = {"graph_sparsity": 0.0, "weight_sparsity": 0.0, "distill": 0.0, "epochs": 20}
    found = teddy.find_ticket(data, made(), **settings)
    model, train = made(), data.train_mask
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best, expected = -1.0, None
    for _ in range(20):
        optimizer.zero_grad()
        logits = model.train()(data.x, data.edge_index, data.edge_weight)
        F.cross_entropy(logits[train], data.y[train]).backward()
        optimizer.step()
        with torch.no_grad():
            logits = model.eval()(data.x, data.edge_index, data.edge_weight)
        right = (logits.argmax(dim=1) == data.y)[data.val_mask].double().mean()
        if right >= best:
            best, expected = right, logits
    torch.testing.assert_close(found.logits(data), expected, rtol=1e-3, atol=1e-4)


def test_self_loops_are_neither_pruned_nor_counted():
    data = normalised()
    bare = copy.copy(data)
    bare.edge_index, bare.edge_weight = remove_self_loops(data.edge_index, data.edge_weight)
    ticket, without = (teddy.find_ticket(d, made(), **TINY) for d in (data, bare))
    assert ticket.info.edges == without.info.edges
    assert torch.equal(ticket.keep, without.keep)
    assert ticket.info.graph["edges"] == Edges.from_columns(data.edge_index, 40)[0].num_edges
    assert num_loops(ticket.edge_index(data)) == 40
    sparse = ticket.apply(data)
    assert num_loops(sparse.edge_index) == 40
    loop = sparse.edge_index[0] == sparse.edge_index[1]
    expected = dict(
        zip(map(tuple, data.edge_index.t().tolist()), data.edge_weight.tolist(), strict=True)
    )
    own = [expected[node, node] for node in sparse.edge_index[0, loop].tolist()]
    assert sparse.edge_weight[loop].tolist() == own
    assert ticket.verify(data)["test"] == ticket.info.ticket.test


def test_weighted_degrees_are_without_self_loops():
    data = normalised()
    bare = copy.copy(data)
    bare.edge_index, bare.edge_weight = remove_self_loops(data.edge_index, data.edge_weight)
    tickets = [teddy.find_ticket(d, made(), **TINY, weighted=True) for d in (data, bare)]
    assert torch.equal(tickets[0].keep, tickets[1].keep)


def test_a_graph_with_other_self_loops_is_another():
    data = normalised()
    ticket = teddy.find_ticket(data, made(), **TINY)
    fewer = copy.copy(data)
    stays = (data.edge_index != 7).any(dim=0)
    fewer.edge_index, fewer.edge_weight = data.edge_index[:, stays], data.edge_weight[stays]
    with pytest.raises(teddy.InputError, match=r"got another graph .* and 39 self-loops"):
        ticket.predict(fewer)
    twice = copy.copy(data)
    twice.edge_index = data.edge_index.repeat(1, 2)
    twice.edge_weight = data.edge_weight.repeat(2)
    assert torch.equal(ticket.logits(twice), ticket.logits(data))
    twice.edge_weight[-1] += 1  # a self-loop's, as GCNNorm lists them last
    assert num_loops(twice.edge_index[:, -1:]) == 1
    with pytest.raises(teddy.InputError, match=r"of the self-loop of node 39 is .*one value$"):
        ticket.predict(twice)


def test_directed_self_loops_stay():
    data = normalised()
    once = data.edge_index[0] <= data.edge_index[1]
    data.edge_index, data.edge_weight = data.edge_index[:, once], data.edge_weight[once]
    ticket = teddy.find_ticket(data, made(), **TINY, directed=True)
    assert num_loops(ticket.edge_index(data)) == 40
    assert ticket.verify(data)["test"] == ticket.info.ticket.test


def test_a_self_loop_has_the_mask_one():
    data = normalised()
    fields = Edges.from_data(data, ["edge_weight"], self_loops=True).fields()
    graph, _ = Edges.from_columns(data.edge_index, 40)
    network, edge_index = made(), fields.pop("edge_index")
    masks = Masks(network, graph.num_edges, None)
    with torch.no_grad():
        masks.edge_mask.zero_()
    found = Runner(network, data.x, edge_index, fields, masks=masks).evaluation_logits()
    loop = edge_index[0] == edge_index[1]
    alone = made().eval()(data.x, edge_index[:, loop], fields["edge_weight"][loop])
    torch.testing.assert_close(found, alone)


@pytest.mark.parametrize("inductive", [False, True])
def test_masks_are_learned_beside_self_loops(inductive):
    data = normalised(nodes=60)
    data.train_mask, data.val_mask, data.test_mask = split_nodes(data.y, "40/30/30", 0)
    ticket = teddy.find_ticket(
        data, made(), 0.05, 0.05, epochs=2, method="ugs", inductive=inductive
    )
    assert num_loops(ticket.apply(data).edge_index) == 60
    assert ticket.evaluate(data)["test"] == ticket.info.ticket.test


def test_an_inductive_training_has_the_self_loops_of_its_nodes():
    data = normalised(nodes=60)
    data.train_mask, data.val_mask, data.test_mask = split_nodes(data.y, "40/30/30", 0)
    ticket = teddy.find_ticket(data, made(), **TINY, inductive=True)
    assert ticket.evaluate(data)["test"] == ticket.info.ticket.test
    edges = Edges.from_data(data, self_loops=True)
    training, _ = edges.induced(data.train_mask)
    assert training.self_loops.tolist() == list(range(int(data.train_mask.sum())))
    assert ticket.info.graph["fingerprint"] == training.fingerprint()
    other = copy.copy(data)  # of a grown graph self-loops are taken as they are
    source, target = data.edge_index
    stays = (source != target) | (source < 50)
    other.edge_index, other.edge_weight = data.edge_index[:, stays], data.edge_weight[stays]
    assert num_loops(ticket.edge_index(other)) == 50


class Unweighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = GraphConv(12, 3)

    def forward(self, x, edge_index):
        return self.conv(x, edge_index)


def test_batches_have_self_loops():
    data = small_graph()
    data.edge_index = remove_self_loops(data.edge_index)[0]
    data, seen = T.AddSelfLoops(attr=None)(data), []

    def load(graph):
        seen.append(graph.edge_index)
        return RandomNodeLoader(graph, num_parts=2)

    ticket = teddy.find_ticket(data, Unweighted(), **TINY, loader=load)
    assert all(num_loops(edge_index) == 40 for edge_index in seen)
    assert ticket.verify(data)["test"] == ticket.info.ticket.test
    parts = teddy.find_ticket(data, Unweighted(), **TINY, loader="partitions:parts=4:batch=2")
    assert parts.verify(data)["test"] == parts.info.ticket.test


def test_exports_have_self_loops(tmp_path):
    data = normalised()
    ticket = teddy.find_ticket(data, made(), **TINY)
    ticket.export(tmp_path / "a.pt2")
    program, sparse = torch.export.load(tmp_path / "a.pt2").module(), ticket.apply(data)
    found = program(sparse.x, sparse.edge_index, sparse.edge_weight)
    torch.testing.assert_close(found, ticket.logits(data), rtol=1e-4, atol=1e-5)
    ticket.export(tmp_path / "a.parquet", data)
    table = read_edges(tmp_path / "a.parquet")
    assert len(table["source"]) == ticket.info.edges.kept + 40
    ends = zip(table["source"], table["target"], strict=True)
    weights = dict(zip(ends, table["weight"], strict=True))
    columns = zip(data.edge_index.t().tolist(), data.edge_weight.tolist(), strict=True)
    assert all(weights[s, t] == weight for (s, t), weight in columns if (s, t) in weights)


def test_built_in_models_add_their_own_self_loops(tmp_path):
    data = small_graph()
    more = copy.copy(data)
    loops = torch.arange(40).repeat(2, 1)
    more.edge_index = torch.cat([data.edge_index, loops], dim=1)
    for name, graph in {"a": data, "b": more}.items():
        teddy.find_ticket(graph, "gcn", 0.5, 0.5, epochs=2, hidden_channels=8).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert num_loops(teddy.Ticket.load(tmp_path / "a").apply(more).edge_index) == 0


def test_links_keep_self_loops():
    data = normalised(nodes=60)
    split = teddy.split_links(data, 0.2, 0.2)
    assert num_loops(split.edge_index) == 60
    for graph in (data, split):
        ticket = teddy.find_ticket(graph, made(), **TINY, task="link-prediction")
        assert num_loops(ticket.edge_index(graph)) == 60
