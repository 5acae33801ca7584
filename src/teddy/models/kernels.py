"""Compiled sparse products."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from teddy.jit import compiled, run_parts, split

Array = NDArray[Any]

# Rows of the dense factor that a tile gathers from fit into half of a common second-level cache ...
_TILE_BYTES = 1 << 20
# ... unless a row would then have fewer entries in a tile than pay for coming back to it.
_ENTRIES_PER_SEGMENT = 4


class Tiles:
    """The entries of a sparse matrix in an order that keeps a product in the cache.

    The rows are split into parts, one a thread, of as many entries each. Within a part, entries go
    by blocks of columns, then by row: all that a block gathers of the dense factor fits into the
    cache. A segment is a row's share of a block. Where rows have few entries there is one block,
    and each row is a segment.
    """

    def __init__(self, crow: Array, col: Array, width: int, num_parts: int) -> None:
        num_rows, nnz = crow.size - 1, col.size
        num_cols = int(col.max(initial=0)) + 1
        wanted = -(-num_cols * width * 4 // _TILE_BYTES)
        num_blocks = max(1, min(wanted, nnz // (_ENTRIES_PER_SEGMENT * max(1, num_rows))))
        block = -(-num_cols // num_blocks)
        shares = np.linspace(0, nnz, num_parts + 1)[1:-1]
        cuts = np.concatenate([[0], np.searchsorted(crow[1:], shares), [num_rows]])
        row = np.repeat(np.arange(num_rows), np.diff(crow))
        self.tiled = num_blocks > 1
        if self.tiled:
            part = np.searchsorted(cuts[1:-1], row, side="right")
            group = part * num_blocks + col // block
            # Entries are sorted by row already; a stable sort keeps that within a group.
            order = np.argsort(group, kind="stable")
            row, group = row[order], group[order]
            new = np.ones(nnz, dtype=bool)
            new[1:] = (row[1:] != row[:-1]) | (group[1:] != group[:-1])
            first = np.flatnonzero(new)
            self.rows, self.offsets = row[first], np.append(first, nnz)
            segment_cuts = np.searchsorted(part[order][first], np.arange(num_parts + 1))
        else:
            order = np.arange(nnz)
            self.rows, self.offsets, segment_cuts = np.arange(num_rows), crow, cuts
        self.order = torch.from_numpy(order)
        self.col = col[order].astype(np.int32)
        self.num_rows = num_rows
        self.parts = [
            (int(cuts[i]), int(cuts[i + 1]), int(segment_cuts[i]), int(segment_cuts[i + 1]))
            for i in range(num_parts)
        ]

    def product(self, values: Tensor, dense: Tensor, shift: float = 0.0) -> Tensor:
        """Multiply the matrix plus ``shift`` times the identity with ``dense``.

        ``values`` are in the order of :attr:`order`.
        """
        out = torch.empty(self.num_rows, dense.size(1), dtype=dense.dtype)
        fixed = (
            self.rows,
            self.offsets,
            self.col,
            values.detach().numpy(),
            dense.detach().numpy(),
            out.numpy(),
            out.numpy().dtype.type(shift),
            self.tiled,
        )
        run_parts(_multiply, [(*part, *fixed) for part in self.parts])
        return out


@compiled
def _start_row(o: Array, shift: float, dense: Array, row: int) -> None:
    """Begin a row of the product with its share of ``shift`` times the identity."""
    if shift == 0:
        o[:] = 0
    else:
        h = dense[row]
        for c in range(o.size):
            o[c] = shift * h[c]


@compiled
def _multiply(
    first_row: int, last_row: int, first: int, last: int,
    rows: Array, offsets: Array, col: Array, values: Array, dense: Array, out: Array, shift: float,
    tiled: bool,
) -> None:  # fmt: skip
    """Add value x row of ``dense`` to each segment's row of ``out``, eight entries at a time."""
    width = dense.shape[1]
    if tiled:
        for row in range(first_row, last_row):
            _start_row(out[row], shift, dense, row)
    for segment in range(first, last):
        o = out[rows[segment]]
        if not tiled:
            _start_row(o, shift, dense, rows[segment])
        e, end = offsets[segment], offsets[segment + 1]
        while e + 8 <= end:
            v0, v1, v2, v3 = values[e], values[e + 1], values[e + 2], values[e + 3]
            v4, v5, v6, v7 = values[e + 4], values[e + 5], values[e + 6], values[e + 7]
            h0, h1, h2, h3 = dense[col[e]], dense[col[e + 1]], dense[col[e + 2]], dense[col[e + 3]]
            h4, h5 = dense[col[e + 4]], dense[col[e + 5]]
            h6, h7 = dense[col[e + 6]], dense[col[e + 7]]
            for c in range(width):
                o[c] += (
                    v0 * h0[c] + v1 * h1[c] + v2 * h2[c] + v3 * h3[c]
                    + v4 * h4[c] + v5 * h5[c] + v6 * h6[c] + v7 * h7[c]
                )  # fmt: skip
            e += 8
        while e + 2 <= end:
            v0, v1, h0, h1 = values[e], values[e + 1], dense[col[e]], dense[col[e + 1]]
            for c in range(width):
                o[c] += v0 * h0[c] + v1 * h1[c]
            e += 2
        if e < end:
            v0, h0 = values[e], dense[col[e]]
            for c in range(width):
                o[c] += v0 * h0[c]


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
