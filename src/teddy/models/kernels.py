"""Compiled sparse products."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from teddy.jit import compiled, run_parts, split
from teddy.models.vectors import NARROW, WIDE, added, constant, load, store, zeros

Array = NDArray[Any]

# What a product gathers from fits into half of a common second-level cache ...
_TILE_BYTES = 1 << 20
# ... where its rows are used so often that bringing them there pays.
_USES = 4
_SLICE = 128


class Tiles:
    """The order in which a sparse matrix is multiplied with dense ones of one width.

    All that is gathered between two passes over the rows fits into the cache: a slice of the dense
    matrix's columns and, where that is still too much, a block of its rows. Each tile is copied
    into one piece before it is used. A matrix that uses its rows too rarely for that, or whose
    dense factor is small, has one tile: all of it, in place.

    Args:
        crow: Offsets of the rows.
        col: Columns, row by row.
        width: Columns of the dense factor.
        num_parts: Ranges of rows of as many entries each, one a thread.
    """

    def __init__(self, crow: Array, col: Array, width: int, num_parts: int) -> None:
        self.num_rows, nnz = crow.size - 1, col.size
        num_cols = int(col.max(initial=0)) + 1
        self.slice, self.block = width, num_cols
        self.packed = 4 * num_cols * width > _TILE_BYTES and nnz >= _USES * num_cols
        if self.packed:
            self.slice = min(_SLICE, width)
            self.block = min(num_cols, _TILE_BYTES // (4 * self.slice))
        num_blocks = -(-num_cols // self.block)
        row = np.repeat(np.arange(self.num_rows), np.diff(crow))
        place = col // self.block * self.num_rows + row
        # Entries are sorted by row already; a stable sort keeps the order of columns in a row.
        self.order = torch.from_numpy(np.argsort(place, kind="stable"))
        self.col = col[self.order.numpy()].astype(np.int32)
        counts = np.bincount(place, minlength=num_blocks * self.num_rows)
        offsets = np.concatenate([[0], counts.cumsum()])
        rows = np.arange(num_blocks)[:, None] * self.num_rows + np.arange(self.num_rows + 1)
        self.offsets = offsets[rows]
        cuts = np.searchsorted(crow[1:], np.linspace(0, nnz, num_parts + 1)[1:-1])
        self.parts = list(pairwise([0, *map(int, cuts), self.num_rows]))

    def product(self, values: Tensor, dense: Tensor, shift: float = 0.0) -> Tensor:
        """Multiply the matrix plus ``shift`` times the identity with ``dense``.

        ``values`` are in the order of :attr:`order`.
        """
        out = torch.empty(self.num_rows, dense.size(1), dtype=dense.dtype)
        fixed = (
            self.offsets, self.col, values.detach().numpy(), dense.detach().numpy(), out.numpy(),
            out.numpy().dtype.type(shift),
        )  # fmt: skip
        # From torch, whose memory begins at a cache line: else every other load would need two.
        tile = (self.block, self.slice) if self.packed else (0, 0)
        tiles = [torch.empty(tile, dtype=dense.dtype).numpy() for _ in self.parts]
        run_parts(
            _multiply, [(*part, t, *fixed) for part, t in zip(self.parts, tiles, strict=True)]
        )
        return out


@compiled
def _multiply(
    first: int, last: int, tile: Array,
    offsets: Array, col: Array, values: Array, dense: Array, out: Array, shift: float,
) -> None:  # fmt: skip
    """Compute rows of the product, a slice of its columns after the other."""
    rows, entries, all_columns = (first, last), (col, values), (0, out.shape[1])
    block, width = tile.shape
    if block == 0:
        _add_tile(rows, all_columns, offsets[0], entries, dense, (0, 0), dense, out, shift)
        return
    for start in range(0, dense.shape[1], width):
        columns = start, min(start + width, dense.shape[1])
        for index in range(offsets.shape[0]):
            corner = index * block, start
            _copy_tile(dense, corner, columns, tile)
            _add_tile(rows, columns, offsets[index], entries, tile, corner, dense, out, shift)


@compiled
def _add_tile(
    rows: Any, columns: Any, offsets: Array, entries: Any, tile: Array, corner: Any,
    dense: Array, out: Array, shift: float,
) -> None:  # fmt: skip
    """Add what the tile, which begins at this corner of ``dense``, gives: by wide vectors first."""
    column, stop = columns
    column = _add_columns(
        WIDE, rows, (column, stop), offsets, entries, tile, corner, dense, out, shift
    )
    column = _add_columns(
        NARROW, rows, (column, stop), offsets, entries, tile, corner, dense, out, shift
    )
    _add_columns(1, rows, (column, stop), offsets, entries, tile, corner, dense, out, shift)


@compiled
def _add_columns(
    lanes: int, rows: Any, columns: Any, offsets: Array, entries: Any, tile: Array, corner: Any,
    dense: Array, out: Array, shift: float,
) -> Any:  # fmt: skip
    """The same for as many columns as fill vectors; return the first that is left."""
    constant(lanes)
    (col, values), (top, left) = entries, corner
    stop = columns[1] - (columns[1] - columns[0]) % lanes
    if columns[0] < stop:
        for row in range(rows[0], rows[1]):
            for c in range(columns[0], stop, lanes):
                total = zeros(out, lanes)
                if top > 0:
                    total = load(out, row, c, lanes)
                elif shift != 0:
                    total = added(total, shift, load(dense, row, c, lanes))
                for e in range(offsets[row], offsets[row + 1]):
                    total = added(total, values[e], load(tile, col[e] - top, c - left, lanes))
                store(out, row, c, total)
    return stop


@compiled
def _copy_tile(dense: Array, corner: Any, columns: Any, tile: Array) -> None:
    for row in range(min(tile.shape[0], dense.shape[0] - corner[0])):
        c = columns[0]
        while c + WIDE <= columns[1]:
            store(tile, row, c - corner[1], load(dense, corner[0] + row, c, WIDE))
            c += WIDE
        while c < columns[1]:
            tile[row, c - corner[1]] = dense[corner[0] + row, c]
            c += 1


def sampled_product(row: Tensor, col: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """Inner product of row ``row[e]`` of ``left`` and row ``col[e]`` of ``right``, for each e."""
    out = torch.empty(row.numel(), dtype=left.dtype)
    arrays = [tensor.numpy() for tensor in (row, col, out)]
    factors = left.detach().numpy(), right.detach().numpy()
    parts = [(*(array[a:b] for array in arrays), *factors) for a, b in split(row.numel(), 4096)]
    run_parts(_inner, parts)
    return out


@compiled
def _inner(row: Array, col: Array, out: Array, left: Array, right: Array) -> None:
    for e in range(row.size):
        a, b = left[row[e]], right[col[e]]
        total = left.dtype.type(0)
        for c in range(left.shape[1]):
            total += a[c] * b[c]
        out[e] = total
