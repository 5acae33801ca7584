"""Node features: sparse where that pays, rows that sum to 1."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

# Bag-of-words rows are 1 to 10% dense, and a sparse product is then many times faster.
SPARSE_BELOW = 0.25


def compact(x: Tensor) -> Tensor:
    """Return ``x`` as ``torch.sparse_csr`` when less than a quarter of it is non-zero, else dense.

    Args:
        x: float32 ``[N, F]``, dense or CSR.

    Example:
        >>> compact(torch.eye(5)).layout
        torch.sparse_csr
        >>> compact(torch.eye(4)).layout
        torch.strided
    """
    if x.layout is torch.strided:
        sparse = int(x.count_nonzero()) < SPARSE_BELOW * x.numel()
        return csr_tensor(csr_matrix(x.detach().numpy())) if sparse else x.detach()
    matrix = _scipy(x.detach())
    sparse = matrix.nnz < SPARSE_BELOW * x.numel()
    return csr_tensor(matrix) if sparse else torch.from_numpy(matrix.toarray())


def num_features(x: Tensor) -> int:
    """Return the number of features of a node: columns of ``[N, F]``, 1 of ids ``[N]``.

    Example:
        >>> num_features(torch.eye(3)), num_features(torch.arange(3))
        (3, 1)
    """
    return x.size(1) if x.dim() == 2 else 1


def normalise_rows(matrix: csr_matrix) -> csr_matrix:
    """Divide each row by its sum; a row of zeros stays as it is.

    Example:
        >>> normalise_rows(csr_matrix([[1, 3], [0, 0]])).toarray().tolist()
        [[0.25, 0.75], [0.0, 0.0]]
    """
    sums = np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel()
    values = matrix.data / np.repeat(sums, np.diff(matrix.indptr))
    parts = (values.astype(np.float32), matrix.indices, matrix.indptr)
    return csr_matrix(parts, shape=matrix.shape)


def csr_tensor(matrix: csr_matrix) -> Tensor:
    """Return a SciPy matrix as a float32 ``torch.sparse_csr`` tensor with int64 indices.

    Example:
        >>> csr_tensor(csr_matrix([[0.0, 2.0]])).values()
        tensor([2.])
    """
    with warnings.catch_warnings():
        # Once a process PyTorch calls the layout a beta; nothing that a user could act on.
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(np.int64)),
            torch.from_numpy(matrix.indices.astype(np.int64)),
            torch.from_numpy(matrix.data.astype(np.float32)),
            size=matrix.shape,
            check_invariants=True,
        )


def select_rows(x: Tensor, rows: Tensor) -> Tensor:
    """Some rows of a matrix, dense or CSR.

    Args:
        x: ``[N, F]``.
        rows: bool ``[N]``.

    Example:
        >>> x = csr_tensor(csr_matrix(np.eye(3)))
        >>> select_rows(x, torch.tensor([True, False, True])).to_dense()
        tensor([[1., 0., 0.],
                [0., 0., 1.]])
    """
    if x.layout == torch.strided:
        return x[rows]
    lengths = x.crow_indices().diff()
    stays = rows.repeat_interleave(lengths)
    crow = torch.cat([lengths.new_zeros(1), lengths[rows].cumsum(0)])
    shape = (int(rows.sum()), x.size(1))
    parts = crow, x.col_indices()[stays], x.values()[stays]
    return torch.sparse_csr_tensor(*parts, shape, check_invariants=False)  # as good as x


def take_rows(x: Tensor, index: Tensor) -> Tensor:
    """Rows of a matrix, dense or CSR, by their numbers, in that order.

    Args:
        x: ``[N, F]``.
        index: int64 ``[n]``.

    Example:
        >>> take_rows(torch.eye(3).to_sparse_csr(), torch.tensor([2, 0])).to_dense()
        tensor([[0., 0., 1.],
                [1., 0., 0.]])
    """
    if x.layout == torch.strided:
        return x.index_select(0, index)
    lengths = x.crow_indices().diff().index_select(0, index)
    crow = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
    shift = x.crow_indices().index_select(0, index) - crow[:-1]
    entries = torch.arange(int(crow[-1]), device=x.device) + shift.repeat_interleave(lengths)
    shape = (index.numel(), x.size(1))
    return torch.sparse_csr_tensor(crow, x.col_indices()[entries], x.values()[entries], shape)


def take_columns(x: Tensor, index: Tensor) -> Tensor:
    """All columns of a matrix, dense or CSR, in another order.

    Args:
        x: ``[N, F]``.
        index: int64 ``[F]``, a permutation.

    Example:
        >>> take_columns(torch.eye(3).to_sparse_csr(), torch.tensor([2, 0, 1])).to_dense()
        tensor([[0., 1., 0.],
                [0., 0., 1.],
                [1., 0., 0.]])
    """
    if x.layout == torch.strided:
        return x.index_select(1, index)
    crow, columns = x.crow_indices(), index.argsort()[x.col_indices()]
    rows = torch.arange(x.size(0), device=x.device).repeat_interleave(crow.diff())
    order = (rows * x.size(1) + columns).argsort()
    parts = crow, columns[order], x.values()[order]
    return torch.sparse_csr_tensor(*parts, x.shape, check_invariants=False)  # as good as x


def _scipy(x: Tensor) -> csr_matrix:
    """Return a CSR tensor as a SciPy matrix of its own: sorted, no duplicates, no stored zeros."""
    parts = (x.values().numpy(), x.col_indices().numpy(), x.crow_indices().numpy())
    matrix = csr_matrix(parts, shape=tuple(x.shape), copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
