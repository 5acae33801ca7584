from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import teddy
from teddy.kernels import jit
from teddy.weights import L0Projection, count_nonzero

VALUES = st.lists(st.floats(-4, 4, width=32).map(lambda v: round(v, 1)), min_size=1, max_size=9)
SHARES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.7, 0.9, 1.0]))


def num_kept(p: float, d: int) -> int:
    product = p * d
    nearest = round(product)
    return d - (nearest if abs(product - nearest) <= 1e-12 * product else math.floor(product))


def brute_force(vector: np.ndarray, h: int) -> float:
    """Smallest squared distance to a vector with at most h non-zeros, over all supports."""
    supports = itertools.combinations(range(len(vector)), h)
    return min(float((np.delete(vector, list(s)) ** 2).sum()) for s in supports)


@given(values=VALUES, p=SHARES)
def test_no_feasible_point_is_nearer(values, p):
    before = np.array(values, dtype=np.float32)
    weights = torch.tensor(before)
    teddy.project_l0_(weights, p)
    h = num_kept(p, len(values))
    after = weights.numpy()
    assert np.count_nonzero(after) == min(h, np.count_nonzero(before))
    assert np.all((after == 0) | (after == before))
    np.testing.assert_allclose(((after - before) ** 2).sum(), brute_force(before, h), rtol=1e-6)


@given(values=VALUES, p=SHARES, cut=st.integers(0, 9))
def test_parameters_count_together(values, p, cut):
    whole = torch.tensor(values)
    parts = [t.clone() for t in torch.tensor(values).split([min(cut, len(values)),
             len(values) - min(cut, len(values))])]  # fmt: skip
    teddy.project_l0_(whole, p)
    teddy.project_l0_(parts, p)
    assert torch.equal(torch.cat(parts), whole)


@given(values=VALUES, p=SHARES)
def test_projecting_twice_changes_nothing(values, p):
    once = torch.tensor(values)
    teddy.project_l0_(once, p)
    twice = once.clone()
    teddy.project_l0_(twice, p)
    assert torch.equal(once, twice)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_ties_keep_the_first_exactly(dtype):
    weights = [torch.tensor([1.0, -1.0], dtype=dtype), torch.tensor([[1.0], [2.0]], dtype=dtype)]
    teddy.project_l0_(weights, 0.5)
    assert weights[0].tolist() == [1, 0]
    assert weights[1].tolist() == [[0], [2]]


@pytest.mark.parametrize("p", [0.0, 0.05, 0.6415, 0.999, 1.0])
def test_the_count_is_exact_for_a_large_vector(p):
    weights = torch.randn(100_003, generator=torch.Generator().manual_seed(0))
    teddy.project_l0_(weights, p)
    assert count_nonzero([weights]) == num_kept(p, 100_003)


def test_a_non_contiguous_parameter_is_projected_in_place():
    base = torch.tensor([[1.0, 4.0], [3.0, 2.0]])
    teddy.project_l0_(base.t(), 0.5)
    assert base.tolist() == [[0, 4], [3, 0]]


def test_ties_in_a_non_contiguous_parameter():
    base = torch.ones(2, 3)
    teddy.project_l0_(base.t(), 0.5)
    assert count_nonzero([base]) == 3


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_weight_that_is_not_finite_is_an_error_and_nothing_changes(bad):
    weights = torch.tensor([1.0, bad, 3.0])
    with pytest.raises(teddy.InputError, match="expected finite weights"):
        teddy.project_l0_(weights, 0.5)
    assert weights[0] == 1
    assert weights[2] == 3


def test_parameters_of_several_types_count_together():
    weights = [torch.tensor([0.1, 3.0]), torch.tensor([0.1, 2.0], dtype=torch.float64)]
    teddy.project_l0_(weights, 0.25)  # 0.1 in float32 is the larger one
    assert weights[0].tolist() == [float(torch.tensor(0.1)), 3]
    assert weights[1].tolist() == [0, 2]


@pytest.mark.parametrize("low", [torch.float32, torch.float16])
def test_a_cut_that_one_of_the_types_cannot_hold(low):
    weights = [torch.ones(3, dtype=low), torch.full((3,), 1 + 1e-4, dtype=torch.float64)]
    teddy.project_l0_(weights, 0.5)
    assert [count_nonzero([tensor]) for tensor in weights] == [0, 3]


def test_no_parameters_at_all():
    teddy.project_l0_([], 0.5)


@pytest.mark.parametrize("step", [0.001, 0.3, 3.0])
@pytest.mark.parametrize("kernels", [True, False])
def test_the_same_projection_serves_many_steps(kernels, step, monkeypatch):
    """Small steps stay in the band around the last cut, large ones leave it."""
    if not kernels:
        monkeypatch.setattr(jit, "numba", None)
    generator = torch.Generator().manual_seed(1)
    weights = [torch.randn(size, generator=generator) for size in ((50, 60), (7,), ())]
    project = L0Projection(weights, 0.8)
    for _ in range(12):
        once = [tensor.clone() for tensor in weights]
        project()
        teddy.project_l0_(once, 0.8)  # from scratch
        assert all(torch.equal(a, b) for a, b in zip(weights, once, strict=True))
        assert count_nonzero(weights) == 602
        for tensor in weights:
            tensor += step * torch.randn(tensor.shape, generator=generator)


def test_ties_in_the_band_are_cut_exactly():
    weights = torch.linspace(0.1, 1.0, 1000)
    project = L0Projection([weights], 0.5)
    project()
    weights[:] = 0.55
    weights[::7] = 0.9
    project()
    assert count_nonzero([weights]) == 500
    assert (weights[::7] == torch.tensor(0.9)).all()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_bad_weight_in_a_later_step_is_an_error(bad):
    weights = torch.linspace(0.1, 1.0, 1000)
    project = L0Projection([weights], 0.5)
    project()
    weights[3] = bad
    with pytest.raises(teddy.InputError, match="expected finite weights"):
        project()
