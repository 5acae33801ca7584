"""Losses, metrics and predictions of every task, against independent formulas."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import teddy
from conftest import small_graph
from teddy.models import build_model
from teddy.tasks import TASKS, micro_f1, r2, task_from
from teddy.training import FunctionLoader, TrainConfig, seeded, train

EVERY = np.arange(7)
TRAIN = np.array([0, 2, 3, 6])


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def kl_bernoulli(a, b):
    return a * np.log(a / b) + (1 - a) * np.log((1 - a) / (1 - b))


def drawn(name, seed):
    """Targets of seven nodes, and logits of a ticket and a dense model."""
    rng = np.random.default_rng(seed)
    y = (
        rng.integers(0, 2, (7, 3)).astype(float)
        if name == "multilabel"
        else rng.normal(size=(7, 3))
    )
    y[rng.random((7, 3)) < 0.2] = np.nan
    y[0] = [0, 1, 1]
    return y, *rng.normal(size=(2, 7, 3)) * 2


def reference(name, y, Z, Z_dense, weight, config):
    """The objective as the docstrings have it, in NumPy."""
    known = np.zeros_like(y, dtype=bool)
    known[TRAIN] = ~np.isnan(y[TRAIN])
    t, nodes = config.temperature, TRAIN if config.distill_nodes == "training" else EVERY
    if name == "multilabel":
        p = sigmoid(Z)
        losses = -(weight * y * np.log(p) + (1 - y) * np.log(1 - p))
        p, q = sigmoid(Z / t), sigmoid(Z_dense / t)
        divergence = kl_bernoulli(*((p, q) if config.divergence == "sparse-dense" else (q, p)))
    else:
        losses = (Z - y) ** 2
        divergence = (Z - Z_dense) ** 2 / t**2
    return losses[known].mean() + config.distill * divergence[nodes].mean()


def objective(name, weight, y, *arguments):
    if name == "regression":
        return TASKS[name]((0.0,) * 3, (1.0,) * 3).objective(y, *arguments)
    return TASKS[name](weight).objective(y, *arguments)


@pytest.mark.parametrize("name", ["multilabel", "regression"])
@given(
    seed=st.integers(0, 999),
    temperature=st.floats(0.5, 4),
    distill=st.floats(0.1, 200),
    divergence=st.sampled_from(["dense-sparse", "sparse-dense"]),
    where=st.sampled_from(["all", "training"]),
)
def test_the_objective_equals_its_formula(name, seed, temperature, distill, divergence, where):
    y, Z, Z_dense = drawn(name, seed)
    weight = np.array([1.0, 2.5, 0.5])
    config = TrainConfig(
        distill=distill, temperature=temperature, divergence=divergence, distill_nodes=where
    )
    tensors = torch.from_numpy(y), torch.from_numpy(TRAIN)
    found = objective(name, torch.from_numpy(weight), *tensors, torch.from_numpy(Z_dense), config)
    expected = reference(name, y, Z, Z_dense, weight, config)
    np.testing.assert_allclose(float(found(torch.from_numpy(Z))), expected, rtol=1e-9)
    alone = objective(name, torch.from_numpy(weight), *tensors, None, config)
    plain = reference(name, y, Z, Z_dense, weight, TrainConfig(distill=0.0))
    np.testing.assert_allclose(float(alone(torch.from_numpy(Z))), plain, rtol=1e-9)


@pytest.mark.parametrize("name", ["multilabel", "regression"])
@pytest.mark.parametrize("divergence", ["dense-sparse", "sparse-dense"])
def test_gradients_are_those_of_the_formula(name, divergence):
    y, Z, Z_dense = drawn(name, 5)
    config = TrainConfig(distill=3.0, temperature=1.5, divergence=divergence)
    tensors = torch.from_numpy(y), torch.from_numpy(TRAIN), torch.from_numpy(Z_dense)
    loss_of = objective(name, torch.ones(3).double(), *tensors, config)
    z = torch.from_numpy(Z).requires_grad_()
    (found,) = torch.autograd.grad(loss_of(z), [z])
    for place in itertools.product(range(7), range(3)):
        step = np.zeros_like(Z)
        step[place] = 1e-6
        rise = [reference(name, y, Z + s * step, Z_dense, np.ones(3), config) for s in (1, -1)]
        np.testing.assert_allclose(found[place], (rise[0] - rise[1]) / 2e-6, atol=1e-5)


@given(seed=st.integers(0, 99))
def test_weighted_cross_entropy_is_that_of_torch(seed):
    generator = torch.Generator().manual_seed(seed)
    z, y = torch.randn(9, 4, generator=generator), torch.randint(0, 4, (9,), generator=generator)
    weight = torch.rand(4, generator=generator) + 0.1
    nodes = torch.tensor([0, 3, 4, 8])
    task = TASKS["classification"](weight)
    expected = nn.functional.cross_entropy(z[nodes], y[nodes], weight)
    loss_of = task.objective(y, nodes, None, TrainConfig())
    torch.testing.assert_close(loss_of(z), expected)
    # Of some nodes only, and in parts that add up.
    chosen = torch.tensor([3, 8])
    torch.testing.assert_close(
        loss_of(z, chosen), nn.functional.cross_entropy(z[chosen], y[chosen], weight)
    )
    torch.testing.assert_close(loss_of.for_nodes(nodes)(z[nodes]), expected)
    total = task.amount(y[nodes]), 9
    parts = [
        task.objective(y, part, None, TrainConfig(), total)(z) for part in (nodes[:1], nodes[1:])
    ]
    torch.testing.assert_close(sum(parts), expected)


@pytest.mark.parametrize("name", ["multilabel", "regression"])
def test_losses_of_parts_add_up(name):
    y, Z, Z_dense = (torch.from_numpy(part) for part in drawn(name, 3))
    config, train_nodes = TrainConfig(distill=2.0), torch.from_numpy(TRAIN)
    weight = torch.tensor([1.0, 2.0, 3.0])
    whole = objective(name, weight, y, train_nodes, Z_dense, config)
    task = TASKS[name]((0.0,) * 3, (1.0,) * 3) if name == "regression" else TASKS[name](weight)
    totals = task.amount(y[train_nodes]), 7
    loss = 0.0
    for nodes in (torch.arange(4), torch.arange(4, 7)):
        own = torch.isin(nodes, train_nodes).nonzero().flatten()
        part = objective(name, weight, y[nodes], own, Z_dense[nodes], config, totals)
        loss += part(Z[nodes])
    torch.testing.assert_close(loss, whole(Z))


def test_positive_weights_are_those_of_torch():
    y = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    z, weight = torch.tensor([[0.3, -2.0], [1.0, 0.2], [-0.7, 4.0]]), torch.tensor([2.0, 0.25])
    loss_of = TASKS["multilabel"](weight).objective(y, torch.arange(3), None, TrainConfig())
    torch.testing.assert_close(loss_of(z), nn.BCEWithLogitsLoss(pos_weight=weight)(z, y))


@given(seed=st.integers(0, 999))
def test_micro_f1_is_the_harmonic_mean_of_precision_and_recall(seed):
    rng = np.random.default_rng(seed)
    y, predicted = rng.integers(0, 2, (2, 6, 4)).astype(float)
    y[rng.random((6, 4)) < 0.2] = np.nan
    y[0, 0] = predicted[0, 0] = 1
    known = ~np.isnan(y)
    right = (predicted[known] * y[known]).sum()
    precision, recall = right / predicted[known].sum(), right / y[known].sum()
    expected = 100 * 2 * precision * recall / (precision + recall)
    found = micro_f1(torch.from_numpy(predicted), torch.from_numpy(y))
    np.testing.assert_allclose(found, expected)


def test_micro_f1_of_nothing_found_is_zero():
    assert micro_f1(torch.zeros(2, 2), torch.ones(2, 2)) == 0.0
    assert micro_f1(torch.zeros(2, 2), torch.zeros(2, 2)) == 0.0


@given(seed=st.integers(0, 999))
def test_r2_is_the_mean_over_targets_of_one_minus_the_residual(seed):
    rng = np.random.default_rng(seed)
    y, predicted = rng.normal(size=(2, 8, 3))
    y[rng.random((8, 3)) < 0.2] = np.nan
    y[:2] = rng.normal(size=(2, 3))
    shares = []
    for column, guess in zip(y.T, predicted.T, strict=True):
        known = ~np.isnan(column)
        left = ((column[known] - guess[known]) ** 2).mean()
        shares.append(1 - left / column[known].var())
    found = r2(torch.from_numpy(predicted), torch.from_numpy(y))
    np.testing.assert_allclose(found, 100 * np.mean(shares))


def test_r2_of_equal_numbers_is_all_or_nothing():
    y = torch.ones(3, 1)
    assert r2(y, y) == 100.0
    assert r2(y + 1, y) == 0.0


def test_numbers_are_standardised_by_the_training_nodes_and_predicted_in_their_scale():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(9, 2)) * [1e4, 1e-4] + [1e6, 0]
    y[4, 0] = np.nan
    train_mask = torch.arange(9) < 6
    task = TASKS["regression"].fit(torch.from_numpy(y), train_mask)
    encoded = task.encode(torch.from_numpy(y)).numpy()
    np.testing.assert_allclose(np.nanmean(encoded[:6], axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(np.nanstd(encoded[:6], axis=0), 1, rtol=1e-6)
    again = task_from(task.to_dict()).predict(torch.from_numpy(encoded))
    np.testing.assert_allclose(again.numpy(), y, rtol=1e-6, atol=1e-10)
    y[6:] = 0  # other nodes have no part in it
    assert TASKS["regression"].fit(torch.from_numpy(y), train_mask) == task


def test_balanced_weights():
    """As scikit-learn has them: n / (k n_c) of classes, n_negative / n_positive of labels."""
    y = torch.tensor([0, 0, 0, 2, 2, 1, 3])
    train_mask = torch.tensor([True] * 5 + [False] * 2)
    weight = TASKS["classification"].fit(y, train_mask, "balanced").weight
    torch.testing.assert_close(weight, torch.tensor([5 / 6, 0.0, 5 / 4, 0.0]))
    labels = torch.tensor([[1.0, 1, 0], [0, 1, 0], [0, 1, torch.nan], [0, 1, 1]])
    weight = TASKS["multilabel"].fit(labels, torch.ones(4).bool(), "balanced").weight
    torch.testing.assert_close(weight, torch.tensor([3.0, 1.0, 2.0]))


@pytest.mark.parametrize(
    ("task", "weight", "message"),
    [
        ("classification", "balance", "class_weight is 'balance', expected 'balanced' or 3 numb"),
        ("classification", [1, 2], r"class_weight is \[1.0, 2.0\], expected 'balanced' or 3"),
        ("classification", [1, -2, 1], r"class_weight is \[1.0, -2.0, 1.0\]"),
        ("classification", [1, float("nan"), 1], "class_weight is"),
        ("classification", ["a", "b", "c"], "class_weight is"),
        ("classification", [0, 0, 0], "class_weight is 0 for all training nodes"),
        ("regression", "balanced", "task regression does not support class weights"),
    ],
)
def test_bad_class_weights_raise_a_clear_message(task, weight, message):
    data = small_graph()
    with pytest.raises(teddy.InputError, match=message):
        teddy.find_ticket(data, "gcn", task=task, class_weight=weight, epochs=1, hidden_channels=4)


def of_task(name, seed=0):
    """A small graph whose targets its features tell."""
    data = small_graph(seed)
    if name == "multilabel":
        data.y = (data.x[:, :4] > data.x[:, :4].median(dim=0).values).float()
        data.y[3, 1] = torch.nan
    elif name == "regression":
        data.y = 100 + 20 * data.x[:, :2] @ torch.tensor([1.0, -2.0])
    return data


@pytest.mark.parametrize("name", ["multilabel", "regression"])
@pytest.mark.parametrize("model", ["gin", "nagphormer:batch=9", "sage"])
def test_every_kind_of_step_learns(name, model):
    data = of_task(name)
    task = TASKS[name].fit(data.y, data.train_mask)
    data.y = task.encode(data.y)
    with seeded(0):
        network = build_model(model, 12, task.num_outputs(data.y), hidden_channels=8, dropout=0.0)
        loader = None
        if model == "sage":
            loader = FunctionLoader(lambda graph: [graph])
        config = TrainConfig(epochs=30, lr=0.01)
        result = train(network, data, config, loader=loader, task=task)
    losses = [epoch.loss for epoch in result.history]
    assert sum(losses[-5:]) < 0.9 * sum(losses[:5])
    assert result.best.val == task.score(result.logits[data.val_mask], data.y[data.val_mask])
    assert result.test == task.score(result.logits[data.test_mask], data.y[data.test_mask])


@pytest.mark.parametrize("name", ["classification", "multilabel", "regression"])
def test_one_batch_of_all_nodes_is_the_whole_graph(name):
    data = of_task(name)
    weight = None if name == "regression" else "balanced"
    task = TASKS[name].fit(data.y, data.train_mask, weight)
    data.y = task.encode(data.y)
    outputs = task.num_outputs(data.y)
    with seeded(0):
        teacher = torch.randn(40, outputs)
    results = []
    for loader in (None, FunctionLoader(lambda graph: [graph])):
        with seeded(0):
            network = build_model("gin", 12, outputs, hidden_channels=8)
            config = TrainConfig(epochs=4)
            results.append(train(network, data, config, teacher=teacher, loader=loader, task=task))
    torch.testing.assert_close(results[0].logits, results[1].logits, rtol=1e-4, atol=1e-5)


def test_a_plain_loop_learns_the_same_numbers():
    """The training of a module, step by step in plain torch with the formulas."""
    data = of_task("regression")
    y = data.y.double()
    z = ((y - y[data.train_mask].mean()) / y[data.train_mask].std(correction=0)).float()
    torch.manual_seed(0)
    module = nn.Linear(12, 1)

    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(12, 1)
            self.linear.load_state_dict(module.state_dict())

        def forward(self, x, edge_index):
            return self.linear(x)

    ticket = teddy.find_ticket(data, Own(), 0.5, 0.0, epochs=5, distill=0.0, task="regression")
    adam, best = torch.optim.Adam(module.parameters(), lr=0.01, weight_decay=5e-4), (-1e9, None)
    for _ in range(5):
        adam.zero_grad()
        (module(data.x)[:, 0] - z)[data.train_mask].square().mean().backward()
        adam.step()
        with torch.no_grad():
            out = module(data.x)[:, 0]
        val = out[data.val_mask], z[data.val_mask]
        r2_val = 1 - float(
            (val[0] - val[1]).square().sum() / (val[1] - val[1].mean()).square().sum()
        )
        best = max(best, (r2_val, out), key=lambda found: found[0])
    torch.testing.assert_close(ticket.logits(data)[:, 0], best[1], rtol=1e-4, atol=1e-5)
    assert ticket.info.ticket.val == pytest.approx(100 * best[0], abs=1e-3)
    expected = best[1] * y[data.train_mask].std(correction=0) + y[data.train_mask].mean()
    torch.testing.assert_close(ticket.predict(data), expected.float(), rtol=1e-4, atol=1e-3)
