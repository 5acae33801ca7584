"""Evaluation a layer at a time: what one pass over the whole graph gives, in less memory."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from cli.command import run_forked
from conftest import edge_lists, small_graph
from teddy.models import build_model
from teddy.training import layerwise, seeded
from teddy.training.adapters import BuiltInAdapter, ModuleAdapter
from teddy.training.layerwise import LayerwiseAdapter
from teddy.training.runner import Runner

BY_LAYER = ("gcn", "gat", "gin", "sage")


def model_of(name, layers=2, **options):
    with seeded(0):
        model = build_model(name, 12, 3, hidden_channels=8, num_layers=layers, **options)
        for parameter in model.parameters():  # eps of GIN is 0 at first
            parameter.data += 0.1 * torch.randn_like(parameter)
    return model


@pytest.mark.parametrize("block", [1, 7, 40])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("name", BY_LAYER)
@pytest.mark.parametrize("sparse", [True, False])
def test_logits_equal_those_of_one_pass(name, layers, block, sparse):
    data, model = small_graph(), model_of(name, layers)
    x = data.x.to_sparse_csr() if sparse else data.x + 0.01
    found = LayerwiseAdapter(model, x, data.edge_index, block).evaluation_outputs()
    with torch.no_grad():
        expected = model.eval()(x, data.edge_index)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@given(edge_lists(), st.sampled_from(BY_LAYER), st.integers(1, 5))
def test_logits_equal_those_of_one_pass_on_any_graph(graph, name, block):
    edge_index, num_nodes = graph
    x = torch.randn(num_nodes, 12, generator=torch.Generator().manual_seed(num_nodes))
    model = model_of(name)
    found = LayerwiseAdapter(model, x, edge_index, block).evaluation_outputs()
    with torch.no_grad():
        torch.testing.assert_close(found, model.eval()(x, edge_index), rtol=1e-4, atol=1e-5)


@given(edge_lists(), st.sampled_from(BY_LAYER), st.integers(1, 5), st.integers(0, 99))
def test_logits_equal_those_of_one_pass_on_directed_graphs_with_weights(graph, name, block, seed):
    edge_index, num_nodes = graph
    edge_index = edge_index[:, edge_index[0] != edge_index[1]].unique(dim=1)
    generator = torch.Generator().manual_seed(seed)
    weight = torch.rand(edge_index.size(1), generator=generator)
    x, model = torch.randn(num_nodes, 12, generator=generator), model_of(name)
    found = LayerwiseAdapter(model, x, edge_index, block, weight).evaluation_outputs()
    with torch.no_grad():
        expected = model.eval()(x, edge_index, weight)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", BY_LAYER)
def test_rows_of_neighbours_alone_give_the_same(name, monkeypatch):
    """As on a GPU, which gets those rows that a block needs."""
    data, model = small_graph(), model_of(name, 3)
    expected = LayerwiseAdapter(model, data.x, data.edge_index, 7).evaluation_outputs()

    def block(x, adjacency, start, end):
        rows, neighbours = layerwise._compact(adjacency.rows(start, end))
        return layerwise.Block(start, end, x[start:end], rows, neighbours)

    monkeypatch.setattr(layerwise, "_block", block)
    found = LayerwiseAdapter(model, data.x + 0, data.edge_index, 7)
    assert max(block.neighbours.numel() for block in found.blocks) < 40
    torch.testing.assert_close(found.evaluation_outputs(), expected, rtol=1e-4, atol=1e-5)


def test_logits_of_some_nodes_and_of_changed_weights():
    data, model = small_graph(), model_of("gcn")
    forward = LayerwiseAdapter(model, data.x, data.edge_index, 7)
    before = forward.evaluation_outputs()
    kept, nodes = before.clone(), torch.tensor([3, 30])
    assert torch.equal(forward.evaluation_outputs(nodes), before[nodes])
    with torch.no_grad():
        model.weights[1].mul_(2)
    torch.testing.assert_close(forward.evaluation_outputs(), 2 * kept)
    assert torch.equal(before, kept)  # what was handed out stays


def test_other_models_are_evaluated_in_one_pass():
    data = small_graph()
    graph = data.x, data.edge_index
    by_layer = Runner(model_of("gcn"), *graph, by_layer=True)
    assert isinstance(by_layer.adapter, LayerwiseAdapter)
    with pytest.raises(NotImplementedError):
        by_layer.training_logits()
    unimp = Runner(model_of("unimp"), *graph, by_layer=True)
    assert isinstance(unimp.adapter, BuiltInAdapter)

    class Own(nn.Linear):
        def forward(self, x, edge_index):
            return super().forward(x)

    assert isinstance(Runner(Own(12, 3), *graph, by_layer=True).adapter, ModuleAdapter)


class Largest(TorchDispatchMode):
    """The most elements of a tensor that an operation has made, but not of a view."""

    def __init__(self):
        super().__init__()
        self.numel = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        views = any(r.alias_info is not None for r in func._schema.returns)
        if isinstance(result, torch.Tensor) and not views:
            self.numel = max(self.numel, result.numel())
        return result


@pytest.mark.parametrize("name", BY_LAYER)
def test_memory_is_that_of_a_block(name):
    """No tensor in memory has a row of hidden units for each node, however many there are."""
    seen = {}
    for nodes in (1000, 4000):
        ring = torch.arange(nodes)
        edge_index = torch.stack([ring, ring.roll(1)])
        x = torch.randn(nodes, 12)
        model = model_of(name)
        hidden = model.channels[1]
        forward = LayerwiseAdapter(model, x, edge_index, block=100)
        with Largest() as largest:
            forward.evaluation_outputs(torch.tensor([0]))
        assert largest.numel < nodes * hidden / 4
        seen[nodes] = largest.numel
    assert seen[1000] == seen[4000]
    with Largest() as largest, torch.no_grad():
        model.eval()(x, edge_index)
    assert largest.numel >= 4000 * hidden


def test_hidden_states_and_logits_are_on_the_disk(monkeypatch):
    made = []

    def scratch(rows, columns, kind):
        made.append((rows, columns))
        return torch.zeros(rows, columns, dtype=kind)

    monkeypatch.setattr(layerwise, "scratch", scratch)
    data = small_graph()
    forward = LayerwiseAdapter(model_of("gcn", 3), data.x, data.edge_index, 7)
    forward.evaluation_outputs()
    forward.evaluation_outputs(torch.tensor([0]))
    assert made == [(40, 8), (40, 8), (40, 3), (40, 3), (40, 3)]  # the logits handed out are kept


def test_a_full_disk_is_an_error_not_a_signal():
    code = (
        "import resource, teddy.store.tensors as s\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n"
        "try:\n    s.scratch(1000, 1000)\nexcept OSError as error:\n    print(error.strerror)\n"
    )
    done = run_forked(code=code)
    assert done.stdout == "File too large\n"
