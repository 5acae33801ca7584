"""The weight budget: scopes, exclusions, schedules, groups; an optimizer that keeps to it."""

from __future__ import annotations

import copy
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.optim.swa_utils import AveragedModel
from torch_geometric.nn import GCNConv

import teddy
from teddy.settings.weights import reached_share
from teddy.sparsity import num_kept_weights
from teddy.weights import WeightBudget, count_nonzero, excluded_parameters
from teddy.weights.budget import balanced_counts, pools

SHAPES = st.lists(
    st.lists(st.integers(1, 12), min_size=1, max_size=3).map(tuple), min_size=1, max_size=6
)


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Embedding(10, 8), nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3)
    )


def steps(model, optimizer, count=3):
    x = torch.arange(10)
    for _ in range(count):
        optimizer.zero_grad()
        model(x).square().sum().backward()
        optimizer.step()


@given(SHAPES, st.floats(0, 1))
def test_pools_keep_exactly_the_budget(shapes, sparsity):
    sizes = [math.prod(shape) for shape in shapes]
    matrices = [size for size, shape in zip(sizes, shapes, strict=True) if len(shape) >= 2]
    (one,) = pools(shapes, "global", sparsity)
    assert one.num_kept == num_kept_weights(sparsity, sum(sizes))
    each = pools(shapes, "matrix", sparsity)
    assert [pool.num_kept for pool in each] == [num_kept_weights(sparsity, n) for n in matrices]
    balanced = pools(shapes, "balanced", sparsity)
    counts = [pool.num_kept for pool in balanced]
    assert sum(counts) == num_kept_weights(sparsity, sum(matrices))
    assert all(0 <= count <= size for count, size in zip(counts, matrices, strict=True))
    assert [pool.indices for pool in balanced] == [pool.indices for pool in each]


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=6),
       st.data())  # fmt: skip
def test_balanced_counts_are_proportional_to_the_sum_of_dimensions(shapes, data):
    sizes = [n * m for n, m in shapes]
    total = data.draw(st.integers(0, sum(sizes)))
    counts = balanced_counts(shapes, total)
    assert sum(counts) == total
    # One epsilon explains all that are not full: epsilon (n + m), rounded up or down.
    partial = [(c, n + m) for c, (n, m), s in zip(counts, shapes, sizes, strict=True) if c < s]
    if partial:
        low = max((c - 1) / s for c, s in partial)
        high = min((c + 1) / s for c, s in partial)
        assert low <= high
        # One that is full may have been rounded up to its size.
        both = zip(counts, shapes, sizes, strict=True)
        full = [(s - 1) / (n + m) for c, (n, m), s in both if c == s]
        assert all(least <= high + 1e-9 for least in full)


@pytest.mark.parametrize("scope", ["matrix", "balanced"])
def test_no_layer_dies_of_another_layers_scale(scope):
    model = net()
    with torch.no_grad():
        model[0].weight.mul_(1000)
    steps(model, teddy.L0Projected(torch.optim.SGD(model.parameters(), lr=1e-9), 0.9, scope=scope))
    assert all(p.count_nonzero() > 0 for p in model.parameters() if p.dim() >= 2)
    assert all(p.count_nonzero() == p.numel() for p in (model[2].weight, model[1].bias))
    dead = net()
    with torch.no_grad():
        dead[0].weight.mul_(1000)
    steps(dead, teddy.L0Projected(torch.optim.SGD(dead.parameters(), lr=1e-9), 0.9, scope="global"))
    assert dead[4].weight.count_nonzero() == 0  # the paper's choice, where scales differ


def test_the_sparsity_may_be_set_at_any_time():
    weight = nn.Parameter(torch.randn(10, 10))
    optimizer = teddy.L0Projected(torch.optim.SGD([weight], lr=1e-3), 0.2)
    for sparsity in (0.2, 0.7, 0.4):
        optimizer.sparsity = sparsity
        weight.data = torch.randn(10, 10)
        weight.grad = torch.ones(10, 10)
        optimizer.step()
        assert count_nonzero([weight]) == round(100 * (1 - sparsity))
        assert f"sparsity={sparsity}" in repr(optimizer)
    with pytest.raises(teddy.InputError, match=r"^sparsity must be in \[0, 1\], got 3"):
        optimizer.sparsity = 3


