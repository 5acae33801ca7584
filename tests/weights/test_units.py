from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import teddy
from teddy.sparsity import num_kept_weights
from teddy.weights import Part, UnitProjection, Units, count_nonzero
from teddy.weights.units import num_kept_units

SHARES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 0.64, 0.9, 1.0]))


@st.composite
def nets(
    draw: st.DrawFn, hidden_layers: int | None = None
) -> tuple[list[Units], list[torch.Tensor]]:
    """Weights of a net of linear layers, rounded so that norms tie, and one number beside them."""
    count = hidden_layers or draw(st.integers(1, 3))
    widths = [draw(st.integers(1, 5)) for _ in range(count + 2)]
    numbers = np.random.default_rng(draw(st.integers(0, 999)))
    weights = [
        torch.from_numpy(numbers.integers(-2, 3, size).astype(np.float32))
        for size in itertools.pairwise(widths)
    ]
    layers = [
        Units(own.size(1), (Part(own, 1),), (Part(other, 0),))
        for own, other in itertools.pairwise(weights)
    ]
    return layers, [*weights, torch.tensor([3.0])]


def groups_left(units: Units) -> int:
    return int((units.squares() > 0).sum())


@given(net=nets(hidden_layers=1), p=SHARES)
def test_no_feasible_point_is_nearer(net, p):
    """With one hidden layer, over all choices of as many units."""
    (hidden,), weights = net
    (k,) = num_kept_units([hidden], weights, p)
    first, last, _ = (w.clone() for w in weights)
    nearest = min(
        sum(float(first[:, j].square().sum() + last[j].square().sum()) for j in gone)
        for gone in itertools.combinations(range(hidden.count), hidden.count - k)
    )
    UnitProjection([hidden], weights, p)()
    moved = sum(float((a - b).square().sum()) for a, b in zip((first, last), weights, strict=False))
    assert moved == pytest.approx(nearest)
    assert all(
        bool(((w == 0) | (w == b)).all()) for w, b in zip(weights, (first, last), strict=False)
    )


@given(net=nets(), p=SHARES)
def test_kept_units_fill_the_budget(net, p):
    layers, weights = net
    total = sum(w.numel() for w in weights)
    budget = num_kept_weights(p, total)
    counts = num_kept_units(layers, weights, p)
    project = UnitProjection(layers, weights, p)
    project()
    for units, count in zip(layers, counts, strict=True):
        assert groups_left(units) <= count
    if max(counts) > 1:
        assert count_nonzero(weights) <= budget
    if p == 0:
        assert counts == [units.count for units in layers]
    assert weights[-1] == 3.0  # of no unit


@given(net=nets(hidden_layers=1), p=SHARES)
def test_one_unit_more_would_be_above_the_budget(net, p):
    (hidden,), weights = net
    (k,) = num_kept_units([hidden], weights, p)
    size = weights[0].size(0) + weights[1].size(1)
    budget = num_kept_weights(p, sum(w.numel() for w in weights))
    assert k == hidden.count or (k + 1) * size + 1 > budget
    assert k == 1 or k * size + 1 <= budget


@given(net=nets(), p=SHARES)
def test_projecting_twice_changes_nothing(net, p):
    layers, weights = net
    project = UnitProjection(layers, weights, p)
    project()
    once = [w.clone() for w in weights]
    project()
    assert all(torch.equal(a, b) for a, b in zip(once, weights, strict=True))


def test_a_weight_removed_with_its_unit_does_not_count_in_the_next_layer():
    first, middle = torch.tensor([[3.0, 1.0]]), torch.tensor([[0.0, 1.0], [9.0, 0.0]])
    last = torch.tensor([[1.0], [1.0]])
    first[0] = torch.tensor([30.0, 1.0])  # unit 0 of the first layer is the larger, unit 1 goes
    layers = [
        Units(2, (Part(first, 1),), (Part(middle, 0),)),
        Units(2, (Part(middle, 1),), (Part(last, 0),)),
    ]
    UnitProjection(layers, [first, middle, last], 0.6)()
    assert first.tolist() == [[30.0, 0.0]]
    assert middle.tolist() == [[0.0, 1.0], [0.0, 0.0]]  # without the 9 the second is larger
    assert last.tolist() == [[0.0], [1.0]]


def test_units_of_several_neighbouring_places_and_places_after_them():
    heads, vectors = torch.arange(1.0, 6.0).view(1, 5), torch.ones(2, 3)
    units = Units(2, (Part(heads, 1, width=2),), (), (Part(vectors, 0),))
    assert units.squares().tolist() == [1 + 4 + 3, 9 + 16 + 3]
    units.zero_(torch.tensor([True, False]))
    assert heads.tolist() == [[0, 0, 3, 4, 5]]  # the last place is of no unit
    assert vectors.tolist() == [[0, 0, 0], [1, 1, 1]]


def test_weights_that_are_not_finite_raise():
    first, last = torch.tensor([[torch.nan, 1.0]]), torch.ones(2, 1)
    project = UnitProjection([Units(2, (Part(first, 1),), (Part(last, 0),))], [first, last], 0.5)
    with pytest.raises(teddy.InputError, match="nan or infinite"):
        project()


def wrapped(sparsity=0.5):
    torch.manual_seed(0)
    weights = [torch.nn.Parameter(torch.randn(size)) for size in ((6, 8), (8, 2))]
    units = [Units(8, (Part(weights[0], 1),), (Part(weights[1], 0),))]
    adam = torch.optim.Adam(weights, lr=0.1)
    return weights, units, teddy.L0Projected(adam, sparsity, units)


def step(weights, optimizer):
    optimizer.zero_grad()
    (torch.ones(3, 6) @ weights[0]).relu().matmul(weights[1]).square().sum().backward()
    optimizer.step()


def test_a_step_of_the_optimizer_ends_with_the_projection():
    weights, units, optimizer = wrapped()
    for _ in range(3):
        step(weights, optimizer)
        assert groups_left(units[0]) == 4
        assert count_nonzero(weights) == 32


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_a_copy_of_the_optimizer_projects_its_own_weights(clone):
    weights, _, optimizer = wrapped()
    step(weights, optimizer)
    before = [w.detach().clone() for w in weights]
    other = clone(optimizer)
    copies = other.param_groups[0]["params"]
    step(copies, other)
    assert all(torch.equal(a, b) for a, b in zip(before, weights, strict=True))
    step(weights, optimizer)
    assert all(torch.equal(a, b) for a, b in zip(copies, weights, strict=True))
