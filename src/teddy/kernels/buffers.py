"""Large arrays whose memory is used again as soon as they are gone."""

from __future__ import annotations

import threading
import weakref
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

_LARGE = 1 << 20  # bytes; smaller ones are the allocator's business
_LINE = 64  # bytes of a cache line


#: Blocks that nobody uses, by size.
Blocks = defaultdict[int, list[Any]]


class _Pool(threading.local):
    """Of each thread: its blocks; None outside of :func:`reused`."""

    free: Blocks | None = None


_pool = _Pool()


@contextmanager
def reused(kept: Blocks | None = None) -> Iterator[None]:
    """Within the context :func:`empty` takes the memory of arrays that are gone; then it is freed.

    A training makes the same few large arrays at every step. Handed out one by one, they would be
    cut out of each other's remains, and the heap would grow by what doesn't fit.

    Args:
        kept: Where to take blocks from and leave them for the next time; None: they are freed.

    Example:
        >>> with reused():
        ...     first = empty(1024, 512, torch.zeros(0))
        ...     place = first.data_ptr()
        ...     del first
        ...     empty(1023, 512, torch.zeros(0)).data_ptr() == place
        True
    """
    pool: Blocks = defaultdict(list) if kept is None else kept
    outer, _pool.free = _pool.free, pool
    try:
        yield
    finally:
        _pool.free = outer
        if kept is None:
            for blocks in pool.values():  # tensors that are left hold these lists
                blocks.clear()


def empty(rows: int, columns: int, like: torch.Tensor) -> torch.Tensor:
    """A matrix of another's type on the CPU, not initialised.

    Example:
        >>> empty(2, 3, torch.zeros(0)).shape
        torch.Size([2, 3])
    """
    num_bytes = rows * columns * like.itemsize
    if _pool.free is None or num_bytes < _LARGE:
        return torch.empty(rows, columns, dtype=like.dtype)
    # Of a power of two, so that similar sizes fit; pages that nobody touches cost nothing.
    size = 1 << (num_bytes - 1).bit_length()
    blocks = _pool.free[size]
    try:
        block = blocks.pop()
    except IndexError:  # asking first isn't safe where threads share them
        block = np.empty(size + _LINE, np.uint8)
    start = -block.ctypes.data % _LINE
    array = block[start : start + num_bytes]
    # Torch holds the array as long as any tensor needs it.
    weakref.finalize(array, blocks.append, block).atexit = False
    return torch.from_numpy(array).view(like.dtype).view(rows, columns)
