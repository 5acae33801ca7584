from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch import nn

import teddy
from teddy.weights import count_nonzero

OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=0.1, weight_decay=1e-3),
    "fused": lambda p: torch.optim.Adam(p, lr=0.1, fused=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.1),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.1),
}


def test_the_default_scope_is_balanced():
    model, x = problem()
    optimizer = teddy.L0Projected(torch.optim.Adam(model.parameters()), 0.5)
    steps(model, optimizer, x)
    assert count_nonzero([model[0].weight, model[2].weight]) == 64 // 2
    assert count_nonzero([model[0].bias, model[2].bias]) == 10


def problem() -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2)), torch.randn(5, 6)


def steps(model, optimizer, x, count=5):
    for _ in range(count):
        optimizer.zero_grad()
        model(x).square().sum().backward()
        optimizer.step()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_is_the_optimizers_step_then_the_projection(name):
    model, x = problem()
    by_hand = copy.deepcopy(model)
    plain = OPTIMIZERS[name](by_hand.parameters())
    wrapped = teddy.L0Projected(OPTIMIZERS[name](model.parameters()), 0.6, scope="global")
    for _ in range(5):
        steps(model, wrapped, x, 1)
        steps(by_hand, plain, x, 1)
        teddy.project_l0_(by_hand.parameters(), 0.6)
        for ours, theirs in zip(model.parameters(), by_hand.parameters(), strict=True):
            assert torch.equal(ours, theirs)
        assert count_nonzero(model.parameters()) == 74 - 44


def test_state_saves_and_loads():
    model, x = problem()
    optimizer = teddy.L0Projected(torch.optim.Adam(model.parameters(), lr=0.1), 0.5, scope="global")
    steps(model, optimizer, x)
    twin = copy.deepcopy(model)
    resumed = teddy.L0Projected(torch.optim.Adam(twin.parameters(), lr=0.5), 0.5, scope="global")
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert resumed.param_groups[0]["lr"] == 0.1
    assert resumed.param_groups is resumed.optimizer.param_groups
    steps(model, optimizer, x)
    steps(twin, resumed, x)
    for ours, theirs in zip(model.parameters(), twin.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_the_state_is_that_of_the_wrapped_optimizer():
    model, x = problem()
    adam = torch.optim.Adam(model.parameters())
    optimizer = teddy.L0Projected(adam, 0.5, scope="global")
    steps(model, optimizer, x)
    assert optimizer.state is adam.state
    assert optimizer.state_dict()["state"].keys() == adam.state_dict()["state"].keys()


@pytest.mark.parametrize(
    "schedule",
    [
        lambda o: torch.optim.lr_scheduler.StepLR(o, 1, gamma=0.1),
        lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 3),
        lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.5, total_steps=5),
    ],
)
def test_schedulers_drive_the_wrapped_optimizer(schedule, recwarn):
    model, x = problem()
    adam = torch.optim.Adam(model.parameters(), lr=0.1)
    optimizer = teddy.L0Projected(adam, 0.5, scope="global")
    scheduler = schedule(optimizer)
    before = adam.param_groups[0]["lr"]
    steps(model, optimizer, x, 1)
    scheduler.step()
    assert adam.param_groups[0]["lr"] != before
    assert not [w for w in recwarn if "lr_scheduler.step" in str(w.message)]


def test_groups_and_late_groups_count_together():
    model, x = problem()
    groups = [{"params": model[0].parameters(), "lr": 0.2}, {"params": [model[2].weight]}]
    optimizer = teddy.L0Projected(torch.optim.SGD(groups, lr=0.1), 0.5, scope="global")
    steps(model, optimizer, x, 1)
    assert count_nonzero([*model[0].parameters(), model[2].weight]) == 72 // 2
    optimizer.add_param_group({"params": [model[2].bias], "lr": 0.3})
    assert [group["lr"] for group in optimizer.optimizer.param_groups] == [0.2, 0.1, 0.3]
    steps(model, optimizer, x, 1)
    assert count_nonzero(model.parameters()) == 74 // 2


def test_replaced_storage_is_projected():
    weight = nn.Parameter(torch.randn(10))
    optimizer = teddy.L0Projected(torch.optim.SGD([weight], lr=0.1), 0.5, scope="global")
    weight.grad = torch.zeros(10)
    optimizer.step()
    weight.data = torch.randn(10)
    optimizer.step()
    assert count_nonzero([weight]) == 5


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_copies_work(duplicate):
    model, x = problem()
    optimizer = teddy.L0Projected(torch.optim.Adam(model.parameters(), lr=0.1), 0.5, scope="global")
    steps(model, optimizer, x, 2)
    twin = duplicate({"model": model, "optimizer": optimizer})
    steps(model, optimizer, x, 2)
    steps(twin["model"], twin["optimizer"], x, 2)
    for ours, theirs in zip(model.parameters(), twin["model"].parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_closures_are_passed_on():
    model, x = problem()
    optimizer = teddy.L0Projected(
        torch.optim.LBFGS(model.parameters(), max_iter=3), 0.5, scope="global"
    )

    def closure():
        optimizer.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    assert loss.item() > 0
    assert count_nonzero(model.parameters()) == 37


def test_hooks_run_once_a_step():
    model, x = problem()
    optimizer = teddy.L0Projected(torch.optim.SGD(model.parameters(), lr=0.1), 0.5, scope="global")
    seen = []
    optimizer.register_step_post_hook(lambda *_: seen.append(count_nonzero(model.parameters())))
    steps(model, optimizer, x, 2)
    assert seen == [37, 37]


def test_an_invalid_optimizer_or_sparsity_raises():
    model, _ = problem()
    with pytest.raises(teddy.InputError, match="got a Sequential"):
        teddy.L0Projected(model, 0.5, scope="global")
    with pytest.raises(teddy.InputError, match=r"^sparsity must be in \[0, 1\], got 2"):
        teddy.L0Projected(torch.optim.SGD(model.parameters(), lr=0.1), 2)
