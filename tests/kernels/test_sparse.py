from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

import teddy
from teddy.kernels import jit
from teddy.kernels import products as kernels
from teddy.kernels.hidden import Dropout, dropout
from teddy.kernels.pattern import Pattern, row_softmax
from teddy.kernels.sparse import SparseMatrix, chain_product


def random_matrix(rows: int, cols: int, seed: int) -> sp.csr_array:
    return sp.random_array((rows, cols), density=0.3, rng=seed, format="csr")


SIZES = st.integers(1, 9)


@given(rows=SIZES, cols=SIZES, width=SIZES, seed=st.integers(0, 999))
def test_products_and_gradients_equal_dense_ones(rows, cols, width, seed):
    A = torch.tensor(random_matrix(rows, cols, seed).toarray())
    H = torch.randn(cols, width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    matrix = SparseMatrix.from_tensor(A)
    matrix.values.requires_grad_()
    H_ours, H_theirs, A.requires_grad = H.clone().requires_grad_(), H.clone().requires_grad_(), True
    ours, theirs = matrix @ H_ours, A @ H_theirs
    torch.testing.assert_close(ours, theirs)
    weight = torch.linspace(1, 2, ours.numel(), dtype=torch.float64).view_as(ours)
    (ours * weight).sum().backward()
    (theirs * weight).sum().backward()
    torch.testing.assert_close(H_ours.grad, H_theirs.grad)
    pattern = matrix.pattern
    torch.testing.assert_close(matrix.values.grad, A.grad[pattern.row, pattern.col])


@given(rows=SIZES, cols=SIZES, heads=st.integers(1, 4), seed=st.integers(0, 999))
def test_repeating_for_heads_is_a_kronecker_product(rows, cols, heads, seed):
    A = random_matrix(rows, cols, seed)
    pattern = SparseMatrix.from_tensor(torch.tensor(A.toarray())).pattern.repeat(heads)
    dense = np.zeros(pattern.shape)
    dense[pattern.row, pattern.col] = 1
    np.testing.assert_array_equal(dense, np.kron(A.toarray() != 0, np.eye(heads)))


@given(rows=SIZES, cols=SIZES, seed=st.integers(0, 999))
def test_softmax_of_rows(rows, cols, seed):
    A = random_matrix(rows, cols, seed)
    pattern = SparseMatrix.from_tensor(torch.tensor(A.toarray())).pattern
    scores = torch.tensor(A.data) * 50
    expected = torch.full((rows, cols), -torch.inf, dtype=torch.float64)
    expected[pattern.row, pattern.col] = scores
    expected = expected.softmax(dim=1)[pattern.row, pattern.col]
    torch.testing.assert_close(row_softmax(scores, pattern), expected)


def test_duplicates_in_a_pattern_are_one_entry():
    pattern = Pattern.from_entries(torch.tensor([1, 1, 0]), torch.tensor([0, 0, 2]), (2, 3))
    assert (pattern.crow.tolist(), pattern.col.tolist()) == ([0, 1, 2], [2, 0])


def test_dropout_keeps_the_share_and_the_mean():
    torch.manual_seed(0)
    for p in (0.1, 0.5, 0.6, 0.9):
        factors = dropout(torch.ones(400_001, dtype=torch.float64), p)
        assert abs(float((factors == 0).double().mean()) - p) < 0.004
        assert abs(float(factors.mean()) - 1) < 0.02
        for step in (1, 2, 64, 512):
            pairs = (factors[:-step] == 0) & (factors[step:] == 0)
            assert abs(float(pairs.double().mean()) - p * p) < 0.004
        again = dropout(torch.ones(400_001, dtype=torch.float64), p)  # another seed
        assert abs(float(((factors == 0) & (again == 0)).double().mean()) - p * p) < 0.004


def test_the_gradient_of_dropout_drops_the_same_entries():
    x = torch.randn(1000, requires_grad=True)
    y = dropout(x, 0.3)
    y.sum().backward()
    torch.testing.assert_close(y, x * x.grad)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("p", [0.001, 0.5, 0.6, 0.999])
def test_dropout_is_the_same_without_the_kernels(p, dtype, monkeypatch):
    x = torch.randn(100_001, dtype=dtype)
    torch.manual_seed(3)
    ours = dropout(x, p)
    monkeypatch.setattr(jit, "numba", None)
    torch.manual_seed(3)
    assert torch.equal(dropout(x, p), ours)


@given(rows=SIZES, cols=SIZES, width=st.integers(1, 40), seed=st.integers(0, 999))
def test_products_are_the_same_without_the_kernels(rows, cols, width, seed):
    A = SparseMatrix.from_tensor(torch.tensor(random_matrix(rows, cols, seed).toarray()))
    H = torch.randn(cols, width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    ours = A @ H
    with mock.patch.object(jit, "numba", None):
        torch.testing.assert_close(A @ H, ours, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_tiles_and_threads_change_nothing(threads, citeseer):
    before = torch.get_num_threads()
    X = SparseMatrix.from_tensor(citeseer.x.to(torch.float64))
    W = torch.randn(X.shape[1], 520, dtype=torch.float64)
    expected = citeseer.x.to(torch.float64) @ W
    x_transposed = citeseer.x.to(torch.float64).t().to_sparse_csr()
    torch.set_num_threads(threads)
    try:
        torch.testing.assert_close(X @ W, expected, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(X.transpose @ expected, x_transposed @ expected)
    finally:
        torch.set_num_threads(before)


def test_dropout_of_a_sparse_matrix_touches_its_entries_only():
    torch.manual_seed(0)
    matrix = SparseMatrix.from_tensor(torch.eye(2000))
    dropped = Dropout(0.5).train()(matrix)
    assert set(dropped.values.tolist()) == {0.0, 2.0}
    assert dropped.pattern is matrix.pattern
    assert Dropout(0.5).eval()(matrix) is matrix


WIDTHS = [1, 7, 8, 63, 64, 70, 130, 200]


@pytest.mark.parametrize("tile_bytes", [1 << 20, 2048])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_tiles_slices_and_threads_do_not_change_products(width, tile_bytes, threads, monkeypatch):
    """Small tiles make several blocks of few rows, wide factors several slices."""
    monkeypatch.setattr(kernels, "_TILE_BYTES", tile_bytes)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    A, X = (random_matrix(30, cols, seed).toarray() for cols, seed in ((30, 1), (50, 2)))
    W = torch.randn(50, width, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    matrix, features = (SparseMatrix.from_tensor(torch.tensor(array)) for array in (A, X))
    torch.testing.assert_close(features.product(W), torch.tensor(X) @ W)
    XW = torch.tensor(X) @ W
    torch.testing.assert_close(matrix.product(XW, 1.5), torch.tensor(A) @ XW + 1.5 * XW)
    torch.testing.assert_close(
        matrix.chain(features, W, 0.0), torch.tensor(A) @ (torch.tensor(X) @ W)
    )
    chained = features.transpose.chain(matrix.transpose, XW, 0.5)
    torch.testing.assert_close(chained, torch.tensor(X.T) @ (torch.tensor(A.T) @ XW + 0.5 * XW))


@given(rows=SIZES, cols=SIZES, width=SIZES, seed=st.integers(0, 999), shifted=st.booleans())
def test_a_chain_has_the_gradients_of_its_products(rows, cols, width, seed, shifted):
    A, X = random_matrix(rows, rows, seed).toarray(), random_matrix(rows, cols, seed + 1).toarray()
    W = torch.randn(cols, width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    results = []
    for chained in (True, False):
        weight, shift = W.clone().requires_grad_(), torch.tensor(0.7).double().requires_grad_()
        if chained:
            matrices = [SparseMatrix.from_tensor(torch.tensor(array)) for array in (A, X)]
            out = chain_product(matrices[0], shift if shifted else None, matrices[1], weight)
        else:
            XW = torch.tensor(X) @ weight
            out = torch.tensor(A) @ XW + (shift * XW if shifted else 0)
        (out * torch.linspace(1, 2, out.numel(), dtype=out.dtype).view_as(out)).sum().backward()
        results.append((out, weight.grad, shift.grad))
    for ours, theirs in zip(*results, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            torch.testing.assert_close(ours, theirs)


def test_factors_that_do_not_fit_are_an_error():
    matrix = SparseMatrix.from_tensor(torch.eye(4))
    with pytest.raises(teddy.InputError, match="expected 4 rows"):
        matrix @ torch.ones(5, 2)
    with pytest.raises(teddy.InputError, match="expected 4 rows"):
        chain_product(matrix, None, matrix, torch.ones(3, 2))
    with pytest.raises(teddy.InputError, match="expected 4 rows"):
        chain_product(matrix, None, SparseMatrix.from_tensor(torch.eye(3)), torch.ones(3, 2))
    with pytest.raises(teddy.InputError, match="float64"):
        matrix @ torch.ones(4, 2, dtype=torch.float64)


def test_a_factor_without_columns():
    matrix = SparseMatrix.from_tensor(torch.eye(4))
    assert (matrix @ torch.ones(4, 0)).shape == (4, 0)
    assert chain_product(matrix, None, matrix, torch.ones(4, 0)).shape == (4, 0)