def test_frozen_parameters_are_not_pruned():
    model = net()
    model[0].weight.requires_grad_(False)
    before = model[0].weight.clone()
    optimizer = teddy.L0Projected(torch.optim.SGD(model.parameters(), lr=0.01), 0.9, scope="global")
    steps(model, optimizer)
    assert torch.equal(model[0].weight, before)
    trained = [p for p in model.parameters() if p.requires_grad]
    assert count_nonzero(trained) == num_kept_weights(0.9, sum(p.numel() for p in trained))
    model[0].weight.requires_grad_(True)
    steps(model, optimizer)
    total = sum(p.numel() for p in model.parameters())
    assert count_nonzero(model.parameters()) == num_kept_weights(0.9, total)


def test_parameters_without_a_gradient_are_not_pruned():
    model = net()
    spare = nn.Linear(30, 30)  # in the optimizer, never used
    optimizer = teddy.L0Projected(
        torch.optim.SGD([*model.parameters(), *spare.parameters()], lr=0.01), 0.5, scope="global"
    )
    steps(model, optimizer)
    assert spare.weight.count_nonzero() == 900
    total = sum(p.numel() for p in model.parameters())
    assert count_nonzero(model.parameters()) == num_kept_weights(0.5, total)


def test_a_group_has_its_own_sparsity():
    model = net()
    groups = [
        {"params": model[0].parameters(), "sparsity": 0.9},
        {"params": model[1].parameters(), "sparsity": 0.0},
        {"params": model[4].parameters()},
    ]
    optimizer = teddy.L0Projected(torch.optim.Adam(groups, lr=0.01), 0.5, scope="global")
    steps(model, optimizer)
    assert [count_nonzero(model[i].parameters()) for i in (0, 1, 4)] == [
        8,
        144,
        num_kept_weights(0.5, 51),
    ]
    optimizer.param_groups[1]["sparsity"] = 0.25
    steps(model, optimizer)
    assert count_nonzero(model[1].parameters()) == 108
    groups[0]["sparsity"] = 2.0
    with pytest.raises(teddy.InputError, match="sparsity of a parameter group must be in"):
        teddy.L0Projected(torch.optim.Adam(groups), 0.5)


def test_exclusions_stay_dense_and_do_not_count():
    model = net()
    optimizer = teddy.L0Projected(
        torch.optim.Adam(model.parameters()), 0.9, scope="global",
        exclude=[nn.Embedding, "BatchNorm1d", "*.bias"], model=model,
    )  # fmt: skip
    steps(model, optimizer)
    assert model[0].weight.count_nonzero() == 80
    left = [model[1].weight, model[4].weight]
    assert count_nonzero(left) == num_kept_weights(0.9, 128 + 48)


def test_patterns_match_names_modules_and_classes():
    model = nn.ModuleDict({"encoder": net(), "head": nn.Linear(3, 2)})
    everything = {name for name, _ in model.named_parameters()}
    assert excluded_parameters(model, ["encoder"]) == everything - {"head.weight", "head.bias"}
    assert excluded_parameters(model, ["head.*"]) == {"head.weight", "head.bias"}
    assert excluded_parameters(model, [nn.modules.batchnorm._BatchNorm]) == {
        "encoder.2.weight", "encoder.2.bias",
    }  # fmt: skip
    # PyG's Linear isn't a subclass of torch's.
    mixed = nn.ModuleDict({"conv": GCNConv(4, 4), "head": nn.Linear(4, 2)})
    assert excluded_parameters(mixed, [nn.Linear]) == {"head.weight", "head.bias"}
    assert "conv.lin.weight" in excluded_parameters(mixed, ["Linear"])
    with pytest.raises(teddy.InputError, match="'haed' matches no parameter of the ModuleDict"):
        excluded_parameters(model, ["haed"])
    with pytest.raises(teddy.InputError, match="weight_exclude has 3, expected name patterns"):
        WeightBudget(exclude=[3])


@pytest.mark.parametrize("schedule", ["linear", "cubic"])
def test_a_schedule_rises_to_the_full_sparsity(schedule):
    weight = nn.Parameter(torch.randn(100, 10))
    optimizer = teddy.L0Projected(
        torch.optim.SGD([weight], lr=1e-6), 0.8, schedule=schedule, ramp_steps=4
    )
    zeros = []
    for _ in range(6):
        weight.grad = torch.ones(100, 10)
        optimizer.step()
        zeros.append(1000 - int(weight.count_nonzero()))
    expected = [math.floor(800 * reached_share(schedule, i / 4) + 1e-9) for i in range(1, 7)]
    assert zeros == expected
    assert zeros[3:] == [800] * 3
    assert optimizer.current_sparsity == 0.8


