"""Smaller models that compute the same."""

from __future__ import annotations

import pytest
import torch

from teddy.kernels.sparse import SparseMatrix
from teddy.models import GAT, GCN, GIN, MODELS, SAGE, build_model
from teddy.models.compact import compact
from teddy.models.layered import LayeredGNN


def shapes(model):
    return {name: tuple(p.shape) for name, p in model.named_parameters()}


def zero(tensor, *index):
    with torch.no_grad():
        tensor[index] = 0


@pytest.mark.parametrize("name", MODELS)
def test_of_a_dense_model_everything_stays(name):
    model = build_model(name, 5, 3, hidden_channels=16)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_()
    small, features = compact(model)
    assert shapes(small) == shapes(model)
    assert features.tolist() == [0, 1, 2, 3, 4]
    assert not any(p.requires_grad for p in small.parameters())
    assert all(p.requires_grad for p in model.parameters())


def test_a_unit_with_only_dead_successors_is_dead():
    model = GCN(4, 2, hidden_channels=32, num_layers=3)
    zero(model.weights[2], slice(8, None))  # of the second layer, units 0 to 7 are seen,
    zero(model.weights[1], slice(16, 32), slice(0, 8))  # which units 0 to 15 of the first lead to,
    zero(model.weights[0], 3, slice(0, 16))  # and those look at features 0 to 2
    small, features = compact(model)
    assert [tuple(w.shape) for w in small.weights] == [(3, 16), (16, 8), (8, 2)]
    assert features.tolist() == [0, 1, 2]
    assert torch.equal(small.weights[2], model.weights[2][:8])
    assert small.in_channels == 3


def test_a_unit_of_gin_stays_for_its_readout():
    model = GIN(4, 2, hidden_channels=16)
    zero(model.weights[1])
    assert compact(model)[0].weights[0].shape == (4, 16)
    zero(model.readouts[0], slice(8, None))
    small, _ = compact(model)
    assert [tuple(w.shape) for w in (*small.weights, *small.readouts)] == [(4, 8), (8, 2), (8, 2)]


def test_a_unit_of_sage_stays_for_either_weight():
    model = SAGE(4, 2, hidden_channels=32)
    zero(model.self_weights[0], slice(None), slice(0, 16))
    zero(model.neighbour_weights[0], slice(None), slice(8, None))
    small, _ = compact(model)
    assert small.self_weights[0].shape == small.neighbour_weights[0].shape == (4, 24)
    assert torch.equal(small.neighbour_weights[0][:, :8], model.neighbour_weights[0][:, :8])


def test_whole_heads_are_removed():
    model = GAT(4, 3, hidden_channels=2, heads=4)
    zero(model.weights[1], slice(2, 4))  # nothing sees head 1
    zero(model.weights[0], slice(None), slice(6, 8))  # head 3 is zero
    zero(model.weights[0], slice(None), slice(0, 1))  # of head 0 a unit, which attends all the same
    small, _ = compact(model)
    assert small.heads == [2, 1]
    assert small.weights[0].shape == (4, 4)
    assert torch.equal(small.source_attention[0], model.source_attention[0][[0, 2]])
    x, edge_index = torch.rand(5, 4), torch.tensor([[0, 1, 2], [1, 2, 4]])
    torch.testing.assert_close(small(x, edge_index), model.eval()(x, edge_index))


@pytest.mark.parametrize("name", MODELS)
def test_of_no_weights_a_little_stays(name):
    model = build_model(name, 5, 3, hidden_channels=16)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    small, features = compact(model)
    assert features.tolist() == [0]
    x, edge_index = torch.rand(6, 5), torch.tensor([[0, 1], [1, 0]])
    assert torch.equal(small(x[:, :1], edge_index), model.eval()(x, edge_index))
    if isinstance(model, LayeredGNN) and name != "unimp":
        assert all(units.count == 1 for units in small.units())


def test_columns_of_a_sparse_matrix():
    dense = torch.tensor([[1.0, 0, 2, 0], [0, 3, 0, 4], [0, 0, 0, 0]])
    kept = torch.tensor([1, 2])
    found = SparseMatrix.from_tensor(dense).columns(kept)
    assert torch.equal(found @ torch.eye(2), dense[:, kept])
