"""The Wasserstein term against POT, exact transport and finite differences."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from teddy import InputError
from teddy.kernels import jit
from teddy.methods.wasserstein import class_separation, separation_memory, sinkhorn_distance

ot = pytest.importorskip("ot")
needs_numba = pytest.mark.skipif(jit.numba is None, reason="without numba POT is all there is")


def clouds(seed: int, n: int, m: int, d: int, scale: float = 1.0, apart: float = 0.0):
    generator = torch.Generator().manual_seed(seed)
    x, y = (torch.randn(k, d, generator=generator, dtype=torch.float64) * scale for k in (n, m))
    return x.requires_grad_(), (y + apart).requires_grad_()


def by_pot(x: Tensor, y: Tensor, eps=1e-3, iterations=10, stop=1e-5) -> Tensor:
    difference = x.unsqueeze(1) - y.unsqueeze(0)
    squares = difference.square().sum(dim=2)
    cost = torch.where(squares > 0, squares, 1).sqrt() * (squares > 0)
    a, b = (cost.new_full((k,), 1 / k) for k in cost.shape)
    limits = {"numItermax": iterations, "stopThr": stop, "warn": False}
    return (ot.sinkhorn(a, b, cost, eps, method="sinkhorn_log", **limits) * cost).sum()


def assert_as_pot(x: Tensor, y: Tensor, **limits) -> None:
    ours, theirs = sinkhorn_distance(x, y, **limits), by_pot(x, y, **limits)
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)
    gradients = torch.autograd.grad(ours, (x, y)), torch.autograd.grad(theirs, (x, y))
    for own, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(own, expected, rtol=1e-7, atol=1e-7)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 999),
    n=st.integers(1, 80),
    m=st.integers(1, 80),
    d=st.integers(1, 9),
    eps=st.sampled_from([1e-3, 1e-2, 0.3]),
    scale=st.sampled_from([0.02, 1.0, 5.0]),
    iterations=st.sampled_from([1, 2, 10, 12]),
)
def test_value_and_gradient_are_those_of_pot(seed, n, m, d, eps, scale, iterations):
    assert_as_pot(*clouds(seed, n, m, d, scale), eps=eps, iterations=iterations)


@settings(max_examples=10)
@given(seed=st.integers(0, 999), n=st.integers(1, 80), m=st.integers(1, 80), d=st.integers(1, 9))
def test_single_precision_is_close_to_pot_and_closer_to_the_truth(seed, n, m, d):
    x, y = (points.detach().float() for points in clouds(seed, n, m, d, 2.0))
    ours = sinkhorn_distance(x, y)
    assert ours.dtype == torch.float32
    torch.testing.assert_close(ours, by_pot(x, y), rtol=3e-4, atol=1e-5)
    truth = by_pot(x.double(), y.double())
    torch.testing.assert_close(ours.double(), truth, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("n", "m", "d", "scale", "apart"),
    [(1, 1, 1, 1, 0), (1, 40, 3, 1, 0), (70, 1, 2, 1, 0), (33, 64, 1, 1, 0), (50, 70, 4, 0.1, 9)],
)
def test_single_points_lines_and_separated_clusters(n, m, d, scale, apart):
    assert_as_pot(*clouds(3, n, m, d, scale, apart))


def test_more_blocks_than_a_group_of_them_holds():
    assert_as_pot(*clouds(5, 20, 1500, 2), iterations=2)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_any_scale_and_place(scale):
    x, y = (points.detach() * scale + 1000 * scale for points in clouds(4, 20, 30, 3))
    torch.testing.assert_close(
        sinkhorn_distance(x, y, 1e-2 * scale), by_pot(x, y, 1e-2 * scale), rtol=1e-9, atol=0
    )


def test_coinciding_points_have_no_gradient():
    x = torch.zeros(5, 3, dtype=torch.float64, requires_grad=True)
    distance = sinkhorn_distance(x, torch.zeros(4, 3, dtype=torch.float64))
    distance.backward()
    assert distance == 0
    assert torch.equal(x.grad, torch.zeros_like(x))
    x, y = clouds(0, 6, 6, 2)
    shared = x.detach()[:3]
    y = torch.cat([shared, y.detach()[3:]]).requires_grad_()
    assert_as_pot(x, y, eps=0.1)


def test_the_stop_comes_after_the_first_iteration_then_after_each_tenth():
    x, y = clouds(1, 12, 9, 2)
    values = {k: sinkhorn_distance(x, y, 0.5, k, 0.0).item() for k in (1, 2, 11, 12, 40)}
    assert len(set(values.values())) == 5
    P, C = _plan(x, y, 0.5, 1)
    missed = float((P.sum(dim=0) - 1 / 9).norm())
    for stop, last in ((missed * 1.01, 1), (missed * 0.99, 11)):
        assert sinkhorn_distance(x, y, 0.5, 40, stop).item() == values[last]
        assert_as_pot(x, y, eps=0.5, iterations=40, stop=stop)
    assert float((P * C).sum()) == pytest.approx(values[1], rel=1e-12)


def _plan(x: Tensor, y: Tensor, eps: float, iterations: int) -> tuple[Tensor, Tensor]:
    """Straight from the equations of the docstring."""
    C = torch.cdist(x.detach(), y.detach())
    f = torch.zeros(len(x), dtype=x.dtype)
    for _ in range(iterations):
        g = -eps * (np.log(len(y)) + ((f[:, None] - C) / eps).logsumexp(dim=0))
        f = -eps * (np.log(len(x)) + ((g - C) / eps).logsumexp(dim=1))
    return ((f[:, None] + g - C) / eps).exp(), C


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize(("eps", "step"), [(1.0, 1e-5), (0.1, 1e-6), (1e-3, 1e-8)])
def test_gradient_is_that_of_finite_differences(eps, step, kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(jit, "numba", None)

    def distance(x: Tensor, y: Tensor) -> Tensor:
        return sinkhorn_distance(x, y, eps, 10, 0.0)

    assert torch.autograd.gradcheck(distance, clouds(2, 5, 4, 2), eps=step, atol=1e-5, rtol=1e-3)


def test_the_gradient_is_not_the_converged_one():
    x, y = clouds(0, 30, 40, 3)
    (own,) = torch.autograd.grad(sinkhorn_distance(x, y, eps=0.1, iterations=2), x)
    P, C = _plan(x, y, 0.1, 2)
    difference = x.detach()[:, None] - y.detach()
    envelope = (P[:, :, None] * difference / C[:, :, None]).sum(dim=1)
    assert (own - envelope).norm() > 0.01 * envelope.norm()


@settings(max_examples=20)
@given(
    seed=st.integers(0, 999),
    n=st.integers(1, 8),
    m=st.integers(1, 8),
    d=st.integers(1, 3),
    eps=st.sampled_from([0.03, 0.1]),
)
def test_converged_it_exceeds_exact_transport_by_at_most_the_entropic_bound(seed, n, m, d, eps):
    x, y = clouds(seed, n, m, d)
    distance = float(sinkhorn_distance(x.detach(), y.detach(), eps, 3000, 1e-10))
    cost = torch.cdist(x.detach(), y.detach()).numpy()
    exact = ot.emd2(np.full(n, 1 / n), np.full(m, 1 / m), cost)
    assert -1e-4 <= distance - exact <= eps * np.log(min(n, m)) + 1e-4


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("threads", [1, 2])
def test_separation_is_the_sum_over_classes(dtype, kernels, threads, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    if not kernels:
        monkeypatch.setattr(jit, "numba", None)
    generator = torch.Generator().manual_seed(7)
    logits = torch.randn(150, 5, generator=generator, dtype=torch.float64) * 2
    logits[:, 3] = -9  # a class of no row
    logits = logits.to(dtype).requires_grad_()
    separation = class_separation(logits)
    (gradient,) = torch.autograd.grad(3 * separation, logits)
    exact = logits.detach().double().requires_grad_()
    label = exact.argmax(dim=1)
    expected = sum(by_pot(exact[label == c], exact[label != c]) for c in (0, 1, 2, 4))
    (expected_gradient,) = torch.autograd.grad(3 * expected, exact)
    tolerance = {"rtol": 1e-9, "atol": 1e-9} if dtype == torch.float64 else {}
    kind = {"check_dtype": False}
    assert (separation.dtype, gradient.dtype) == (dtype, dtype)
    torch.testing.assert_close(separation, expected, **kind, **tolerance)
    torch.testing.assert_close(gradient, expected_gradient, **kind, **tolerance)


def test_any_layout_of_the_logits():
    logits = torch.randn(70, 4, generator=torch.Generator().manual_seed(2))
    for same in (logits.t().contiguous().t(), logits.repeat(1, 2)[:, :4]):
        assert torch.equal(class_separation(same), class_separation(logits))


@needs_numba
def test_threads_change_no_bit(monkeypatch):
    logits = torch.randn(300, 4, generator=torch.Generator().manual_seed(1), requires_grad=True)
    results = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        separation = class_separation(logits)
        results.append((separation, *torch.autograd.grad(separation, logits)))
    for result in results[1:]:
        assert all(map(torch.equal, result, results[0]))


@pytest.mark.parametrize("kernels", [True, False])
def test_one_class_for_all_rows_adds_nothing(kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(jit, "numba", None)
    logits = torch.tensor([[2.0, 1.0], [1.0, 0.0]], requires_grad=True)
    separation = class_separation(logits)
    separation.backward()
    assert separation == 0
    assert torch.equal(logits.grad, torch.zeros(2, 2))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_non_finite_values_stay_visible(bad):
    logits = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    logits[3, 1] = bad
    logits.requires_grad_()
    separation = class_separation(logits)
    separation.backward()
    assert separation.isnan()
    assert logits.grad.isnan().any()


def test_without_gradient_none_is_kept():
    x, y = clouds(0, 5, 6, 2)
    with torch.no_grad():
        assert not sinkhorn_distance(x, y).requires_grad
    assert not sinkhorn_distance(x.detach(), y.detach()).requires_grad
    assert sinkhorn_distance(x.detach(), y).requires_grad


def test_kernels_need_far_less_memory():
    assert separation_memory(20000, 7, False) > 3.9 * separation_memory(10000, 7, False)
    assert separation_memory(10000, 7, True) < separation_memory(10000, 7, False) / 50


x = torch.zeros(3, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sinkhorn_distance(x[0], x), r"x is \[2\] of torch.float32, expected a matrix"),
        (lambda: sinkhorn_distance(x, x[:0]), r"y is \[0, 2\] of torch.float32"),
        (lambda: sinkhorn_distance(x, x.long()), r"y is \[3, 2\] of torch.int64"),
        (lambda: sinkhorn_distance(x, x[:, :1]), r"y is \[3, 1\] .* expected the same"),
        (lambda: sinkhorn_distance(x, x.double()), "of torch.float64 .* expected the same"),
        (lambda: sinkhorn_distance(x, x, eps=0.0), "eps is 0.0, expected a number above 0"),
        (lambda: sinkhorn_distance(x, x, eps=float("nan")), "eps is nan"),
        (lambda: class_separation(x, iterations=0), "iterations is 0"),
        (lambda: class_separation(x, stop=-1.0), "stop is -1.0, expected a number from 0"),
        (lambda: class_separation(x[0]), r"logits is \[2\]"),
    ],
)
def test_bad_input_raises_a_clear_message(call, message):
    with pytest.raises(InputError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_without_kernels_and_pot_the_message_names_the_package(monkeypatch):
    monkeypatch.setattr(jit, "numba", None)
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(InputError, match=r"pip install 'teddy-glt\[ot\]'"):
        sinkhorn_distance(x, x)
