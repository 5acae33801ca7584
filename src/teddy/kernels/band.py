"""A compiled look at many weights at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from teddy.kernels.jit import compiled

#: Weights that are counted together.
BLOCK = 64


@compiled
def scan_band(values: Any, low: Any, high: Any, band: Any) -> Any:
    """Count magnitudes above ``high`` and write those in [low, high] to ``band``.

    Counts are kept in the type of the values, so that a block is counted by vector instructions;
    only blocks with an entry in the band are looked at again.

    Returns:
        How many are above; how many ``band`` holds, -1 if they didn't fit; and whether all values
        are finite.
    """
    one, zero = values.dtype.type(1), values.dtype.type(0)
    largest = np.finfo(values.dtype).max
    above, found, finite = 0, 0, True
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
