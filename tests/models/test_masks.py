"""Weights of edges and masks of weights, in every model."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv

import teddy
from conftest import LAYERED, small_graph
from teddy.graph import Edges
from teddy.kernels import jit
from teddy.kernels.pattern import edge_pattern, row_softmax
from teddy.models import build_model
from teddy.models.masks import Masks, call_with, check_takes_edge_weights
from teddy.training.runner import Runner


def simple(data):
    graph, _ = Edges.from_columns(data.edge_index, data.num_nodes)
    return graph


def masked_logits(model, data, graph, edge_mask):
    """Evaluation logits with this mask on each undirected edge."""
    masks = Masks(model, graph.num_edges, None)
    with torch.no_grad():
        masks.edge_mask.copy_(edge_mask)
    return Runner(model, data.x, graph.edge_index, masks=masks).evaluation_logits()


def model_of(name, seed=0):
    torch.manual_seed(seed)
    model = build_model(name, 12, 3, hidden_channels=8).double()
    with torch.no_grad():  # no weight is at a special value
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.3)
    return model


def double_graph(seed=0):
    data = small_graph(seed)
    data.x = data.x.double()
    return data


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("name", LAYERED)
def test_an_edge_of_weight_0_carries_no_message(name, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(jit, "numba", None)
    data = double_graph()
    graph, model = simple(data), model_of(name)
    keep = torch.rand(graph.num_edges, generator=torch.Generator().manual_seed(1)) < 0.4
    under_mask = masked_logits(model, data, graph, keep.double())
    without = model.eval()(data.x, graph.subset(keep).edge_index)
    assert torch.allclose(under_mask, without, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", LAYERED)
def test_where_a_removed_edge_leads_makes_no_difference(name):
    """Lead every removed edge elsewhere, and change whom it led to: nothing else changes."""
    data = double_graph()
    graph, model = simple(data), model_of(name)
    keep = torch.rand(graph.num_edges, generator=torch.Generator().manual_seed(2)) < 0.5
    before = masked_logits(model, data, graph, keep.double())

    kept = {tuple(pair) for pair in graph.pairs[:, keep].t().tolist()}
    moved = set()
    for low, high in graph.pairs[:, ~keep].t().tolist():
        for other in range(data.num_nodes):
            pair = (min(low, other), max(low, other))
            if other not in (low, high) and pair not in kept and pair not in moved:
                moved.add(pair)
                break
    assert len(moved) == int((~keep).sum())
    pairs = sorted(kept | moved)
    other_graph = Edges(graph.num_nodes, torch.tensor(pairs).t())
    mask = torch.tensor([pair in kept for pair in pairs]).double()
    after = masked_logits(model, data, other_graph, mask)
    assert torch.allclose(after, before, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", LAYERED)
def test_a_node_behind_removed_edges_only_has_no_influence(name):
    data = double_graph()
    graph, model = simple(data), model_of(name)
    node = int(graph.degree.argmax())
    touches = (graph.pairs == node).any(dim=0)
    mask = (~touches).double()
    before = masked_logits(model, data, graph, mask)
    data.x[node] += 100.0
    after = masked_logits(model, data, graph, mask)
    others = torch.arange(data.num_nodes) != node
    assert torch.equal(after[others], before[others])
    assert not torch.equal(after[node], before[node])


@pytest.mark.parametrize("name", LAYERED)
def test_gradients_of_edge_and_weight_masks(name):
    data = double_graph()
    graph, model = simple(data), model_of(name).eval()
    stays = [torch.rand_like(p) < 0.7 for p in model.parameters()]
    masks = Masks(model, graph.num_edges, stays)
    pattern = edge_pattern(graph.edge_index, data.num_nodes)
    x, _ = model.prepare(data.x, graph.edge_index)
    low, high = torch.minimum(pattern.row, pattern.col), torch.maximum(pattern.row, pattern.col)
    _, edge = torch.unique(low * data.num_nodes + high, return_inverse=True)

    def logits(mask):
        adjacency = model.adjacency(pattern, mask.index_select(0, edge))
        weights = masks.weights(model)
        stem = call_with(model, weights, "stem", x, adjacency)
        return call_with(model, weights, "head", stem, adjacency)

    # Away from where |m| has a corner.
    mask = (0.5 + torch.rand(graph.num_edges, dtype=torch.float64)).requires_grad_()
    loss = logits(mask).square().sum()
    gradient, *of_weights = torch.autograd.grad(loss, [mask, *masks.weight_masks])
    with torch.no_grad():
        for index in range(0, graph.num_edges, 7):
            step = torch.zeros_like(mask)
            step[index] = 1e-6
            difference = logits(mask + step).square().sum() - logits(mask - step).square().sum()
            assert float(difference / 2e-6) == pytest.approx(float(gradient[index]), rel=1e-4)
    for kept, learned, found in zip(stays, masks.weight_masks, of_weights, strict=True):
        assert not found[~kept].any()  # a weight that is gone doesn't come back
        assert not learned[~kept].any()


@pytest.mark.parametrize("name", LAYERED)
def test_weights_of_1_are_the_graph_itself(name):
    data = double_graph()
    graph, model = simple(data), model_of(name)
    ones = torch.ones(graph.num_edges, dtype=torch.float64)
    plain = model.eval()(data.x, data.edge_index)
    assert torch.allclose(masked_logits(model, data, graph, ones), plain, rtol=1e-12, atol=1e-12)


def test_the_gradient_of_an_attention_weight_of_0():
    """From 0 upwards an entry's share grows by exp of how far it is above the others."""
    pattern = edge_pattern(torch.tensor([[1, 2, 0], [0, 0, 1]]), 3)
    for gap in (0.0, 1.0, 3.0, 40.0):
        scores = torch.tensor([1.0, 1.0 + gap, 5.0], dtype=torch.float64)
        weights = torch.tensor([1.0, 0.0, 1.0], dtype=torch.float64, requires_grad=True)
        row_softmax(scores, pattern, weights)[1].backward()
        assert float(weights.grad[1]) == pytest.approx(math.exp(gap))


def test_the_weighted_softmax_by_hand():
    pattern = edge_pattern(torch.tensor([[1, 2, 0], [0, 0, 1]]), 3)
    scores = torch.tensor([1.0, 1000.0, 5.0])
    weights = torch.tensor([0.5, 0.0, -2.0])
    # The entry of weight 0 would be all there is, were it there.
    assert row_softmax(scores, pattern, weights).tolist() == [1.0, 0.0, -1.0]


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = GCNConv(12, 3)

    def forward(self, x, edge_index, edge_weight=None):
        return self.conv(x, edge_index, edge_weight)


def test_your_own_module_takes_edge_weights():
    data = small_graph()
    graph = simple(data)
    torch.manual_seed(0)
    module = Weighted()
    check_takes_edge_weights(module)
    keep = torch.rand(graph.num_edges) < 0.5
    under_mask = masked_logits(module, data, graph, keep.float())
    without = module(data.x, graph.subset(keep).edge_index)
    assert torch.allclose(under_mask, without, atol=1e-5)


def test_a_module_without_edge_weights_is_refused():
    class Plain(nn.Module):
        def forward(self, x, edge_index):
            return x

    with pytest.raises(teddy.InputError, match="a Plain does not take edge_weight"):
        check_takes_edge_weights(Plain())
