"""Features of nodes that can change in place: dense or sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from teddy.kernels.neighbourhood import entries_of
from teddy.kernels.pattern import Pattern
from teddy.kernels.sparse import SparseMatrix
from teddy.serving.sparse_rows import SparseRows

Array = NDArray[Any]


class DenseFeatures:
    """Dense features ``[N, F]``; a tensor in a memory-mapped file stays there until it changes.

    Args:
        x: The features, which are shared until the first change.

    Example:
        >>> features = DenseFeatures(torch.eye(2))
        >>> features.append(torch.ones(1, 2))
        >>> features.set(np.array([0]), torch.zeros(1, 2))
        >>> features.rows(np.array([0, 2])).tolist()
        [[0.0, 0.0], [1.0, 1.0]]
    """

    def __init__(self, x: Tensor) -> None:
        self.array: Array = x.detach().contiguous().numpy()
        self.num_nodes, self._shared = x.size(0), True

    @property
    def width(self) -> int:
        """Number of features."""
        return int(self.array.shape[1]) if self.array.ndim > 1 else 1

    @property
    def dtype(self) -> torch.dtype:
        """Type of the features."""
        return torch.from_numpy(self.array[:0]).dtype

    def rows(self, nodes: Array) -> Tensor:
        """Features of some nodes."""
        return torch.from_numpy(self.array[nodes])

    def set(self, nodes: Array, x: Tensor) -> None:
        """Replace the features of some nodes."""
        if self._shared:
            self.array, self._shared = self.array.copy(), False
        self.array[nodes] = x.detach().numpy()

    def append(self, x: Tensor) -> None:
        """Add nodes at the end."""
        grown = self.num_nodes + x.size(0)
        if self.array.shape[0] < grown:
            larger = np.zeros(
                (max(grown, 2 * self.num_nodes), *self.array.shape[1:]), self.array.dtype
            )
            larger[: self.num_nodes] = self.array[: self.num_nodes]
            self.array, self._shared = larger, False
        self.array[self.num_nodes : grown] = x.detach().numpy()
        self.num_nodes = grown

    def truncate(self, num_nodes: int) -> None:
        """Keep the first nodes only."""
        self.num_nodes = num_nodes

    def all(self) -> Tensor:
        """Features of all nodes."""
        return torch.from_numpy(self.array[: self.num_nodes])

    @property
    def nbytes(self) -> int:
        """Bytes of the features."""
        return self.array.nbytes


class SparseFeatures:
    """Sparse features ``[N, F]``.

    Args:
        x: The features.

    Example:
        >>> features = SparseFeatures(SparseMatrix.from_tensor(torch.eye(2)))
        >>> features.append(torch.tensor([[0.0, 3.0]]))
        >>> features.rows(np.array([2, 0])).tolist()
        [[0.0, 3.0], [1.0, 0.0]]
    """

    def __init__(self, x: SparseMatrix) -> None:
        pattern = x.pattern
        self.width = x.shape[1]
        self.sparse = SparseRows(
            pattern.row.numpy(), pattern.col.numpy(), x.shape[0], x.values.detach().numpy()
        )

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.sparse.num_rows

    def all(self) -> SparseMatrix:
        """Features of all nodes."""
        return self.matrix()

    @property
    def dtype(self) -> torch.dtype:
        """Type of the features."""
        return torch.from_numpy(self.sparse.arrays[3][:0]).dtype

    def matrix(self, nodes: Array | None = None) -> SparseMatrix:
        """Features of some nodes, or of all, as a sparse matrix."""
        arrays = self.sparse.arrays
        nodes = np.arange(self.num_nodes) if nodes is None else nodes
        entries, _ = entries_of(arrays, nodes)
        crow = np.concatenate([[0], np.cumsum(arrays[1][nodes], dtype=np.int64)])
        col = torch.from_numpy(arrays[2][entries].astype(np.int64))
        pattern = Pattern(torch.from_numpy(crow), col, (nodes.size, self.width))
        return SparseMatrix(pattern, torch.from_numpy(arrays[3][entries]))

    def rows(self, nodes: Array) -> Tensor:
        """Features of some nodes, dense."""
        arrays = self.sparse.arrays
        entries, owner = entries_of(arrays, nodes)
        dense = np.zeros((nodes.size, self.width), arrays[3].dtype)
        dense[owner, arrays[2][entries]] = arrays[3][entries]
        return torch.from_numpy(dense)

    def set(self, nodes: Array, x: Tensor) -> None:
        """Replace the features of some nodes."""
        for node, row in zip(nodes.tolist(), x.detach().numpy(), strict=True):
            (col,) = np.nonzero(row)
            self.sparse.replace(node, col, row[col])

    def append(self, x: Tensor) -> None:
        """Add nodes at the end."""
        first = self.num_nodes
        self.sparse.append_rows(x.size(0))
        self.set(np.arange(first, first + x.size(0)), x)

    def truncate(self, num_nodes: int) -> None:
        """Keep the first nodes only."""
        self.sparse.truncate(num_nodes)

    @property
    def nbytes(self) -> int:
        """Bytes of the features."""
        return self.sparse.nbytes
