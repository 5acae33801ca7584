"""The numba compiler, where it is installed, and the threads and memory of kernels."""

from __future__ import annotations

import os
import threading
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import torch

_LARGE = 1 << 20  # bytes; smaller arrays are left to the allocator
_LINE = 64  # bytes of a cache line


def _load() -> Any:
    try:
        return None if os.environ.get("TEDDY_KERNELS") == "off" else import_module("numba")
    except ImportError:
        return None


#: The module numba; None where it is not installed or ``TEDDY_KERNELS`` is off.
installed = _load()
#: The module numba while kernels are enabled, see :func:`use`.
numba = installed


class use:  # noqa: N801 - a verb, called like a function
    """Enable or disable the compiled kernels; as a context manager, for the block only.

    Without kernels torch computes the same more slowly. ``TEDDY_KERNELS=off`` in the environment
    disables them for the whole process.

    Args:
        enabled: True to use kernels, where numba is installed.

    Example:
        >>> import teddy.kernels
        >>> from teddy.kernels import jit
        >>> with teddy.kernels.use(False):
        ...     jit.numba is None
        True
    """

    def __init__(self, enabled: bool) -> None:
        global numba
        self._before, numba = numba, installed if enabled else None

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        global numba
        numba = self._before


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function of arrays and cache it on disk; return it unchanged without numba.

    The kernels release Python's global lock, so they run in parallel threads.

    Example:
        >>> @compiled
        ... def double(x):
        ...     x[0] *= 2
        >>> numbers = np.ones(2)
        >>> double(numbers)
        >>> numbers.tolist()
        [2.0, 1.0]
    """
    if installed is None:
        return function
    flags = {"contract", "reassoc", "nsz"}
    options = {"nogil": True, "error_model": "numpy", "fastmath": flags}
    try:
        kernel: Callable[..., Any] = installed.njit(cache=True, **options)(function)
    except RuntimeError:  # no file to cache it for, as with a function typed at a prompt
        kernel = installed.njit(**options)(function)
    return kernel


def available(*tensors: torch.Tensor) -> bool:
    """Return True if the kernels support these tensors.

    Example:
        >>> available(torch.zeros(2, dtype=torch.int8))
        False
    """
    return numba is not None and all(
        t.device.type == "cpu" and t.dtype in (torch.float32, torch.float64) for t in tensors
    )


def split(count: int, least: int = 1 << 15) -> list[tuple[int, int]]:
    """Split ``count`` entries into equal ranges, one per thread, of about ``least`` or more.

    Example:
        >>> split(10)
        [(0, 10)]
    """
    parts = max(1, min(torch.get_num_threads(), count // least))
    cuts = [count * part // parts for part in range(parts + 1)]
    return list(pairwise(cuts))


def run_parts(kernel: Callable[..., Any], parts: list[tuple[Any, ...]]) -> list[Any]:
    """Call a kernel with the arguments of each part, on all threads; return the results.

    Example:
        >>> run_parts(abs, [(-1,), (2,)])
        [1, 2]
    """
    threads = min(len(parts), torch.get_num_threads())
    if threads <= 1:
        return [kernel(*arguments) for arguments in parts]
    return list(_pool(threads).map(lambda arguments: kernel(*arguments), parts))


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="teddy")


#: Unused blocks of memory, by size.
Blocks = defaultdict[int, list[Any]]


class _Memory(threading.local):
    """The blocks of each thread; None outside of :func:`reused`."""

    free: Blocks | None = None


_memory = _Memory()


@contextmanager
def reused(kept: Blocks | None = None) -> Iterator[None]:
    """Within the context :func:`empty` reuses the memory of freed arrays.

    A training allocates the same few large arrays at every step. Without reuse they fragment the
    heap, and it grows.

    Args:
        kept: Blocks to reuse, which stay for the next context; None: all are freed at the end.

    Example:
        >>> with reused():
        ...     first = empty(1024, 512, torch.zeros(0))
        ...     address = first.data_ptr()
        ...     del first
        ...     empty(1023, 512, torch.zeros(0)).data_ptr() == address
        True
    """
    blocks: Blocks = defaultdict(list) if kept is None else kept
    outer, _memory.free = _memory.free, blocks
    try:
        yield
    finally:
        _memory.free = outer
        if kept is None:
            for unused in blocks.values():  # tensors that are left hold these lists
                unused.clear()


def empty(rows: int, columns: int, like: torch.Tensor) -> torch.Tensor:
    """Uninitialised matrix on the CPU, of the type of ``like``."""
    num_bytes = rows * columns * like.itemsize
    if _memory.free is None or num_bytes < _LARGE:
        return torch.empty(rows, columns, dtype=like.dtype)
    # Of a power of two, so that similar sizes fit; untouched pages cost nothing.
    size = 1 << (num_bytes - 1).bit_length()
    blocks = _memory.free[size]
    try:
        block = blocks.pop()
    except IndexError:  # a check before isn't safe where threads share them
        block = np.empty(size + _LINE, np.uint8)
    start = -block.ctypes.data % _LINE
    array = block[start : start + num_bytes]
    # Torch holds the array as long as any tensor needs it.
    weakref.finalize(array, blocks.append, block).atexit = False
    return torch.from_numpy(array).view(like.dtype).view(rows, columns)
