"""A compiled ticket computes what the ticket does, with less."""

from __future__ import annotations

import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric import nn as pyg

import teddy
from conftest import small_graph
from teddy.graph import Edges
from teddy.kernels import jit
from teddy.kernels.sparse import SparseMatrix
from teddy.models import MODELS, build_model
from teddy.models.base import as_features
from teddy.ticket import CompiledTicket
from teddy.ticket.speed import compiled_variants, dense_like, measure

NODES, FEATURES = 14, 10


def mask(model, kind, share):
    """Set some weights to zero."""
    parameters = list(model.parameters())
    for parameter in parameters:
        parameter.data.normal_()
        if kind == "entries":
            parameter.data *= torch.rand(parameter.shape) < share
        elif kind in ("rows", "columns") and parameter.dim() == 2:
            rows = parameter.data if kind == "rows" else parameter.data.t()
            rows *= (torch.rand(len(rows)) < share)[:, None]
        elif kind == "everything":
            parameter.data.zero_()
    if kind == "layer":
        parameters[int(share * (len(parameters) - 1))].data.zero_()
    if kind in ("one unit", "few units"):
        for units in model.units():
            gone = torch.rand(units.count) >= (share if kind == "few units" else 0.0)
            gone[int(share * (units.count - 1))] = False
            units.zero_(gone)


def same(found, expected):
    assert not found.requires_grad
    assert found.shape == expected.shape
    scale = max(1e-6, float(expected.abs().max()))
    assert float((found - expected).abs().max()) <= 1e-5 * scale


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    layers=st.sampled_from([1, 2, 3]),
    kind=st.sampled_from(
        ["entries", "rows", "columns", "layer", "everything", "one unit", "few units"]
    ),
    share=st.floats(0, 1),
    dense=st.booleans(),
    edges=st.sampled_from([0, 1, 30]),
)
def test_the_logits_are_those_of_the_masked_model(name, seed, layers, kind, share, dense, edges):
    torch.manual_seed(seed)
    model = build_model(name, FEATURES, 3, hidden_channels=16, num_layers=layers)
    mask(model, kind, share)
    x = torch.rand(NODES, FEATURES) * (torch.rand(NODES, FEATURES) < (1.0 if dense else 0.15))
    graph, _ = Edges.from_columns(torch.randint(0, NODES, (2, edges)), NODES)
    expected = model.eval()(x, graph.edge_index).detach()
    compiled = CompiledTicket(model, x, graph.edge_index)
    same(compiled(), expected)
    same(compiled(x), expected)
    same(compiled(x.to_sparse_csr()), expected)
    assert compiled.num_weights <= sum(p.numel() for p in model.parameters())
    whole = model.prepare(as_features(x), graph.edge_index)
    # A NAGphormer multiplies sparse features in another order than dense ones.
    if isinstance(compiled._x, SparseMatrix) == isinstance(whole[0], SparseMatrix):
        assert sum(compiled.macs) <= sum(model.layer_macs(*whole))


@pytest.mark.parametrize("options", ["unimp:label_rate=0.5", "nagphormer:positions=2:hops=3"])
@pytest.mark.parametrize("dense", [True, False])
def test_options_that_add_inputs(options, dense):
    torch.manual_seed(0)
    model = build_model(options, FEATURES, 3, hidden_channels=16)
    mask(model, "columns", 0.5) if "nag" in options else mask(model, "rows", 0.1)
    x = torch.rand(NODES, FEATURES) * (torch.rand(NODES, FEATURES) < (1.0 if dense else 0.15))
    edge_index = Edges.from_columns(torch.randint(0, NODES, (2, 30)), NODES)[0].edge_index
    model.learn_labels(torch.arange(NODES) % 3, torch.arange(5))
    compiled = CompiledTicket(model, x, edge_index)
    same(compiled(), model.eval()(x, edge_index).detach())
    assert compiled.num_weights < sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("name", MODELS)
def test_a_ticket_compiles_on_its_graph(name, monkeypatch):
    data = small_graph()
    ticket = teddy.find_ticket(data, name, 0.5, 0.9, epochs=3, hidden_channels=8)
    compiled = ticket.compile(data)
    same(compiled(), ticket.logits(data))
    monkeypatch.setattr(jit, "numba", None)
    same(ticket.compile(data)(), ticket.logits(data))


