"""Kernels compiled by numba where it is installed; without it torch computes the same, slower."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any

import torch


def _load() -> Any:
    try:
        return None if os.environ.get("TEDDY_KERNELS") == "off" else import_module("numba")
    except ImportError:
        return None


#: The module numba; None where it is not installed or ``TEDDY_KERNELS`` is off.
installed = _load()
#: The same while kernels are in use, see :func:`teddy.kernels.use`.
numba = installed


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function of arrays once and keep it on disk; without numba, leave it alone.

    The kernels release Python's global lock, so threads run them side by side.

    Example:
        >>> @compiled
        ... def double(x):
        ...     for i in range(x.size):
        ...         x[i] *= 2
        >>> import numpy as np
        >>> numbers = np.ones(2)
        >>> double(numbers)
        >>> numbers.tolist()
        [2.0, 2.0]
    """
    if installed is None:
        return function
    flags = {"contract", "reassoc", "nsz"}
    options = {"nogil": True, "error_model": "numpy", "fastmath": flags}
    try:
        kernel: Callable[..., Any] = installed.njit(cache=True, **options)(function)
    except RuntimeError:  # no place to keep it, as for a function typed at a prompt
        kernel = installed.njit(**options)(function)
    return kernel


def available(*tensors: torch.Tensor) -> bool:
    """Whether the kernels can take these tensors.

    Example:
        >>> available(torch.zeros(2, dtype=torch.int8))
        False
    """
    return numba is not None and all(
        t.device.type == "cpu" and t.dtype in (torch.float32, torch.float64) for t in tensors
    )


def split(count: int, least: int = 1 << 15) -> list[tuple[int, int]]:
    """Split ``count`` entries into equal ranges, one a thread, none much smaller than ``least``.

    Example:
        >>> split(10)
        [(0, 10)]
    """
    parts = max(1, min(torch.get_num_threads(), count // least))
    cuts = [count * part // parts for part in range(parts + 1)]
    return list(pairwise(cuts))


def run_parts(kernel: Callable[..., Any], parts: list[tuple[Any, ...]]) -> list[Any]:
    """Call a kernel with the arguments of each part, on all threads; return what they return.

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
