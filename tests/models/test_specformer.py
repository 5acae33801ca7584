"""Specformer against its equations in NumPy, one head and one layer at a time."""

from __future__ import annotations

import numpy as np
import psutil
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import teddy
from conftest import edge_lists, small_graph
from models.specformer_reference import decomposed, logits
from teddy.kernels.sparse import SparseMatrix
from teddy.models.macs import count_macs
from teddy.models.specformer import Specformer
from teddy.training import TrainConfig, seeded, train
from teddy.weights import L0Projected

PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


def make(seed=0, features=12, classes=3, random=True, **options):
    """A small model in float64; its weights random where they begin as constants."""
    torch.manual_seed(seed)
    model = (
        Specformer(features, classes, **{"hidden_channels": 8, "heads": 3, **options})
        .double()
        .eval()
    )
    if random:
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 0.3 * torch.randn_like(parameter)
    return model


@pytest.mark.parametrize("count", [None, 20])
@pytest.mark.parametrize("options", [{}, {"hidden_channels": 5}, {"heads": 1}])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_logits_are_the_equations(layers, options, count):
    data = small_graph(nodes=60)
    edge_index = data.edge_index[:, data.edge_index.max(dim=0).values < 50]  # and lone nodes
    x, structure = data.x.double(), decomposed(edge_index, 60, count)
    model = make(num_layers=layers, **options)
    expected = logits(model, x, structure)
    for given_x in (x, x.to_sparse_csr(), SparseMatrix.from_tensor(x)):
        found = model(given_x, structure).detach().numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@given(edge_lists())
