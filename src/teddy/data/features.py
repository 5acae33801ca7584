"""Node features, feature names and node ids."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.reading import shorten
from teddy.errors import InputError

# Bag-of-words rows are 1 to 10% dense, and a sparse product is then many times faster.
SPARSE_BELOW = 0.25


def compact(x: Tensor) -> Tensor:
    """Return ``x`` as ``torch.sparse_csr`` if less than a quarter is non-zero, else dense.

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
    """Return the number of features: columns of ``[N, F]``, 1 for ids ``[N]``.

    Example:
        >>> num_features(torch.eye(3)), num_features(torch.arange(3))
        (3, 1)
    """
    return x.size(1) if x.dim() == 2 else 1


def normalise_rows(matrix: csr_matrix) -> csr_matrix:
    """Divide each row by its sum; rows of zeros do not change.

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
        # PyTorch warns once per process that the layout is a beta; users can't act on it.
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(np.int64)),
            torch.from_numpy(matrix.indices.astype(np.int64)),
            torch.from_numpy(matrix.data.astype(np.float32)),
            size=matrix.shape,
            check_invariants=True,
        )


def select_rows(x: Tensor, rows: Tensor) -> Tensor:
    """Return some rows of a dense or CSR matrix.

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
    kept = rows.repeat_interleave(lengths)
    crow = torch.cat([lengths.new_zeros(1), lengths[rows].cumsum(0)])
    shape = (int(rows.sum()), x.size(1))
    parts = crow, x.col_indices()[kept], x.values()[kept]
    return torch.sparse_csr_tensor(*parts, shape, check_invariants=False)  # as valid as x


def take_rows(x: Tensor, index: Tensor) -> Tensor:
    """Return rows of a dense or CSR matrix by their indices, in that order.

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
    """Return all columns of a dense or CSR matrix in another order.

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
    return torch.sparse_csr_tensor(*parts, x.shape, check_invariants=False)  # as valid as x


def _scipy(x: Tensor) -> csr_matrix:
    """Return a copy of a CSR tensor as a SciPy matrix: sorted, without duplicates and zeros."""
    parts = (x.values().numpy(), x.col_indices().numpy(), x.crow_indices().numpy())
    matrix = csr_matrix(parts, shape=tuple(x.shape), copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def feature_names(data: Data) -> list[str] | None:
    """Return the unique names of the columns of ``x``; None if they are unknown.

    Names are ignored if their number differs from that of the columns, as after a transform that
    changed the columns.

    Example:
        >>> import torch
        >>> feature_names(Data(x=torch.ones(3, 2), feature_names=["age", "height"]))
        ['age', 'height']
        >>> feature_names(Data(x=torch.ones(3, 5), feature_names=["age", "height"])) is None
        True
    """
    values = data.get("feature_names")
    names = [] if values is None else [str(name) for name in values]
    return names if len(set(names)) == num_features(data.x) == len(names) else None


def column_order(names: list[str], expected: list[str]) -> list[int] | None:
    """Return the index of each expected column; None if the order is as expected.

    Raises:
        InputError: if the columns differ.

    Example:
        >>> column_order(["height", "age"], ["age", "height"])
        [1, 0]
        >>> column_order(["age", "size"], ["age", "height"])
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: features differ from those of training: missing 'height', new
        'size'
    """
    if names == expected:
        return None
    index = {name: number for number, name in enumerate(names)}
    parts = {"missing": [n for n in expected if n not in index], "new": set(names) - set(expected)}
    if any(parts.values()):
        differences = ", ".join(f"{part} {_listed(n)}" for part, n in parts.items() if n)
        raise InputError(f"features differ from those of training: {differences}")
    return [index[name] for name in expected]


def _listed(names: Iterable[str]) -> str:
    return shorten(", ".join(repr(name) for name in sorted(names)))


def node_ids(data: Data) -> Sequence[Any]:
    """Return the node ids: those of the node table, else the node indices.

    Raises:
        InputError: unless there is one unique id for each node.

    Example:
        >>> import torch
        >>> list(node_ids(Data(num_nodes=2)))
        [0, 1]
        >>> node_ids(Data(num_nodes=2, node_ids=torch.tensor([7, 3])))
        [7, 3]
    """
    values = data.get("node_ids")
    if values is None:
        return range(data.num_nodes)
    if isinstance(values, str) or getattr(values, "ndim", 1) != 1 or not hasattr(values, "__len__"):
        kind = type(values).__name__
        raise InputError(f"node_ids is a {kind}, expected a list with an id for each node")
    ids = values.tolist() if hasattr(values, "tolist") else list(values)
    if len(ids) != data.num_nodes:
        raise InputError(f"node_ids has {len(ids)} ids, expected {data.num_nodes} (num_nodes)")
    seen: set[str] = set()
    for node in map(str, ids):
        if node in seen:
            raise InputError(f"node_ids has '{node}' twice, expected each id once")
        seen.add(node)
    return ids
