"""Compiled sparse products."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from teddy.kernels.jit import compiled, empty, run_parts, split
from teddy.kernels.vectors import NARROW, WIDE, added, constant, load, store, zeros

Array = NDArray[Any]

# The rows that a product gathers from fit into half of a common second-level cache ...
_TILE_BYTES = 1 << 20
# ... if a row has at least this many entries in a tile, on average.
_ENTRIES = 3
# Columns that are computed together, in a product and in a chain of two.
_SLICE, _CHAIN_SLICE = 128, WIDE


def tile_rows(shape: tuple[int, int], nnz: int, width: int, chained: bool = False) -> int:
    """Number of rows in a tile of the dense factor; 0: the product gathers from all rows."""
    # By powers of two, so that layers of about one width share the order of their entries.
    columns = 1 << (max(1, min(_CHAIN_SLICE if chained else _SLICE, width)) - 1).bit_length()
    rows = _TILE_BYTES // (4 * columns)
    tiles = -(-shape[1] // rows)
    fits = 4 * shape[1] * width <= _TILE_BYTES
    return 0 if fits or nnz < _ENTRIES * tiles * shape[0] else rows


class Entries:
    """Entries of a sparse matrix by blocks of columns, then by row, the layout of the kernels.

    A block is the columns of a tile of the dense factor; 0: all are one block.
    """

    def __init__(self, crow: Array, col: Array, block: int) -> None:
        self.crow, self.block = crow, block
        num_rows, num_cols = crow.size - 1, int(col.max(initial=0)) + 1
        row = np.repeat(np.arange(num_rows, dtype=np.int32), np.diff(crow))
        index = (col // (block or max(num_cols, 1))).astype(np.int32)
        count = int(index.max(initial=0)) + 1
        # Entries are sorted by row already, and stay so within a block.
        chosen = [np.flatnonzero(index == number) for number in range(count)]
        order = np.concatenate(chosen)
        self.order = torch.from_numpy(order)
        self.col = col[order].astype(np.int32)
        # Row r in block b: offsets[b, r] to offsets[b, r + 1].
        self.offsets = np.empty((count, num_rows + 1), dtype=np.int64)
        begin = 0
        for number, entries in enumerate(chosen):
            ends = np.bincount(row[entries], minlength=num_rows).cumsum()
            self.offsets[number, 0], self.offsets[number, 1:] = begin, begin + ends
            begin += entries.size

    @property
    def num_rows(self) -> int:
        """Rows of the matrix."""
        return self.crow.size - 1

    def parts(self) -> list[tuple[int, int]]:
        """Ranges of rows with equal numbers of entries, one per thread."""
        shares = np.linspace(0, self.col.size, torch.get_num_threads() + 1)[1:-1]
        return list(pairwise([0, *np.searchsorted(self.crow[1:], shares).tolist(), self.num_rows]))


Matrix = tuple[Entries, Tensor]  # with the values in the entries' order


def product(matrix: Matrix, dense: Tensor, shift: float = 0.0) -> Tensor:
    """Multiply a matrix plus ``shift`` times the identity by ``dense``.

    With tiles, each pass over the rows gathers from a contiguous copy that fits into the cache: a
    slice of the columns and a block of the rows of the dense factor.
    """
    entries, arrays = _arrays(matrix)
    out = empty(entries.num_rows, dense.size(1), dense)
    width = max(1, min(_SLICE, dense.size(1)) if entries.block else dense.size(1))
    factor = out.numpy().dtype.type(shift)
    parts = [
        (
            *rows, arrays, dense.detach().numpy(), factor, _space(entries.block, width, dense),
            out.numpy(), width,
        )
        for rows in entries.parts()
    ]  # fmt: skip
    run_parts(_product, parts)
    return out


def chain(outer: Matrix, inner: Matrix, dense: Tensor, shift: float = 0.0) -> Tensor:
    """Multiply ``outer`` by (``inner`` plus ``shift`` times the identity) @ ``dense``.

    A slice of the inner product stays in the cache until the outer product has read it. Blocks of
    ``outer``, if any, have the rows that fit.
    """
    (last, outer_arrays), (first, inner_arrays) = _arrays(outer), _arrays(inner)
    out = empty(last.num_rows, dense.size(1), dense)
    width = max(1, min(_CHAIN_SLICE, dense.size(1)))
    factor = out.numpy().dtype.type(shift)
    parts = [
        (
            a * width, min(b * width, dense.size(1)), outer_arrays, last.block, inner_arrays,
            dense.detach().numpy(), factor, _space(first.block, width, dense),
            _space(first.num_rows, width, dense), out.numpy(),
        )
        for a, b in split(-(-dense.size(1) // width), 1)
    ]  # fmt: skip
    run_parts(_chain, parts)
    return out


def _arrays(matrix: Matrix) -> tuple[Entries, tuple[Array, Array, Array]]:
    entries, values = matrix
    return entries, (entries.offsets, entries.col, values.detach().numpy())


def _space(rows: int, width: int, like: Tensor) -> Array:
    """Buffer of a tile, by torch, which aligns it to a cache line."""
    space: Array = torch.empty(rows, width, dtype=like.dtype).numpy()
    return space


@compiled
def _product(
    first: int, last: int, matrix: Any, dense: Array, shift: float, tile: Array, out: Array,
    width: int,
) -> None:  # fmt: skip
    """Compute rows of a product, one slice of columns at a time."""
    for c in range(0, out.shape[1], width):
        columns = slice(c, min(c + width, out.shape[1]))
        _multiply(first, last, matrix, dense[:, columns], shift, tile, out[:, columns])


@compiled
def _chain(
    first: int, last: int, outer: Any, block: int, inner: Any, dense: Array, shift: float,
    tile: Array, middle: Array, out: Array,
) -> None:  # fmt: skip
    """Compute columns of two chained products, one slice at a time."""
    offsets, col, values = outer
    for c in range(first, last, middle.shape[1]):
        columns = slice(c, min(c + middle.shape[1], last))
        between = middle[:, : columns.stop - c]
        _multiply(0, middle.shape[0], inner, dense[:, columns], shift, tile, between)
        for index in range(offsets.shape[0]):
            top = index * block
            _add_tile(
                0, out.shape[0], offsets[index], col, values, between[top:], top, between,
                out[:, columns], dense.dtype.type(0),
            )  # fmt: skip


@compiled
def _multiply(
    first: int, last: int, matrix: Any, dense: Array, shift: float, tile: Array, out: Array
) -> None:
    """Compute rows of a slice of a product; an empty ``tile`` means to gather in place."""
    offsets, col, values = matrix
    if tile.shape[0] == 0:
        _add_tile(first, last, offsets[0], col, values, dense, 0, dense, out, shift)
        return
    for index in range(offsets.shape[0]):
        top = index * tile.shape[0]
        _copy(dense[top : top + tile.shape[0]], tile)
        _add_tile(first, last, offsets[index], col, values, tile, top, dense, out, shift)


@compiled
def _add_tile(
    first: int, last: int, offsets: Array, col: Array, values: Array, tile: Array, top: int,
    dense: Array, out: Array, shift: float,
) -> None:  # fmt: skip
    """Add the products with a tile that begins at row ``top`` of ``dense``; wide vectors first."""
    rows, entries, tiles = (first, last), (offsets, col, values), (tile, top, dense)
    c = _add_columns(WIDE, 0, rows, entries, tiles, shift, out)
    c = _add_columns(NARROW, c, rows, entries, tiles, shift, out)
    _add_columns(1, c, rows, entries, tiles, shift, out)


@compiled
def _add_columns(
    lanes: int, start: int, rows: Any, entries: Any, tiles: Any, shift: float, out: Array
) -> Any:
    """Add the products of the columns that fill whole vectors; return the first column left."""
    constant(lanes)
    (offsets, col, values), (tile, top, dense) = entries, tiles
    stop = out.shape[1] - (out.shape[1] - start) % lanes
    if start < stop:
        for row in range(rows[0], rows[1]):
            for c in range(start, stop, lanes):
                total = zeros(out, lanes)
                if top > 0:
                    total = load(out, row, c, lanes)
                elif shift != 0:
                    total = added(total, shift, load(dense, row, c, lanes))
                for e in range(offsets[row], offsets[row + 1]):
                    total = added(total, values[e], load(tile, col[e] - top, c, lanes))
                store(out, row, c, total)
    return stop


@compiled
def _copy(source: Array, target: Array) -> None:
    whole = source.shape[1] - source.shape[1] % WIDE
    for row in range(source.shape[0]):
        for c in range(0, whole, WIDE):
            store(target, row, c, load(source, row, c, WIDE))
        for c in range(whole, source.shape[1]):
            target[row, c] = source[row, c]


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
