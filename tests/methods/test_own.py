"""A user's own module, targets and edges: weights, attributes, directions, tasks."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GINEConv, GraphConv

import teddy
from conftest import LAYERED, small_graph
from models.test_edge_inputs import DENSE, matrix
from teddy.graph import Edges
from teddy.training import TrainConfig, seeded, train

TINY = {"epochs": 4, "hidden_channels": 8}


def own_graph(directed=False, kind="edge_attr", seed=0):
    """A small graph whose edges have weights and attributes, of a directed one each direction."""
    data = small_graph(seed)
    generator = torch.Generator().manual_seed(seed)
    table = torch.rand(40, 40, 3, generator=generator) + 0.1
    if directed:
        there = data.edge_index[:, : data.num_edges // 2]
        data.edge_index = torch.cat([there, there[:, ::4].flip(0)], dim=1)  # some run both ways
    else:
        table = table + table.transpose(0, 1)
    data.edge_index = Edges.from_edge_index(data.edge_index, 40, directed=directed).edge_index
    source, target = data.edge_index
    if kind in ("edge_weight", "both"):
        data.edge_weight = table[source, target, 0]
    if kind in ("edge_attr", "both"):
        data.edge_attr = table[source, target, 1:]
    return data


class Edged(nn.Module):
    """Takes attributes of edges, and weights."""

    def __init__(self, outputs=3):
        super().__init__()
        self.embed = nn.Linear(12, 8)
        self.first = GINEConv(nn.Linear(8, 8), edge_dim=2)
        self.last = GraphConv(8, outputs)

    def forward(self, x, edge_index, edge_weight=None, edge_attr=None):
        h = self.first(self.embed(x).relu(), edge_index, edge_attr).relu()
        return self.last(h, edge_index, edge_weight)


class Weighted(nn.Module):
    """Can't do without weights."""

    def __init__(self):
        super().__init__()
        self.first, self.last = GraphConv(12, 8), GraphConv(8, 3)

    def forward(self, x, edge_index, edge_weight):
        return self.last(self.first(x, edge_index, edge_weight).relu(), edge_index, edge_weight)


def listed_again(data, seed=1):
    """The same graph with its columns in another order, and a duplicate."""
    again = data.clone()
    order = torch.randperm(data.num_edges, generator=torch.Generator().manual_seed(seed))
    more = torch.cat([order, order[:1]])
    again.edge_index = data.edge_index[:, more]
    for name in ("edge_weight", "edge_attr"):
        if name in data:
            again[name] = data[name][more]
    return again


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["edge_weight", "edge_attr", "both"])
def test_a_saved_ticket_gives_the_logits_of_its_training(directed, kind, tmp_path):
    data = own_graph(directed, kind)
    torch.manual_seed(0)
    module = Weighted() if kind == "edge_weight" else Edged()
    ticket = teddy.find_ticket(data, module, 0.4, 0.5, epochs=4, directed=directed)
    ticket.save(tmp_path / "own.ticket")
    again = teddy.Ticket.load(tmp_path / "own.ticket", module)
    assert again.info == ticket.info
    logits = ticket.logits(data)
    assert torch.equal(again.logits(data), logits)
    assert torch.equal(again.logits(listed_again(data)), logits)
    assert ticket.verify(data)["test"] == ticket.info.ticket.test

    # Algorithm 1 by hand: the transform, the loop, and messages in a fixed order.
    values = {name: data[name] for name in ("edge_weight", "edge_attr") if name in data}

    def graph_of(listed):
        own = {name: listed[name] for name in values}
        found = Edges.from_edge_index(listed.edge_index, 40, own, directed).messages
        fields = {key: data[key] for key in ("x", "y", "train_mask", "val_mask", "test_mask")}
        return Data(edge_index=found.index, **found.values, **fields)

    config = TrainConfig(epochs=4)
    with seeded(0):
        dense = train(copy.deepcopy(module), graph_of(data), config)
    with seeded(0):
        model, sparse = copy.deepcopy(module), graph_of(teddy.SparsifyEdges(0.4)(data))
        result = train(model, sparse, config, teacher=dense.logits, weight_sparsity=0.5)
    assert torch.equal(result.logits, logits)
    assert ticket.info.graph["directed"] == directed
    assert ticket.info.graph["edge_inputs"] == list(values)

    # Weights and attributes have a part in it.
    for name in values:
        other = data.clone()
        other[name] = data[name] * 2
        assert not torch.allclose(ticket.logits(other), logits)
        del other[name]
        with pytest.raises(teddy.InputError, match=f"data have no {name}, expected it"):
            ticket.logits(other)
        with pytest.raises(teddy.InputError, match=f"data have no {name}, expected it"):
            ticket.apply(other)
        assert torch.equal(ticket.edge_index(other), ticket.edge_index(data))  # needs none


@pytest.mark.parametrize("name", LAYERED)
@pytest.mark.parametrize("directed", [False, True])
def test_the_logits_of_a_ticket_are_those_of_a_dense_formula(name, directed, tmp_path):
    data = own_graph(directed, "edge_weight")
    options = {"heads": 2} if name in ("gat", "unimp") else {}
    settings = {**TINY, **options, "directed": directed, "dropout": 0.0}
    ticket = teddy.find_ticket(data, name, 0.4, 0.3, **settings)
    ticket.save(tmp_path / "a.ticket")
    loaded = teddy.Ticket.load(tmp_path / "a.ticket")
    kept = teddy.SparsifyEdges(0.4)(data)
    A = matrix(kept.edge_index, kept.edge_weight, 40)
    A = A if directed else torch.maximum(A, A.t())
    A.fill_diagonal_(0)
    model = copy.deepcopy(loaded.model).double()
    with torch.no_grad():
        expected = DENSE[name](model, data.x.double(), A).float()
    torch.testing.assert_close(loaded.logits(data), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LAYERED)
