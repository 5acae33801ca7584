"""Activation, dropout and a narrow product in one pass are the three one after the other."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import teddy
from teddy.kernels import jit
from teddy.kernels.hidden import Hidden, dropout


def both_ways(rows, width, outputs, p, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(rows, width, dtype=dtype, generator=generator, requires_grad=True)
    weight = torch.randn(width, outputs, dtype=dtype, generator=generator, requires_grad=True)
    hidden = Hidden(z, p)
    h = z.relu() if hidden.mask is None else dropout(z.relu(), hidden.mask)
    pair = hidden @ weight, h @ weight
    grad = torch.randn(rows, outputs, dtype=dtype, generator=generator)
    gradients = [torch.autograd.grad(out, (z, weight), grad) for out in pair]
    return pair, gradients


@given(
    rows=st.integers(1, 20),
    width=st.integers(1, 200),
    outputs=st.integers(1, 20),
    p=st.sampled_from([0.0, 0.5, 0.9]),
    seed=st.integers(0, 99),
)
def test_product_and_gradients(rows, width, outputs, p, seed):
    pair, gradients = both_ways(rows, width, outputs, p, torch.float64, seed)
    torch.testing.assert_close(*pair)
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("threads", [1, 2])
def test_threads_and_fallback(threads, kernels, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    if not kernels:
        monkeypatch.setattr(jit, "numba", None)
    pair, gradients = both_ways(1000, 100, 6, 0.5, torch.float32, 0)
    torch.testing.assert_close(*pair, rtol=1e-4, atol=1e-4)
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-3)


def test_one_object_drops_the_same_entries_in_every_product():
    hidden = Hidden(torch.ones(50, 64), 0.5)
    assert torch.equal(hidden @ torch.ones(64, 1), hidden @ torch.ones(64, 1))
    assert not torch.equal(
        hidden @ torch.ones(64, 1), Hidden(torch.ones(50, 64), 0.5) @ torch.ones(64, 1)
    )


def test_nan_is_kept():
    z = torch.tensor([[float("nan"), 1.0]])
    assert (Hidden(z, 0.0) @ torch.ones(2, 1)).isnan().all()


def test_factors_that_do_not_fit_are_an_error():
    with pytest.raises(teddy.InputError, match="expected 70 rows"):
        Hidden(torch.ones(2, 70), 0.0) @ torch.ones(3, 1)


def test_a_second_derivative_is_an_error_not_a_wrong_number():
    z, weight = torch.ones(2, 3, requires_grad=True), torch.ones(3, 1, requires_grad=True)
    out = Hidden(z, 0.0) @ weight
    (grad,) = torch.autograd.grad(out.square().sum(), z, create_graph=True)
    with pytest.raises(RuntimeError):
        torch.autograd.grad(grad.sum(), z)