def test_the_logits_of_any_graph(graph):
    edge_index, num_nodes = graph
    x = torch.randn(num_nodes, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    model = make()
    expected = logits(model, x, decomposed(edge_index, num_nodes))
    found = model(x, edge_index).detach().numpy()  # its spectrum is of float32
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_float32_is_near_float64():
    data = small_graph()
    model = make()
    expected = model(data.x.double(), data.edge_index)
    torch.testing.assert_close(
        model.float()(data.x, data.edge_index).double(), expected, rtol=1e-3, atol=1e-3
    )


@pytest.mark.parametrize("random", [False, True])
def test_the_gradient_reaches_every_parameter(random):
    data = small_graph()
    model = make(random=random)
    model(data.x.double(), data.edge_index).square().sum().backward()
    for name, parameter in model.named_parameters():
        if "key.bias" not in name:  # it adds the same to all scores of a query
            assert parameter.grad.abs().max() > 1e-9, name


def test_gradients_against_finite_differences():
    data = small_graph(nodes=9)
    model = make(hidden_channels=4, heads=2)
    x, structure = model.prepare(data.x.double(), data.edge_index)
    parameters = dict(model.named_parameters())

    def call(*values):
        named = dict(zip(parameters, values, strict=True))
        return torch.func.functional_call(model, named, (x, structure))

    values = [p.detach().clone().requires_grad_() for p in parameters.values()]
    assert torch.autograd.gradcheck(call, values, atol=1e-6)


@given(edge_lists(), st.randoms())
def test_another_numbering_of_the_nodes_numbers_the_logits(graph, random):
    edge_index, num_nodes = graph
    order = torch.tensor(random.sample(range(num_nodes), num_nodes))
    x = torch.randn(num_nodes, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    moved = torch.empty_like(x)
    moved[order] = x
    model = make()
    # An eigenvalue of float32 may be another by a unit in the last place.
    torch.testing.assert_close(
        model(moved, order[edge_index])[order], model(x, edge_index), rtol=1e-3, atol=1e-3
    )


@given(edge_lists())
def test_two_copies_of_a_graph_are_as_one(graph):
    edge_index, num_nodes = graph
    x = torch.randn(num_nodes, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    model = make()
    twice = model(torch.cat([x, x]), torch.cat([edge_index, edge_index + num_nodes], dim=1))
    torch.testing.assert_close(twice, model(x, edge_index).repeat(2, 1), rtol=1e-3, atol=1e-3)


def influence(model, edge_index, num_nodes, node):
    """Which nodes' features the logits of a node depend on."""
    x = torch.ones(num_nodes, 12, dtype=torch.float64, requires_grad=True)
    model(x, edge_index)[node].sum().backward()
    return (x.grad.abs().sum(dim=1) > 1e-9).nonzero().flatten().tolist()


def test_a_removed_edge_has_no_influence():
    model = make()
    assert influence(model, PATH, 4, 0) == [0, 1, 2]
    assert influence(model, PATH[:, :2], 4, 0) == [0, 1]
    assert influence(model, PATH, 4, 3) == [3]


def test_a_lone_node_more_changes_the_filter_but_not_who_sees_whom():
    data = small_graph()
    model, x = make(), data.x.double()
    more = torch.cat([x, torch.ones(1, 12).double()])
    other = torch.cat([x, torch.zeros(1, 12).double()])
    with_one = model(more, data.edge_index)
    assert torch.equal(with_one[:40], model(other, data.edge_index)[:40])
    assert not torch.allclose(with_one[:40], model(x, data.edge_index), atol=1e-6)


def test_with_a_part_of_the_spectrum_every_node_passes_its_own_features():
    model = make(eigenvalues=1)
    assert influence(model, PATH, 6, 5) == [5]
    assert influence(model, PATH, 6, 0) == [0, 2]  # the pair of 1 is (1, 0, -1)


def test_duplicates_self_loops_and_directions_change_nothing():
    data = small_graph()
    model, x = make(), data.x.double()
    loops = torch.arange(40).expand(2, 40)
    noisy = torch.cat([data.edge_index, loops, data.edge_index], dim=1)
    once = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    expected = model(x, data.edge_index)
    for edge_index in (noisy, once, once.flip(0)):
        assert torch.equal(model(x, edge_index), expected)


@pytest.mark.parametrize("nodes", [1, 40])
def test_a_graph_without_edges_works(nodes):
    model = make(random=False).float().train()
    out = model(torch.ones(nodes, 12), torch.empty(2, 0, dtype=torch.long))
    assert out.shape == (nodes, 3)
    assert out.isfinite().all()
    out.sum().backward()


def test_dropout_acts_in_training_only():
    data = small_graph()
    model = make().float()
    first, second = (model.train()(data.x, data.edge_index) for _ in range(2))
    assert not torch.equal(first, second)
    first, second = (model.eval()(data.x, data.edge_index) for _ in range(2))
    assert torch.equal(first, second)
    assert not model.deterministic
    model = make(dropout=0).float()
    assert model.deterministic
    trained = model.train()(data.x, data.edge_index)
    assert torch.equal(trained, model.eval()(data.x, data.edge_index))


def test_a_seed_fixes_the_initial_weights():
    first, second = (make(random=False, seed=3) for _ in range(2))
    torch.manual_seed(5)
    first.reset_parameters()
    assert not torch.equal(first.encoder.weight, second.encoder.weight)
    torch.manual_seed(5)
    second.reset_parameters()
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("seed", range(5))
def test_the_filter_begins_as_a_low_pass(seed):
    model = make(seed=seed, hidden_channels=32, heads=4, random=False)
    values = torch.linspace(0, 2, 200).double()
    new = model.eigenvalues(values, torch.ones(200)).detach()
    assert float((new - (1 - values[:, None])).abs().mean()) < 0.25
    assert all(bool((weights.float() == 0.2).all()) for weights in model.combinations)


def test_macs_by_hand():
    # Three nodes on a path, three of the features non-zero; eigenvalues 0, 1, 2.
    x = torch.tensor([[1.0, 0, 0, 2], [0, 0, 0, 0], [0, 3.0, 0, 0]]).to_sparse_csr()
    model = make(features=4, classes=2, hidden_channels=5, heads=2, num_layers=3).float()
    encoder = 3 * 5 + 3 * 5 * 2
    # encoding 7 x 5; query, key, value 5 x 6; back 6 x 5; two of 5 x 5; decoder 5 x 2
    weights = 7 * 5 + 3 * 5 * 6 + 6 * 5 + 2 * 5 * 5 + 5 * 2
    transformer = 3 * weights + 2 * 3 * 3 * 6
    # U has 8 entries: the middle node isn't in the vector of 1
    spectral = (2 * 8 + 3 + 3) * 2 + 3 * 3 * 2 * 2
    assert count_macs(model, x, PATH) == [encoder, transformer, spectral]


def test_pruned_weights_and_equal_eigenvalues_cost_nothing():
    model = make(features=12).float()
    data = small_graph()
    before = count_macs(model, data.x, data.edge_index)
    with torch.no_grad():
        model.encoder.weight[0] = 0
        model.eigenvalues.feed.weight[0] = 0
        model.combinations[0][1] = 0
    after = count_macs(model, data.x, data.edge_index)
    assert all(a < b for a, b in zip(after, before, strict=True))
    lone = count_macs(model, data.x, torch.empty(2, 0, dtype=torch.long))
    assert lone[1] == model.eigenvalues.macs(1)
    assert lone[2] < after[2] / 5


def test_it_learns_and_every_weight_can_be_pruned():
    data = small_graph(nodes=90)
    with seeded(0):
        model = Specformer(12, 3, hidden_channels=16)
        result = train(model, data, TrainConfig(epochs=60, lr=0.02))
        assert result.test > 60
        train(model, data, TrainConfig(epochs=3), weight_sparsity=0.5)
    total = sum(p.numel() for p in model.parameters())
    zeros = sum(int((p == 0).sum()) for p in model.parameters())
    assert abs(zeros - total / 2) <= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eigenvalues": -1}, "eigenvalues is -1, expected a whole number from 0"),
        ({"heads": 0}, "heads is 0, expected a whole number from 1"),
        ({"num_layers": 0}, "num_layers is 0"),
        ({"dropout": 1.0}, "dropout is 1.0"),
    ],
)
def test_bad_options_raise_a_clear_message(options, message):
    with pytest.raises(teddy.InputError, match=message):
        Specformer(4, 2, **options)


def test_a_spectrum_of_the_wrong_size_raises_a_clear_message(monkeypatch):
    memory = type("Memory", (), {"available": 1000})
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    with pytest.raises(teddy.InputError, match="the spectrum of 40 nodes needs"):
        make()(torch.ones(40, 12).double(), PATH)


def test_its_form():
    model = Specformer(1433, 7)
    assert repr(model) == (
        "Specformer(1433, 7, hidden_channels=32, num_layers=2, dropout=0.6, heads=4, eigenvalues=0)"
    )
    assert sum(p.numel() for p in model.parameters()) == (
        1433 * 32
        + 32
        + 32 * 7
        + 7
        + 33 * 32
        + 32
        + 6 * (32 * 32 + 32)
        + 4 * 32
        + 33 * 4
        + 2 * 5 * 7
    )


def test_a_projection_covers_all_parameters():
    model = make(random=False)
    optimizer = L0Projected(torch.optim.Adam(model.parameters()), 0.9, scope="global")
    model(torch.ones(3, 12).double(), PATH).sum().backward()
    optimizer.step()
    total = sum(p.numel() for p in model.parameters())
    assert abs(sum(int((p == 0).sum()) for p in model.parameters()) - 0.9 * total) <= 1
