"""Compiled passes over edges as 64-bit keys: one end in the upper 32 bits, one in the lower."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from teddy.kernels.jit import compiled

Array = NDArray[Any]

_LOW = np.uint64(0xFFFFFFFF)
_UP = np.uint64(32)
_CHUNK = 4096
_SIGN = np.uint64(1 << 63)
_ALL = np.uint64(2**64 - 1)


@compiled
def to_buckets(
    start: int, sources: Array, targets: Array, directed: bool, shift: int, buckets: Array,
    fill: Array,
) -> Any:  # fmt: skip
    """Write edges as keys to the bucket of their upper end, until one bucket is full.

    Returns:
        Index of the first edge that is not written, and the number of skipped self-loops.
    """
    loops, last, down = 0, np.uint64(buckets.shape[0] - 1), np.uint64(shift)
    for i in range(start, sources.size):
        s, t = np.uint64(sources[i]), np.uint64(targets[i])
        if s == t:
            loops += 1
            continue
        if not directed and s > t:
            s, t = t, s
        bucket = (s >> down) & last
        if fill[bucket] == buckets.shape[1]:
            return i, loops
        buckets[bucket, fill[bucket]] = (s << _UP) | t
        fill[bucket] += 1
    return sources.size, loops


@compiled
def slice_of(keys: Array, part: int, parts: int, out: Array) -> Any:
    """Copy the keys whose hash is in one of several parts; return their number."""
    count, wanted, all_parts = 0, np.uint64(part), np.uint64(parts)
    for i in range(keys.size):
        h = keys[i] * np.uint64(0x9E3779B97F4A7C15)
        if (h >> _UP) % all_parts == wanted:
            out[count] = keys[i]
            count += 1
    return count


@compiled
def unique_sorted(keys: Array) -> Any:
    """Move the unique keys of a sorted array to its front; return their number."""
    count = 0
    for i in range(keys.size):
        if i == 0 or keys[i] != keys[count - 1]:
            keys[count] = keys[i]
            count += 1
    return count


@compiled
def count_ends(keys: Array, degree: Array) -> None:
    """Add each edge to the degrees of its ends."""
    for i in range(keys.size):
        degree[keys[i] >> _UP] += 1
        degree[keys[i] & _LOW] += 1


@compiled
def add_to_sums(
    first: int, last: int, keys: Array, degree: Array, table: Array, sums: Array
) -> None:
    """Add ``table[deg]`` of each end to the sum of the other, for nodes ``first`` to ``last``."""
    begin, end = np.uint64(first), np.uint64(last)
    for i in range(keys.size):
        s, t = keys[i] >> _UP, keys[i] & _LOW
        if (s >= begin) & (s < end):
            sums[s] += table[degree[t]]
        if (t >= begin) & (t < end):
            sums[t] += table[degree[s]]


@compiled
def _score(one: float, other: float, product: bool) -> Any:
    return one * other if product else one + other


@compiled
def count_scores(
    keys: Array, values: Array, product: bool, low: Any, high: Any, shift: Any, counts: Array
) -> Any:
    """Count scores by the upper bits of 64 whose order is that of the scores.

    These are the bits of a score, sign first, reversed for negative scores. Bits from ``low``
    to ``high`` are counted without the ``shift`` lowest ones, in ``counts`` from ``low`` on. A
    score is the product of its ends' values, or their sum.
    """
    scores = np.empty(_CHUNK)
    bits = scores.view(np.uint64)
    for start in range(0, keys.size, _CHUNK):
        part = keys[start : start + _CHUNK]
        for i in range(part.size):
            scores[i] = _score(values[part[i] >> _UP], values[part[i] & _LOW], product)
        for i in range(part.size):
            order = bits[i] ^ (_SIGN if bits[i] < _SIGN else _ALL)
            if (order >= low) & (order <= high):
                counts[(order - low) >> shift] += 1


@compiled
def find_scores(
    keys: Array, values: Array, product: bool, low: float, high: float, indices: Array
) -> Any:
    """Write the indices of keys with a score from ``low`` to ``high``; return their number."""
    count = 0
    for i in range(keys.size):
        score = _score(values[keys[i] >> _UP], values[keys[i] & _LOW], product)
        if (score >= low) & (score <= high):
            indices[count] = i
            count += 1
    return count


@compiled
def compare_rows(
    sources: Array, targets: Array, values: Array, product: bool, score: float, keep: Array
) -> Any:
    """Mark rows above a score and self-loops 1, rows of this score 2; return the number of 2s."""
    equal = np.int64(0)
    for i in range(sources.size):  # no branches: the outcomes can't be predicted
        s, t = np.uint64(sources[i]), np.uint64(targets[i])
        row_score = _score(values[s], values[t], product)
        tied = np.uint8((row_score == score) & (s != t))
        keep[i] = np.uint8((row_score > score) | (s == t)) + 2 * tied
        equal += tied
    return equal


@compiled
def join_components(
    keys: Array, values: Array, product: bool, score: float, parents: Array, equal: Array
) -> Any:
    """Join the components of edges above a score, and list the indices of edges of that score.

    The root of a component is its lowest node, which is its own parent.

    Returns:
        The decrease of the number of components, and the number of equal edges.
    """
    joined, count = 0, 0
    for i in range(keys.size):
        s, t = keys[i] >> _UP, keys[i] & _LOW
        edge_score = _score(values[s], values[t], product)
        if edge_score > score:
            joined += join(s, t, parents)
        elif edge_score == score:
            equal[count] = i
            count += 1
    return joined, count


@compiled
def join_all(keys: Array, parents: Array) -> Any:
    """Join the components of edges; return the decrease of their number."""
    joined = 0
    for i in range(keys.size):
        joined += join(keys[i] >> _UP, keys[i] & _LOW, parents)
    return joined


@compiled
def join(s: Any, t: Any, parents: Array) -> Any:
    """Join two components; return 1, or 0 if they are the same."""
    while parents[s] != s:
        parents[s] = parents[parents[s]]  # path halving
        s = np.uint64(parents[s])
    while parents[t] != t:
        parents[t] = parents[parents[t]]
        t = np.uint64(parents[t])
    if s == t:
        return 0
    parents[max(s, t)] = min(s, t)
    return 1


@compiled
def number_ids(
    start: int, data: Array, ends: Array, slots: Array, arena: Array, starts: Array, count: int,
    numbers: Array, new: bool,
) -> Any:  # fmt: skip
    """Look up the numbers of ids, which are bytes; number new ids, until the buffers are full.

    Id ``i`` is ``data[ends[i]:ends[i + 1]]``. ``slots`` is the hash table: a number plus one, 0
    for an empty slot. ``arena`` has the bytes of the ``count`` numbered ids, each from its
    ``starts``.

    Returns:
        Index of the first id without a number, and the count of numbered ids.
    """
    mask = np.uint64(slots.size - 1)
    for i in range(start, ends.size - 1):
        begin, size = ends[i], ends[i + 1] - ends[i]
        slot = _hash(data, begin, size) & mask
        while True:
            known = np.int64(slots[slot]) - 1
            if known < 0 or _same(data, begin, arena, starts[known], starts[known + 1], size):
                break
            slot = (slot + np.uint64(1)) & mask
        if known < 0:
            if not new:
                return i, count
            used = starts[count]
            if 2 * (count + 1) > slots.size or count + 2 > starts.size or used + size > arena.size:
                return i, count
            arena[used : used + size] = data[begin : begin + size]
            starts[count + 1] = used + size
            known = np.int64(count)
            count += 1
            slots[slot] = count
        numbers[i] = known
    return ends.size - 1, count


@compiled
def fill_slots(slots: Array, arena: Array, starts: Array, count: int) -> None:
    """Fill an empty hash table with the numbered ids."""
    mask = np.uint64(slots.size - 1)
    for number in range(count):
        slot = _hash(arena, starts[number], starts[number + 1] - starts[number]) & mask
        while slots[slot]:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = number + 1


@compiled
def _hash(data: Array, begin: int, size: int) -> Any:
    """FNV-1a over bytes, mixed."""
    h = np.uint64(0xCBF29CE484222325)
    for i in range(begin, begin + size):
        h = (h ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
    h = (h ^ (h >> _UP)) * np.uint64(0xD6E8FEB86659FD93)
    return h ^ (h >> _UP)


@compiled
def _same(data: Array, begin: int, arena: Array, first: int, last: int, size: int) -> Any:
    if last - first != size:
        return False
    same = True
    for i in range(size):
        same &= data[begin + i] == arena[first + i]
    return same
