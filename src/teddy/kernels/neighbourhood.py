"""Neighbourhoods of a few nodes: which nodes are near, and sums over their neighbours' rows.

A graph is given as sparse rows, ``(start, length, col, weight)``: the entries of row ``i`` are
``start[i]`` to ``start[i] + length[i]``. ``weight`` has no entries where all are 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from teddy.kernels import jit
from teddy.kernels.vectors import NARROW, WIDE, added, constant, load, prefetch, store, zeros

Array = NDArray[Any]
#: Start and length of each row, then column and weight of each entry.
RowArrays = tuple[Array, Array, Array, Array]

# Rows that a thread computes at least.
_LEAST_ROWS = 64
# Rows that are summed at once: few enough to stay in the first-level cache.
_BLOCK = 32
# Bytes of a line of the cache.
_LINE = 64


def begin(queries: Array, nodes: Array, position: Array) -> int:
    """Number the different nodes of a query from 0 and return their count.

    Args:
        queries: int64, nodes, perhaps repeated.
        nodes: int64 ``[N]``, is given the nodes in the order of their numbers.
        position: int32 ``[N]``, is given the number of each; -1 everywhere before.

    Example:
        >>> nodes, position = np.empty(4, np.int64), np.full(4, -1, np.int32)
        >>> begin(np.array([2, 0, 2]), nodes, position), nodes[:2].tolist(), position.tolist()
        (2, [2, 0], [1, -1, 0, -1])
    """
    if jit.numba is not None:
        return int(_begin(queries, nodes, position))
    _, first = np.unique(queries, return_index=True)
    different = queries[np.sort(first)]
    return _append(different, 0, nodes, position)


def expand(rows: RowArrays, count: int, nodes: Array, position: Array) -> int:
    """Number the neighbours of the first nodes, too, and return the new count.

    Args:
        rows: The graph.
        count: Number of nodes so far.
        nodes: See :func:`begin`.
        position: See :func:`begin`.
    """
    if jit.numba is not None:
        return int(_expand(*rows[:3], count, nodes, position))
    neighbours = rows[2][entries_of(rows, nodes[:count])[0]]
    new = neighbours[position[neighbours] < 0]
    _, first = np.unique(new, return_index=True)
    return _append(new[np.sort(first)], count, nodes, position)


def count_entries(rows: RowArrays, nodes: Array) -> int:
    """Count the entries of some rows."""
    return int(rows[1][nodes].sum())


def entries_of(rows: RowArrays, nodes: Array) -> tuple[Array, Array]:
    """Return the entries of some rows, and the index of the row of each.

    Example:
        >>> rows = np.array([3, 0]), np.array([1, 2]), np.arange(4), np.empty(0)
        >>> [part.tolist() for part in entries_of(rows, np.array([1, 0]))]
        [[0, 1, 3], [0, 0, 1]]
    """
    length = rows[1][nodes]
    owner = np.repeat(np.arange(nodes.size), length)
    within = np.arange(owner.size) - np.repeat(np.cumsum(length) - length, length)
    return rows[0][nodes][owner] + within, owner


def aggregate(
    rows: RowArrays, nodes: Array, scales: tuple[Array, Array, Array], source: Array,
    position: Array, out: Array,
) -> None:  # fmt: skip
    r"""Sum dense rows of neighbours, :math:`l_i \sum_j a_{ij} r_j h_j + o_i h_i`.

    Args:
        rows: The graph, :math:`a`.
        nodes: int64 ``[n]``, the nodes :math:`i`.
        scales: :math:`l, r, o` of all nodes.
        source: Rows :math:`h`, of all nodes or in the order of ``position``.
        position: Row of each node in ``source``; empty: that of its number.
        out: ``[n, columns]``, is overwritten.
    """
    if jit.numba is not None:
        parts = jit.split(nodes.size, _LEAST_ROWS)
        jit.run_parts(
            _aggregate, [(a, b, *rows, nodes, *scales, source, position, out) for a, b in parts]
        )
        return
    left, right, own = scales
    entries, owner = entries_of(rows, nodes)
    neighbours = rows[2][entries]
    factor = right[neighbours] if not rows[3].size else right[neighbours] * rows[3][entries]
    place = position[neighbours] if position.size else neighbours
    messages = torch.from_numpy(source[place] * factor[:, None])
    total = torch.zeros(out.shape, dtype=messages.dtype)
    total.index_add_(0, torch.from_numpy(owner), messages)
    mine = source[position[nodes] if position.size else nodes]
    out[:] = left[nodes, None] * total.numpy() + own[nodes, None] * mine


def _append(new: Array, count: int, nodes: Array, position: Array) -> int:
    nodes[count : count + new.size] = new
    position[new] = np.arange(count, count + new.size)
    return count + int(new.size)


@jit.compiled
def _begin(queries: Array, nodes: Array, position: Array) -> Any:
    count = 0
    for node in queries:
        if position[node] < 0:
            position[node] = count
            nodes[count] = node
            count += 1
    return count


@jit.compiled
def _expand(
    start: Array, length: Array, col: Array, count: int, nodes: Array, position: Array
) -> Any:
    end = count
    for i in range(count):
        first = start[nodes[i]]
        for e in range(first, first + length[nodes[i]]):
            node = col[e]
            if position[node] < 0:
                position[node] = end
                nodes[end] = node
                end += 1
    return end


@jit.compiled
def _aggregate(
    first: int, last: int, start: Array, length: Array, col: Array, weight: Array, nodes: Array,
    left: Array, right: Array, own: Array, source: Array, position: Array, out: Array,
) -> None:  # fmt: skip
    # While a row is summed, what the next one needs is fetched.
    size = _longest(first, last, length, nodes)
    index = np.empty((2, size), np.int64)
    factor = np.empty((2, size), out.dtype)
    count, before = 0, 0
    for i in range(first, last + 1):
        current = i % 2
        before, count = count, 0
        if i < last:
            node = nodes[i]
            begin = start[node]
            for e in range(begin, begin + length[node]):
                neighbour = col[e]
                factor[current, count] = left[node] * right[neighbour]
                if weight.size:
                    factor[current, count] *= weight[e]
                index[current, count] = position[neighbour] if position.size else neighbour
                count += 1
            if own[node] != 0:
                factor[current, count] = own[node]
                index[current, count] = position[node] if position.size else node
                count += 1
            _fetch(index[current], 0, min(count, _BLOCK), source)
        if i > first:
            _sum_rows(index[1 - current], factor[1 - current], before, source, out, i - 1)


@jit.compiled
def _fetch(index: Array, first: int, last: int, source: Array) -> None:
    """Fetch some rows into the cache."""
    for k in range(first, last):
        for c in range(0, source.shape[1], _LINE // source.itemsize):
            prefetch(source, index[k], c)


@jit.compiled
def _longest(first: int, last: int, length: Array, nodes: Array) -> Any:
    """Most rows that a sum has."""
    longest = 0
    for i in range(first, last):
        longest = max(longest, length[nodes[i]])
    return longest + 1


@jit.compiled
def _sum_rows(index: Array, factor: Array, count: int, source: Array, out: Array, row: int) -> None:
    """Write the weighted sum of some rows; a block of them stays in the cache.

    While a block is summed, the next one is fetched.
    """
    for first in range(0, max(count, 1), _BLOCK):
        last = min(first + _BLOCK, count)
        _fetch(index, last, min(last + _BLOCK, count), source)
        c = _sum_columns(WIDE, 0, first, last, index, factor, source, out, row)
        c = _sum_columns(NARROW, c, first, last, index, factor, source, out, row)
        _sum_columns(1, c, first, last, index, factor, source, out, row)


@jit.compiled
def _sum_columns(
    lanes: int, begin: int, first: int, last: int, index: Array, factor: Array, source: Array,
    out: Array, row: int,
) -> Any:  # fmt: skip
    """The same for as many columns as fill vectors; return the first that is left."""
    constant(lanes)
    stop = out.shape[1] - (out.shape[1] - begin) % lanes
    for c in range(begin, stop, lanes):
        total = zeros(out, lanes)
        if first > 0:
            total = load(out, row, c, lanes)
        for k in range(first, last):
            total = added(total, factor[k], load(source, index[k], c, lanes))
        store(out, row, c, total)
    return stop
