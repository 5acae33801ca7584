"""The tie rule: edges of one score go in the order of the md5 of their ends' ids.

It sees an edge's two ids only, not its place in a table, and md5 exists on every engine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from teddy.kernels import jit
from teddy.kernels.pair_digests import integer_digests

Ids = Iterable[int | str] | NDArray[np.int64]

# So few pairs aren't worth loading the kernel.
_FEW = 10_000


def pair_text(low: int | str, high: int | str) -> str:
    """The text of an edge that is hashed; no two edges have the same.

    Example:
        >>> pair_text(3, 12), pair_text("a-b", "c")
        ('3-12', '3:a-b-c')
    """
    return f"{low}-{high}" if isinstance(low, int) else f"{len(low)}:{low}-{high}"


def pair_digests(lows: Ids, highs: Ids, prefix: str = "") -> NDArray[np.bytes_]:
    """md5 of each pair in hexadecimal digits, ``S32 [P]``, which sort as the numbers do.

    Args:
        lows: Ids of one end, of an undirected edge the lower; many in an array are hashed by a
            compiled kernel where numba is installed.
        highs: Ids of the other end.
        prefix: Text before that of each pair.

    Example:
        >>> pair_digests([0, 0], [1, 2]).tolist()
        [b'c2eb282156233b5d827219971c8b04c2', b'dfbffab08ce62ec457a6c2cf7f55e76c']
    """
    if isinstance(lows, np.ndarray) and isinstance(highs, np.ndarray):
        if lows.size > _FEW and jit.numba is not None:
            return integer_digests(lows, highs, prefix=prefix)
        lows, highs = lows.tolist(), highs.tolist()
    digests = [
        hashlib.md5(f"{prefix}{pair_text(*pair)}".encode(), usedforsecurity=False).hexdigest()
        for pair in zip(lows, highs, strict=True)
    ]
    return np.array(digests, dtype="S32")
