"""The public loss of Eq. 9 against torch's own cross entropy and KL divergence."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import teddy
from teddy import InputError
from teddy.tasks.classification import CrossEntropy
from teddy.training import TrainConfig

NODES, CLASSES = 11, 4


@pytest.fixture
def given():
    generator = torch.Generator().manual_seed(3)
    z, t = (2 * torch.randn(NODES, CLASSES, generator=generator) for _ in range(2))
    y = torch.randint(CLASSES, (NODES,), generator=generator)
    return z.requires_grad_(), t, y, torch.arange(NODES) < 5


@pytest.mark.parametrize("temperature", [1.0, 3.0])
@pytest.mark.parametrize("divergence", ["dense-sparse", "sparse-dense"])
def test_it_is_cross_entropy_plus_kl_divergence(given, temperature, divergence):
    z, t, y, mask = given
    log_p, log_q = (F.log_softmax(v / temperature, dim=1) for v in (z, t))
    pair = (log_p, log_q) if divergence == "dense-sparse" else (log_q, log_p)
    kl = F.kl_div(*pair, reduction="batchmean", log_target=True)
    expected = F.cross_entropy(z[mask], y[mask]) + 7.0 * kl
    found = teddy.distillation_loss(z, t, y, mask, 7.0, temperature, divergence)
    torch.testing.assert_close(found, expected)
    grads = [torch.autograd.grad(loss, z)[0] for loss in (found, expected)]
    torch.testing.assert_close(*grads)


def test_it_is_the_loss_of_a_training_to_the_bit(given):
    z, t, y, mask = given
    trained = CrossEntropy(y, mask.nonzero().flatten(), t, TrainConfig(distill=7.0))(z)
    assert torch.equal(teddy.distillation_loss(z, t, y, mask, 7.0), trained)


def test_the_teacher_gets_no_gradient_and_unknown_classes_are_not_read(given):
    z, t, y, mask = given
    expected = teddy.distillation_loss(z, t, y, mask)
    t.requires_grad_()
    y[~mask] = -1
    found = teddy.distillation_loss(z, t, y, mask)
    found.backward()
    assert t.grad is None
    assert torch.equal(found, expected)


def test_without_strength_it_is_cross_entropy(given):
    z, t, y, mask = given
    found = teddy.distillation_loss(z, t, y, mask, strength=0)
    torch.testing.assert_close(found, F.cross_entropy(z[mask], y[mask]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"teacher_logits": torch.zeros(NODES, 3)}, r"teacher_logits \[11, 3\], expected both"),
        ({"teacher_logits": torch.zeros(NODES)}, r"teacher_logits \[11\], expected both"),
        ({"y": torch.full((NODES,), 4)}, "from 4 to 4, expected whole numbers from 0 to 3"),
        ({"y": torch.full((NODES,), -1)}, "from -1 to -1, expected whole numbers from 0 to 3"),
        ({"mask": torch.zeros(NODES, dtype=torch.bool)}, "mask has no training node"),
        ({"mask": torch.ones(3, dtype=torch.bool)}, r"mask \[3\] of torch.bool, expected"),
        ({"mask": torch.tensor([0, 4])}, r"mask \[2\] of torch.int64, expected"),
        ({"strength": -1}, "strength is -1"),
        ({"temperature": 0}, "temperature is 0"),
        ({"divergence": "both"}, "divergence is 'both', expected one of"),
    ],
)
def test_bad_input_raises_a_clear_message(given, change, message):
    named = dict(zip(("logits", "teacher_logits", "y", "mask"), given, strict=True))
    with pytest.raises(InputError, match=message) as error:
        teddy.distillation_loss(**(named | change))
    assert "\n" not in str(error.value)
