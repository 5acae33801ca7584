"""Sparse rows that can change in place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from teddy.kernels.neighbourhood import RowArrays

Array = NDArray[Any]

# Places of a row that is moved because it is full, at least.
_LEAST_PLACES = 4


class SparseRows:
    """A sparse matrix by rows, with spare capacity.

    A row that is full moves to the end of the entries and gets twice its places there. When half of
    all places lie unused, the entries are written anew. So a change costs time in proportion to the
    rows that it touches, on average over many changes.

    Args:
        row: Row of each entry, ascending.
        col: Column of each entry.
        num_rows: Number of rows.
        weight: Value of each entry; None: all are 1.

    Example:
        >>> rows = SparseRows(np.array([0, 2]), np.array([1, 0]), 3)
        >>> rows.add(0, 2), rows.add(0, 2), rows.remove(2, 0)
        (True, False, True)
        >>> [rows.row(number)[0].tolist() for number in range(3)]
        [[1, 2], [], []]
    """

    def __init__(self, row: Array, col: Array, num_rows: int, weight: Array | None = None) -> None:
        self.num_rows = num_rows
        length = np.bincount(row, minlength=num_rows).astype(np.int32)
        self._start = np.concatenate([[0], np.cumsum(length[:-1], dtype=np.int64)])[:num_rows]
        self._length, self._places = length, length.copy()
        self._col = col.astype(np.int32)
        self.weighted = weight is not None
        self._weight = np.empty(0, np.float32) if weight is None else weight.copy()
        self._end, self._unused = int(col.size), 0

    @property
    def arrays(self) -> RowArrays:
        """Start and length of each row, column and weight of each entry."""
        return self._start, self._length, self._col, self._weight

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return int(self._length[: self.num_rows].sum())

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        parts = self._start, self._length, self._places, self._col, self._weight
        return sum(part.nbytes for part in parts)

    def row(self, number: int) -> tuple[Array, Array]:
        """Columns and weights of a row."""
        first = self._start[number]
        part = slice(first, first + self._length[number])
        return self._col[part], self._weight[part]

    def row_sum(self, number: int) -> float:
        """Sum of the absolute weights of a row."""
        col, weight = self.row(number)
        return float(np.abs(weight).sum()) if self.weighted else float(col.size)

    def find(self, row: int, col: int) -> int:
        """Return the place of an entry; -1 if there is none."""
        first = int(self._start[row])
        (hits,) = np.nonzero(self._col[first : first + self._length[row]] == col)
        return first + int(hits[0]) if hits.size else -1

    def add(self, row: int, col: int, weight: float = 1.0) -> bool:
        """Add an entry unless it is there; return whether it was added."""
        if self.find(row, col) >= 0:
            return False
        if self._length[row] == self._places[row]:
            self._move(row)
        place = self._start[row] + self._length[row]
        self._col[place] = col
        if self.weighted:
            self._weight[place] = weight
        self._length[row] += 1
        return True

    def remove(self, row: int, col: int) -> bool:
        """Remove an entry if it is there; return whether it was."""
        place = self.find(row, col)
        if place < 0:
            return False
        last = self._start[row] + self._length[row] - 1
        self._col[place] = self._col[last]
        if self.weighted:
            self._weight[place] = self._weight[last]
        self._length[row] -= 1
        return True

    def replace(self, row: int, col: Array, weight: Array) -> None:
        """Give a row other entries."""
        self._length[row] = 0
        while self._places[row] < col.size:
            self._move(row, col.size)
        part = slice(self._start[row], self._start[row] + col.size)
        self._col[part] = col
        if self.weighted:
            self._weight[part] = weight
        self._length[row] = col.size

    def append_rows(self, count: int) -> None:
        """Add empty rows at the end."""
        grown = self.num_rows + count
        self._start = _grown(self._start, grown)
        self._length, self._places = _grown(self._length, grown), _grown(self._places, grown)
        self._length[self.num_rows : grown] = self._places[self.num_rows : grown] = 0
        self.num_rows = grown

    def truncate(self, num_rows: int) -> None:
        """Keep the first rows only."""
        self._unused += int(self._places[num_rows : self.num_rows].sum())
        self.num_rows = num_rows

    def _move(self, row: int, least: int = 0) -> None:
        """Move a row to the end, with twice its places or more."""
        if 2 * self._unused > self._end:
            self._rewrite()
        places = max(2 * int(self._places[row]), least, _LEAST_PLACES)
        self._unused += int(self._places[row])
        col, weight = (part.copy() for part in self.row(row))
        begin, self._end = self._end, self._end + places
        self._col = _grown(self._col, self._end)
        self._col[begin : begin + col.size] = col
        if self.weighted:
            self._weight = _grown(self._weight, self._end)
            self._weight[begin : begin + weight.size] = weight
        self._start[row], self._places[row] = begin, places

    def _rewrite(self) -> None:
        """Write all entries anew, without unused places between them."""
        length = self._length[: self.num_rows].astype(np.int64)
        start = np.cumsum(length) - length
        owner = np.repeat(np.arange(self.num_rows), length)
        places = self._start[owner] + np.arange(owner.size) - start[owner]
        self._col = self._col[places]
        if self.weighted:
            self._weight = self._weight[places]
        self._start[: self.num_rows], self._end = start, int(length.sum())
        self._places[: self.num_rows], self._unused = length, 0


def _grown(array: Array, size: int) -> Array:
    """Return the array with capacity for a size; twice its own size if that is more."""
    if array.size >= size:
        return array
    larger = np.zeros(max(size, 2 * array.size), array.dtype)
    larger[: array.size] = array
    return larger
