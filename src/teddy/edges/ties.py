"""The tie rule: edges of one score go in the order of the md5 of their ends' ids.

It sees an edge's two ids only, not its place in a table, and md5 exists on every engine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def pair_text(low: int | str, high: int | str) -> str:
    """The text of an edge that is hashed; no two edges have the same.

    Example:
        >>> pair_text(3, 12), pair_text("a-b", "c")
        ('3-12', '3:a-b-c')
    """
    return f"{low}-{high}" if isinstance(low, int) else f"{len(low)}:{low}-{high}"


def pair_digests(lows: Iterable[int | str], highs: Iterable[int | str]) -> NDArray[np.bytes_]:
    """md5 of each pair in hexadecimal digits, ``S32 [P]``, which sort as the numbers do.

    Example:
        >>> pair_digests([0, 0], [1, 2]).tolist()
        [b'c2eb282156233b5d827219971c8b04c2', b'dfbffab08ce62ec457a6c2cf7f55e76c']
    """
    digests = [
        hashlib.md5(pair_text(*pair).encode(), usedforsecurity=False).hexdigest()
        for pair in zip(lows, highs, strict=True)
    ]
    return np.array(digests, dtype="S32")
