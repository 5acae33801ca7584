"""Metrics and the loss of links, against independent formulas."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from teddy.errors import InputError
from teddy.tasks import TASKS, auc, hits_at, task_from
from teddy.training import TrainConfig

LINKS = TASKS["link-prediction"]


def drawn(seed, ties):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=int(rng.integers(2, 60)))
    if ties:
        logits = rng.integers(0, 4, logits.size).astype(float)
    y = rng.integers(0, 2, logits.size)
    y[:2] = 0, 1
    return logits, y


def reference_auc(logits, y):
    """Every positive against every negative."""
    won = [1.0 if p > n else 0.5 if p == n else 0.0 for p in logits[y == 1] for n in logits[y == 0]]
    return 100 * sum(won) / len(won)


def reference_hits(k, logits, y):
    """A positive counts unless k negatives are as high, or higher."""
    negative = list(logits[y == 0])
    found = [sum(n >= p for n in negative) < k for p in logits[y == 1]]
    return 100 * sum(found) / len(found)


@given(st.integers(0, 10_000), st.booleans())
def test_auc_is_that_of_all_pairs(seed, ties):
    logits, y = drawn(seed, ties)
    found = auc(torch.from_numpy(logits), torch.from_numpy(y))
    assert found == pytest.approx(reference_auc(logits, y), abs=1e-9)
    column = torch.from_numpy(logits).view(-1, 1)
    assert found == auc(column, torch.from_numpy(y).view(-1, 1).float())
    assert auc(torch.from_numpy(-logits), torch.from_numpy(y)) == pytest.approx(100 - found)


@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 60))
def test_hits_are_those_above_the_kth_negative(seed, ties, k):
    logits, y = drawn(seed, ties)
    found = hits_at(k, torch.from_numpy(logits), torch.from_numpy(y))
    assert found == pytest.approx(reference_hits(k, logits, y), abs=1e-9)


def test_a_nan_is_never_in_order():
    nan, y = torch.nan, torch.tensor([1, 1, 0, 0])
    for logits, area, hits in (
        ([nan, nan, nan, nan], 0.0, 0.0),
        ([nan, 5.0, 1.0, 2.0], 50.0, 50.0),
        ([4.0, 5.0, nan, 2.0], 50.0, 0.0),
        ([torch.inf, 5.0, -torch.inf, 2.0], 100.0, 100.0),
    ):
        assert auc(torch.tensor(logits), y) == area
        assert hits_at(1, torch.tensor(logits), y) == hits


def test_with_fewer_negatives_than_k_all_are_hits():
    logits, y = torch.tensor([0.0, 5.0, 6.0]), torch.tensor([1, 0, 0])
    assert [hits_at(k, logits, y) for k in (1, 2, 3)] == [0.0, 0.0, 100.0]


@pytest.mark.parametrize("divergence", ["dense-sparse", "sparse-dense"])
def test_the_loss_is_binary_cross_entropy_and_bernoulli_divergences(divergence):
    rng = np.random.default_rng(0)
    z, dense = rng.normal(size=(2, 9, 1))
    y = rng.integers(0, 2, (9, 1)).astype(float)
    train = np.array([0, 2, 3, 7])
    config = TrainConfig(
        distill=3.0, temperature=2.0, divergence=divergence, distill_nodes="training"
    )
    objective = LINKS().objective(
        torch.from_numpy(y), torch.from_numpy(train), torch.from_numpy(dense), config
    )

    def sigmoid(a):
        return 1 / (1 + np.exp(-a))

    p = sigmoid(z[train])
    loss = -(y[train] * np.log(p) + (1 - y[train]) * np.log(1 - p)).mean()
    a, b = sigmoid(dense[train] / 2), sigmoid(z[train] / 2)
    if divergence == "sparse-dense":
        a, b = b, a
    taught = (a * np.log(a / b) + (1 - a) * np.log((1 - a) / (1 - b))).mean()
    found = objective(torch.from_numpy(z))
    assert float(found) == pytest.approx(loss + 3.0 * taught, rel=1e-6)


def test_a_task_is_restored_from_its_metadata():
    task = LINKS.fit(torch.zeros(2, 1), torch.tensor([True, False]))
    assert task_from(task.to_dict()) == task
    assert task.to_dict() == {"name": "link-prediction", "metric": "AUC"}
    assert task.predict(torch.tensor([[0.0], [0.1]])).tolist() == [0, 1]
    with pytest.raises(InputError, match="task link-prediction does not support class weights"):
        LINKS.fit(torch.zeros(2, 1), torch.tensor([True, False]), "balanced")