def test_the_state_has_the_sparsity_and_the_progress_of_the_schedule():
    def make():
        model = net()
        adam = torch.optim.Adam(model.parameters(), lr=0.01)
        return model, teddy.L0Projected(adam, 0.8, schedule="linear", ramp_steps=10)

    model, optimizer = make()
    steps(model, optimizer, 4)
    optimizer.sparsity = 0.6
    saved = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    steps(model, optimizer, 4)
    twin, resumed = make()
    twin.load_state_dict(saved[0])
    resumed.load_state_dict(saved[1])
    assert resumed.sparsity == 0.6
    steps(twin, resumed, 4)
    for ours, theirs in zip(model.parameters(), twin.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    plain = torch.optim.Adam(net().parameters())
    resumed.load_state_dict(plain.state_dict())  # an optimizer that wasn't wrapped
    assert resumed.sparsity == 0.6


def test_a_schedule_applies_to_groups_with_their_own_sparsity():
    weight = nn.Parameter(torch.randn(100, 10))
    groups = [{"params": [weight], "sparsity": 0.8}]
    optimizer = teddy.L0Projected(
        torch.optim.SGD(groups, lr=1e-6), 0.0, schedule="linear", ramp_steps=4
    )
    weight.grad = torch.ones(100, 10)
    optimizer.step()
    assert weight.count_nonzero() == 800


def test_a_compiled_step_is_the_same_step():
    results = []
    for compiled in (False, True):
        model = net()
        optimizer = teddy.L0Projected(torch.optim.SGD(model.parameters(), lr=0.1), 0.5)

        def step(model=model, optimizer=optimizer):
            optimizer.step()

        run = torch.compile(step, backend="eager") if compiled else step
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.arange(10)).square().sum().backward()
            run()
        results.append([p.detach().clone() for p in model.parameters()])
    for ours, theirs in zip(*results, strict=True):
        assert torch.equal(ours, theirs)


def test_an_average_of_weights_is_projected_by_itself():
    model = net()
    optimizer = teddy.L0Projected(torch.optim.Adam(model.parameters(), lr=0.5), 0.8)
    average = AveragedModel(model)
    for _ in range(10):
        steps(model, optimizer, 1)
        average.update_parameters(model)
    matrices = [p for p in average.parameters() if p.dim() >= 2]
    budget = num_kept_weights(0.8, sum(p.numel() for p in matrices))
    assert count_nonzero(matrices) > budget
    teddy.project_l0_(average.parameters(), 0.8, scope=optimizer.scope)
    assert count_nonzero(matrices) == budget


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scope": "layer"}, "weight_scope is 'layer', expected one of: global, matrix, balanced"),
        ({"schedule": "cosine"}, "weight_schedule is 'cosine', expected one of"),
        ({"schedule": "cubic"}, "schedule is 'cubic' and ramp_steps None, expected both"),
        ({"ramp_steps": 3}, "schedule is 'constant' and ramp_steps 3, expected both"),
        ({"schedule": "linear", "ramp_steps": 0}, "ramp_steps is 0, expected a whole number"),
        ({"exclude": ["*.bias"]}, "exclude needs model"),
    ],
)
def test_bad_settings_raise_a_clear_message(settings, message):
    with pytest.raises(teddy.InputError, match=message):
        teddy.L0Projected(torch.optim.SGD(net().parameters(), lr=0.1), 0.5, **settings)


def test_vectors_only_need_the_global_scope():
    with pytest.raises(teddy.InputError, match="no parameter has two or more dimensions"):
        teddy.L0Projected(torch.optim.SGD([nn.Parameter(torch.ones(3))], lr=0.1), 0.5)


def test_a_budget_reaches_its_sparsity_in_time():
    budget = WeightBudget(schedule="cubic", ramp=0.4)
    reached = [budget.sparsity(0.9, epoch, 50) for epoch in range(50)]
    assert reached[0] == 0
    assert reached == sorted(reached)
    assert reached[20:] == [0.9] * 30
    assert reached[19] < 0.9
    assert WeightBudget(schedule="linear", ramp=1.0).ramp_epochs(50) == 49
    for ramp in (0, -1, 1.5):
        with pytest.raises(teddy.InputError, match="weight_ramp is"):
            WeightBudget(schedule="linear", ramp=ramp)
    with pytest.raises(teddy.InputError, match=r"weight_ramp is 0.3 and weight_schedule constant"):
        WeightBudget(ramp=0.3)
