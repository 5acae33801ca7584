"""Compiled passes of exact selection: over the edges of a sorted graph, and over weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from teddy.kernels.jit import compiled

Array = NDArray[Any]

#: Node indices fit into 32 bits.
MAX_NODES = 2**31 - 1
#: Number of node codes; the bin of an edge is the sum of the codes of its ends.
NUM_CODES = 1 << 15
#: Degrees from here on don't fit into a byte.
MANY = 255

_CHUNK = 2048
_FEW = 64


@compiled
def check_sorted(first: int, last: int, row: Array, col: Array, num_nodes: int, ends: Array) -> Any:
    """Check that columns ``first`` to ``last`` are sorted by row, then column, without duplicates.

    Writes the end of each row that has columns to ``ends``.

    Returns:
        True if they are; the sum of their hashes, signed by direction; the number of self-loops.
    """
    total, loops = np.uint64(0), np.int64(0)
    for start in range(first, last, _CHUNK):
        stop = min(start + _CHUNK, last)
        bad, hashes, equal = _check_chunk(row[start : stop + 1], col[start : stop + 1], num_nodes)
        if stop == row.size:  # the last column has no next
            r, c = np.int64(row[stop - 1]), np.int64(col[stop - 1])
            hashes += _signed_hash(r, c)
            equal += r == c
            bad += c < 0 or c >= num_nodes or r < 0 or r >= num_nodes
        total += hashes
        loops += equal
        if bad:
            return False, total, loops
        for e in range(start, stop):
            ends[np.uint64(row[e])] = e + 1
    return True, total, loops


@compiled
def _check_chunk(row: Array, col: Array, num_nodes: int) -> Any:
    """Count invalid or unsorted columns and self-loops, and sum the hashes.

    The last column is skipped: it is the first of the next chunk.
    """
    bad, loops, total = np.int64(0), np.int64(0), np.uint64(0)
    for i in range(row.size - 1):
        r, c = np.int64(row[i]), np.int64(col[i])
        next_ = (np.int64(row[i + 1]) << 32) | np.int64(col[i + 1])
        no_node = (r < 0) | (r >= num_nodes) | (c < 0) | (c >= num_nodes)
        bad += np.int64(no_node | (((r << 32) | c) >= next_))
        loops += np.int64(r == c)
        total += _signed_hash(r, c)
    return bad, total, loops


@compiled
def _signed_hash(r: int, c: int) -> Any:
    """Hash an edge to 64 bits: both directions cancel, and a self-loop is 0."""
    none = np.uint64(0)
    h = np.uint64(min((r << 32) | c, (c << 32) | r)) * np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    h ^= h >> np.uint64(32)
    return (h if r < c else none) - (h if r > c else none)


@compiled
def close_rows(crow: Array, degree: Array) -> None:
    """Set the end of each empty row to its begin, and write the lengths of all rows."""
    for r in range(degree.size):
        crow[r + 1] = max(crow[r + 1], crow[r])
        degree[r] = crow[r + 1] - crow[r]


@compiled
def to_bytes(degree: Array, short: Array) -> None:
    """Write degrees as bytes; :data:`MANY` stands for higher ones."""
    for r in range(degree.size):
        short[r] = min(degree[r], MANY)


@compiled
def sum_over_rows(
    first: int, last: int, row: Array, col: Array, short: Array, degree: Array, table: Array,
    ends: Array,
) -> None:  # fmt: skip
    """Write the running sum of ``table[degree]`` at the end of each row to ``ends``.

    ``short`` has the degrees as bytes, so that gathers read one byte per node and the part of the
    table for low degrees. The sum may wrap around; :func:`differences` wraps it back.
    """
    total = np.int64(0)
    for e in range(first, last):
        d = np.uint64(short[np.uint64(col[e])])
        if d == MANY:
            d = np.uint64(degree[np.uint64(col[e])])
        total += table[d]
        ends[np.uint64(row[e])] = total


@compiled
def differences(first: int, last: int, crow: Array, ends: Array) -> None:
    """Turn running sums into the sums of rows; an empty row has the sum 0."""
    before = np.int64(0)
    for r in range(first, last):
        if crow[r + 1] > crow[r]:
            total = ends[r]
            ends[r] = total - before
            before = total


@compiled
def score_rows(
    first: int, last: int, crow: Array, col: Array, values: Array, multiply: bool, out: Array
) -> None:
    """Write the score of each entry."""
    for r in range(first, last):
        value = values[r]
        for e in range(crow[r], crow[r + 1]):
            other = values[col[e]]
            out[e] = value * other if multiply else value + other


@compiled
def bin_rows(
    first: int, last: int, crow: Array, col: Array, codes: Array, bins: Array, counts: Array
) -> None:
    """Write the bin of each entry, and count entries per bin."""
    for start in range(first, last, _FEW):
        stop = min(start + _FEW, last)
        for r in range(start, stop):
            code = codes[r]
            for e in range(np.uint64(crow[r]), np.uint64(crow[r + 1])):
                bins[e] = code + codes[np.uint64(col[e])]
        for e in range(np.uint64(crow[start]), np.uint64(crow[stop])):
            counts[bins[e]] += 1


@compiled
def select_bins(
    first: int, last: int, bins: Array, low: int, high: int, keep: Array, indices: Array
) -> Any:
    """Keep entries of bins above ``high``; list those from ``low`` to it, return their number."""
    lowest, highest, count = np.uint16(low), np.uint16(high), 0
    for start in range(first, last, _FEW):
        stop = min(start + _FEW, last)
        part, chosen = bins[start:stop], keep[start:stop]
        between = False
        for i in range(part.size):
            chosen[i] = part[i] > highest
            between |= (part[i] >= lowest) & (part[i] <= highest)
        if between:
            for i in range(part.size):
                if (part[i] >= lowest) & (part[i] <= highest):
                    indices[count] = start + i
                    count += 1
    return count


#: Number of weights in a block.
BLOCK = 64


@compiled
def scan_band(values: Any, low: Any, high: Any, band: Any) -> Any:
    """Count magnitudes above ``high`` and write those in [low, high] to ``band``.

    Counts are kept in the type of the values, so that a block is counted by vector instructions;
    only blocks with an entry in the band are read again.

    Returns:
        Number of values above; number of values in ``band``, -1 if they didn't fit; True if all
        values are finite.
    """
    one, zero = values.dtype.type(1), values.dtype.type(0)
    largest = np.finfo(values.dtype).max
    above, inside, finite = 0, 0, True
    for start in range(0, values.size, BLOCK):
        block = values[start : start + BLOCK]
        higher, not_lower, sound = zero, zero, zero
        for i in range(block.size):
            magnitude = abs(block[i])
            higher += one if magnitude > high else zero
            not_lower += one if magnitude >= low else zero
            sound += one if magnitude <= largest else zero
        above += int(higher)
        finite &= int(sound) == block.size
        if not_lower > higher:
            if inside + BLOCK > band.size:
                return above, -1, finite
            for i in range(block.size):  # no branch: the next value overwrites one outside
                magnitude = abs(block[i])
                band[inside] = magnitude
                inside += (magnitude >= low) & (magnitude <= high)
    return above, inside, finite
