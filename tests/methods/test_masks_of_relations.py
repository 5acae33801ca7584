"""Masks of heterogeneous graphs: edges of relations, and weights."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch_geometric.data import HeteroData
from torch_geometric.nn import GraphConv, HeteroConv, to_hetero

import teddy
from hetero_graphs import CITES, REV, WRITES, library
from methods.test_masks import LEVELS, made
from teddy.methods import METHODS, make_problem
from teddy.settings import Settings
from teddy.sparsity import num_kept_weights, num_pruned_edges
from teddy.ticket import Count


class Typed(nn.Module):
    """A layer of relations, written by hand."""

    def __init__(self):
        super().__init__()
        layers = {WRITES: GraphConv((4, 6), 3), CITES: GraphConv(6, 3), REV: GraphConv((6, 4), 3)}
        self.conv = HeteroConv(layers)

    def forward(self, x_dict, edge_index_dict, edge_weight_dict=None):
        weights = {} if edge_weight_dict is None else {"edge_weight_dict": edge_weight_dict}
        return self.conv(x_dict, edge_index_dict, **weights)["paper"]


class Layers(nn.Module):
    """For ``to_hetero``; lazy."""

    def __init__(self):
        super().__init__()
        self.first, self.last = GraphConv((-1, -1), 8), GraphConv((-1, -1), 3)

    def forward(self, x, edge_index, edge_weight=None):
        return self.last(self.first(x, edge_index, edge_weight).relu(), edge_index, edge_weight)


def typed(data):
    return Typed()


def transformed(data):
    return to_hetero(Layers(), data.metadata())


@pytest.fixture(scope="module")
def data() -> HeteroData:
    return library()


def typed_problem(data, make=typed, budget="each"):
    settings = {"epochs": 3, "target": "paper", "budget": budget}
    return make_problem(data, made(make, data), Settings.from_dict(settings), method="ugs")


def find_typed(data, make=typed, **settings):
    settings = {"graph_sparsity": 0.3, "weight_sparsity": 0.3, "epochs": 4, **settings}
    return teddy.find_ticket(data, made(make, data), target="paper", **settings)


@pytest.mark.parametrize("relations", ["each", "all"])
@pytest.mark.parametrize("method", ["ugs", "wd-glt"])
@pytest.mark.parametrize("make", [typed, transformed])
def test_budgets_of_relations_are_exact_and_levels_nested(data, make, method, relations):
    tickets = METHODS[method].tickets(typed_problem(data, make, relations), LEVELS)
    before = None
    for level, ticket in zip(LEVELS, tickets, strict=True):
        parts = ticket.info.hetero["relations"]
        if relations == "each":
            for part in parts:
                gone = num_pruned_edges(level.graph_sparsity, part["total"])
                assert part["kept"] == part["total"] - gone
        total = sum(part["total"] for part in parts)
        if relations == "all":
            gone = num_pruned_edges(level.graph_sparsity, total)
            assert ticket.info.edges.kept == total - gone
        assert ticket.info.weights.kept < ticket.info.weights.total
        sparse = ticket.apply(data)
        back = torch.unique(sparse[REV].edge_index.flip(0), dim=1)
        assert torch.equal(back, sparse[WRITES].edge_index)  # kept or removed together
        if before is not None:
            assert not (ticket.keep & ~before.keep).any()
        before = ticket


@pytest.mark.parametrize("make", [typed, transformed])
def test_a_ticket_of_relations_is_saved_loaded_and_used(data, make, tmp_path):
    ticket = find_typed(data, make, method="ugs")
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", model=made(make, data))
    assert again.info == ticket.info
    assert torch.equal(again.logits(data), ticket.logits(data))
    assert torch.equal(again.logits(again.apply(data)), ticket.logits(data))
    assert again.verify(data)["test"] == ticket.info.ticket.test
    find_typed(data, make, method="ugs").save(tmp_path / "b.ticket")
    assert (tmp_path / "a.ticket").read_bytes() == (tmp_path / "b.ticket").read_bytes()


def test_labels_of_test_nodes_change_no_mask(data):
    ticket, other = find_typed(data, method="ugs"), library()
    paper = other["paper"]
    paper.y[paper.test_mask] = (paper.y[paper.test_mask] + 1) % 3
    found = find_typed(other, method="ugs")
    assert torch.equal(found.keep, ticket.keep)
    assert torch.equal(found.logits(data), ticket.logits(data))


@pytest.mark.parametrize("method", ["teddy", "auto:scores=teddy+random"])
def test_weights_of_relations_by_masks(data, method):
    masked = find_typed(data, method=method, weights="masks")
    matrices, biases = 66, 6  # of writes and cites: nothing from papers to authors is used
    assert masked.info.weights == Count(72, biases + num_kept_weights(0.3, matrices))
    if method == "teddy":
        assert torch.equal(masked.keep, find_typed(data).keep)


@pytest.mark.parametrize("make", [typed, transformed])
def test_weights_of_some_relations_multiply_the_masks(make):
    weighted = library()
    for kind in (WRITES, REV):  # an edge that is listed twice has one weight
        author, paper = weighted[kind].edge_index.flip(0 if kind == REV else ())
        weighted[kind].edge_weight = 1.0 + (author + 2 * paper) % 5
    ticket = find_typed(weighted, make, method="ugs")
    assert ticket.info.graph["edge_inputs"] == ["edge_weight"]
    assert ticket.verify(weighted)["test"] == ticket.info.ticket.test
    assert not torch.equal(ticket.keep, find_typed(library(), make, method="ugs").keep)
