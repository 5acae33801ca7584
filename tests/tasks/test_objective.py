from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import teddy
from teddy.tasks import CrossEntropy
from teddy.training import TrainConfig


def softmax(z: np.ndarray) -> np.ndarray:
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@given(seed=st.integers(0, 999), temperature=st.floats(0.5, 4), weight=st.floats(0, 200))
def test_the_objective_equals_equation_9(seed, temperature, weight):
    rng = np.random.default_rng(seed)
    Z, Z_dense = rng.normal(size=(2, 6, 4)) * 2
    y, train = rng.integers(0, 4, 6), np.array([0, 2, 3])
    P, Q = softmax(Z / temperature), softmax(Z_dense / temperature)
    cross_entropy = -np.log(softmax(Z)[train, y[train]]).mean()
    nodes = {"all": np.arange(6), "training": train}
    readings = {
        (divergence, which): (a * np.log(a / b))[chosen].sum() / chosen.size
        for divergence, (a, b) in {"dense-sparse": (Q, P), "sparse-dense": (P, Q)}.items()
        for which, chosen in nodes.items()
    }
    tensors = torch.from_numpy(y), torch.from_numpy(train)
    for (divergence, which), kl in readings.items():
        config = TrainConfig(
            distill=weight, temperature=temperature, divergence=divergence, distill_nodes=which
        )
        loss = CrossEntropy(*tensors, torch.from_numpy(Z_dense), config)(torch.from_numpy(Z))
        np.testing.assert_allclose(float(loss), cross_entropy + weight * kl, rtol=1e-9)
    dense = CrossEntropy(*tensors, None, TrainConfig())(torch.from_numpy(Z))
    np.testing.assert_allclose(float(dense), cross_entropy, rtol=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"epochs": 1.5}, "epochs is 1.5"),
        ({"patience": 0}, "patience is 0"),
        ({"lr": 0.0}, "lr is 0.0, expected a number above 0"),
        ({"lr": float("nan")}, "lr is nan"),
        ({"weight_decay": -1.0}, "weight_decay is -1.0, expected a number from 0"),
        ({"distill": float("inf")}, "distill is inf"),
        ({"temperature": 0.0}, "temperature is 0.0"),
        ({"divergence": "kl"}, "divergence is 'kl', expected one of"),
        ({"distill_nodes": "test"}, "distill_nodes is 'test', expected one of: all, training"),
    ],
)
def test_bad_settings_raise_a_clear_message(settings, message):
    with pytest.raises(teddy.InputError, match=message):
        TrainConfig(**settings)