def test_other_features_of_the_same_nodes(ticket, data):
    compiled = ticket.compile(data)
    other = copy.copy(data)
    other.x = data.x.flip(0) * 3
    same(compiled(other.x), ticket.logits(other))
    same(compiled(), ticket.logits(data))
    for wrong in (data.x[:-1], data.x[:, :-1]):
        with pytest.raises(teddy.InputError, match="as compiled"):
            compiled(wrong)
    with pytest.raises(teddy.InputError, match="expected finite features"):
        compiled(data.x / 0)


def test_it_is_for_inference_only(ticket, data):
    compiled = ticket.compile(data)
    assert compiled.eval() is compiled
    assert not compiled.training
    assert not any(p.requires_grad for p in compiled.parameters())
    with torch.enable_grad():
        assert not compiled(data.x.clone().requires_grad_()).requires_grad
    with pytest.raises(teddy.InputError, match="cannot be trained"):
        compiled.train()
    with pytest.raises(teddy.InputError, match=r"ticket.compile\(data.to\(device\)\)"):
        compiled.double()


def test_the_ticket_itself_is_not_changed(ticket, data):
    before = copy.deepcopy(ticket.model.state_dict())
    compiled = ticket.compile(data)
    compiled()
    after = ticket.model.state_dict()
    assert all(torch.equal(before[key], after[key]) for key in before)
    assert all(p.requires_grad for p in ticket.model.parameters())
    assert repr(compiled).startswith("CompiledTicket(GCN, nodes=40, features=")


def test_another_graph_is_an_error(ticket, data):
    with pytest.raises(teddy.InputError, match="the ticket belongs to"):
        ticket.compile(small_graph(seed=1))


def test_results_do_not_share_their_memory(ticket, data):
    """Large results are in memory that is used again once they are gone."""
    x = torch.rand(40_000, 4)
    compiled = CompiledTicket(
        build_model("gcn", 4, 16, hidden_channels=16), x, torch.tensor([[0], [1]])
    )
    first = compiled()
    kept = first.clone()
    compiled(x * 2)
    assert torch.equal(first, kept)


def test_a_module_of_the_users_runs_as_it_is():
    data = small_graph()
    module = pyg.GraphSAGE(12, 8, num_layers=2, out_channels=3, dropout=0.5)
    ticket = teddy.find_ticket(data, module, 0.5, 0.5, epochs=3)
    compiled = ticket.compile(data)
    same(compiled(), ticket.logits(data))
    same(compiled(data.x.to_sparse_csr()), ticket.logits(data))
    assert sum(compiled.macs) == sum(ticket.info.macs.ticket)
    assert compiled.num_weights == sum(p.numel() for p in module.parameters())


def test_an_inductive_ticket_compiles_on_the_whole_graph():
    data = small_graph()
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, epochs=3, hidden_channels=8, inductive=True)
    same(ticket.compile(data)(), ticket.logits(data))


def test_passes_are_timed_per_variant(data):
    ticket = teddy.find_ticket(
        data, "gcn", 0.5, 0.6, epochs=3, hidden_channels=32, structure="neurons"
    )
    dense, graph, weights, compiled = measure(ticket, data, seconds=0.0)
    assert [p.way for p in (dense, graph, weights, compiled)] == [
        "dense", "sparse graph", "sparse weights", "compiled",
    ]  # fmt: skip
    assert dense.macs > graph.macs > weights.macs >= compiled.macs
    assert dense.macs == sum(ticket.info.macs.dense)
    assert weights.macs == sum(ticket.info.macs.ticket)
    assert dense.weights == weights.weights == ticket.info.weights.total > compiled.weights
    assert all(p.milliseconds > 0 and p.device == "cpu" for p in (dense, compiled))


def test_the_variants_differ_as_named(data):
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.6, epochs=3, hidden_channels=8)
    ways = compiled_variants(ticket, data)
    graph, keep = ticket.prune(data)
    dense = dense_like(ticket.model)
    same(ways["dense"](), dense(data.x, graph.edge_index).detach())
    same(ways["sparse graph"](), dense(data.x, graph.subset(keep).edge_index).detach())
    same(ways["sparse weights"](), ticket.logits(data))
    same(ways["compiled"](), ticket.logits(data))