def test_weights_of_one_are_no_weights(name):
    data, weighted = small_graph(), small_graph()
    weighted.edge_weight = torch.ones(data.num_edges)
    tickets = [teddy.find_ticket(d, name, 0.4, 0.5, **TINY, dropout=0.0) for d in (data, weighted)]
    assert torch.equal(tickets[0].keep, tickets[1].keep)
    torch.testing.assert_close(
        tickets[0].logits(data), tickets[1].logits(weighted), rtol=1e-3, atol=1e-4
    )


def test_a_directed_graph_listed_both_ways_is_the_undirected_one():
    data = small_graph()
    tickets = [teddy.find_ticket(data, "gcn", 0.4, 0.5, **TINY, directed=d) for d in (False, True)]
    assert torch.equal(tickets[0].logits(data), tickets[1].logits(data))
    assert tickets[0].info.edges == tickets[1].info.edges


def test_an_edge_and_its_reverse_are_kept_or_removed_together():
    data = own_graph(directed=True, kind="none")
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.0, **TINY, directed=True)
    graph, _ = Edges.from_columns(data.edge_index, 40)
    assert ticket.info.edges.total == graph.num_edges
    undirected = teddy.find_ticket(data, "gcn", 0.5, 0.0, **TINY)
    assert torch.equal(ticket.keep, undirected.keep)  # scores are of the undirected graph
    kept = ticket.apply(data).edge_index
    listed = {tuple(edge) for edge in kept.t().tolist()}
    for source, target in data.edge_index.t().tolist():
        if (target, source) in {tuple(edge) for edge in data.edge_index.t().tolist()}:
            assert ((source, target) in listed) == ((target, source) in listed)


def test_messages_run_along_listed_directions_only():
    """A node's messages reach its targets only."""
    data = small_graph()
    data.edge_index = torch.tensor([[0, 1, 5], [1, 2, 4]])
    ticket = teddy.find_ticket(data, "sage", 0.0, 0.0, **TINY, directed=True, num_layers=1)
    before = ticket.logits(data)
    data.x = data.x.clone()
    data.x[1] += 1
    changed = (ticket.logits(data) != before).any(dim=1).nonzero().flatten()
    assert changed.tolist() == [1, 2]
    data.edge_index = data.edge_index.flip(0)
    with pytest.raises(teddy.InputError, match="got another graph"):
        ticket.logits(data)


def test_weighted_degrees_choose_the_edges():
    data = own_graph(kind="edge_weight")
    expected = teddy.SparsifyEdges(0.5, weighted=True)(data)
    for method in ("teddy", "degree-high"):
        ticket = teddy.find_ticket(data, "gcn", 0.5, method=method, weighted=True, **TINY)
        plain = teddy.find_ticket(data, "gcn", 0.5, method=method, **TINY)
        assert not torch.equal(ticket.keep, plain.keep)
        if method == "teddy":
            assert torch.equal(ticket.apply(data).edge_index, expected.edge_index)
    assert ticket.info.config["weighted"] is True


@pytest.mark.parametrize("kind", ["edge_weight", "both"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("rule", ["scored", "training"])
def test_inductive_tickets_take_edges_along(kind, directed, rule, tmp_path):
    data = own_graph(directed, kind)
    module = "gcn" if kind == "edge_weight" else Edged()
    options = {"hidden_channels": 8} if kind == "edge_weight" else {}
    ticket = teddy.find_ticket(
        data, module, 0.4, 0.3, epochs=3, directed=directed, inductive=True, inference=rule,
        weighted=True, **options,
    )  # fmt: skip
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", None if kind == "edge_weight" else module)
    assert torch.equal(again.logits(listed_again(data)), ticket.logits(data))
    assert again.evaluate(data)["test"] == ticket.info.ticket.test
    if rule == "scored":
        expected = teddy.SparsifyEdges(0.4, weighted=True)(data)
        assert torch.equal(again.apply(data).edge_index, expected.edge_index)
    # What training didn't see has no part in the weights of the network.
    other = data.clone()
    unseen = ~data.train_mask
    touched = unseen[data.edge_index[0]] | unseen[data.edge_index[1]]
    other.edge_weight = torch.where(touched, data.edge_weight * 3, data.edge_weight)
    other.x = torch.where(unseen[:, None], data.x + 1, data.x)
    same = teddy.find_ticket(
        other, module, 0.4, 0.3, epochs=1, directed=directed, inductive=True, inference=rule,
        weighted=True, **options,
    )  # fmt: skip
    first = teddy.find_ticket(
        data, module, 0.4, 0.3, epochs=1, directed=directed, inductive=True, inference=rule,
        weighted=True, **options,
    )  # fmt: skip
    for ours, theirs in zip(same.model.parameters(), first.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_masks_are_learned_beside_weights_and_directions(directed, own):
    data = own_graph(directed, "both" if own else "edge_weight")
    model, options = (Edged(), {}) if own else ("gcn", {"hidden_channels": 8})
    ticket = teddy.find_ticket(
        data, model, 0.05, 0.05, epochs=3, directed=directed, method="ugs", **options
    )
    assert ticket.info.edges.kept < ticket.info.edges.total
    assert ticket.evaluate(data)["test"] == ticket.info.ticket.test


def test_masks_of_a_graph_that_grows_with_weights():
    data = own_graph(True, "edge_weight")
    ticket = teddy.find_ticket(
        data,
        "gcn",
        0.05,
        0.05,
        epochs=3,
        hidden_channels=8,
        directed=True,
        method="ugs",
        inductive=True,
    )
    assert ticket.evaluate(data)["test"] == ticket.info.ticket.test
