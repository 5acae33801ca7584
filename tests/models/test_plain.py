"""The plain form of a model computes what the model computes."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import teddy
from conftest import edge_lists
from teddy.models import build_model
from teddy.models.plain import Plain

NAMES = ("gcn", "gat:heads=3", "gin", "sage", "unimp", "unimp:gated=false")


def random_model(name, layers, seed=0, zeros=0.5):
    torch.manual_seed(seed)
    model = build_model(name, 5, 3, hidden_channels=4, num_layers=layers).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_().mul_(torch.rand_like(weight) > zeros)
    return model


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15)
@given(graph=edge_lists(), layers=st.integers(1, 3), seed=st.integers(0, 9))
def test_the_same_logits_on_any_graph(name, graph, layers, seed):
    """Lone nodes, no edges, self-loops, edges in one direction only."""
    edge_index, num_nodes = graph
    edge_index = torch.unique(edge_index, dim=1)  # each direction once
    model = random_model(name, layers, seed)
    x = torch.randn(num_nodes, 5)
    with torch.no_grad():
        expected, found = model(x, edge_index), Plain(model)(x, edge_index)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["gat", "unimp"])
def test_attention_of_any_size_is_finite(name):
    """Scores of 1e4 overflow unless the highest is taken off; a self-loop's counts for nothing."""
    model = random_model(name, 2, zeros=0)
    x = 1e4 * torch.randn(4, 5)
    edge_index = torch.tensor([[0, 1, 1, 2, 3], [1, 0, 2, 1, 3]])
    with torch.no_grad():
        expected, found = model(x, edge_index), Plain(model)(x, edge_index)
    assert found.isfinite().all()
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("name", ["nagphormer", "specformer"])
def test_models_that_take_edges_before_they_compute_have_none(name):
    with pytest.raises(teddy.InputError, match="cannot be exported, expected a GCN"):
        Plain(build_model(name, 5, 3, hidden_channels=8))


def test_a_model_that_is_shown_labels_has_none():
    model = build_model("unimp:label_rate=0.5", 5, 3, hidden_channels=4)
    model.learn_labels(torch.tensor([0, 1, 2]), torch.tensor([0, 2]))
    with pytest.raises(teddy.InputError, match="with label inputs cannot be exported"):
        Plain(model)
