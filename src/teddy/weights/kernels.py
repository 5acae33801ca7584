"""Compiled passes over many weights at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from teddy.jit import compiled

#: Weights that are counted together.
BLOCK = 64
# Weights that stay in the first-level cache between Adam's step and the scan.
_CHUNK = 2048

Count = tuple[int, int, bool]


@compiled
def scan_band(values: Any, low: Any, high: Any, band: Any) -> Any:
    """Count magnitudes above ``high`` and write those in [low, high] to ``band``.

    Returns:
        How many are above; how many ``band`` holds, -1 if they didn't fit; and whether all values
        are finite.
    """
    return _scan(values, low, high, band, 0)


@compiled
def _scan(values: Any, low: Any, high: Any, band: Any, found: int) -> Any:
    """The same, behind what ``band`` holds already.

    Counts are kept in the type of the values, so that a block is counted by vector instructions;
    only blocks with an entry in the band are looked at again.
    """
    one, zero = values.dtype.type(1), values.dtype.type(0)
    largest = np.finfo(values.dtype).max
    above, finite = 0, True
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
            if found + BLOCK > band.size:
                return above, -1, finite
            for i in range(block.size):  # no branch: the next one overwrites what doesn't count
                magnitude = abs(block[i])
                band[found] = magnitude
                found += (magnitude >= low) & (magnitude <= high)
    return above, found, finite


@compiled
def adam_and_scan(
    p: Any, grad: Any, m: Any, v: Any,
    decay: Any, rate1: Any, beta2: Any, rate2: Any, correction: Any, eps: Any, step: Any,
    low: Any, high: Any, band: Any,
) -> Any:  # fmt: skip
    """One step of Adam, and :func:`scan_band` of what it gives while that is in the cache."""
    above, found, finite = 0, 0, True
    for start in range(0, p.size, _CHUNK):
        chunk = p[start : start + _CHUNK]
        g_chunk, m_chunk = grad[start : start + _CHUNK], m[start : start + _CHUNK]
        v_chunk = v[start : start + _CHUNK]
        for i in range(chunk.size):
            g = g_chunk[i] + decay * chunk[i]
            first = m_chunk[i] + rate1 * (g - m_chunk[i])
            second = beta2 * v_chunk[i] + rate2 * g * g
            m_chunk[i], v_chunk[i] = first, second
            chunk[i] -= step * first / (np.sqrt(second) * correction + eps)
        if found >= 0:
            higher, found, sound = _scan(chunk, low, high, band, found)
            above += higher
            finite &= sound
    return above, found, finite
