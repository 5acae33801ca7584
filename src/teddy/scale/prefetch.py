"""Prefetching in other threads, with results in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

import torch

T = TypeVar("T")
R = TypeVar("R")


def prefetch_map(
    function: Callable[[T], R], items: Iterable[T], threads: int | None = None
) -> Iterator[R]:
    """Apply a function to items in parallel, a few items ahead.

    Example:
        >>> list(prefetch_map(abs, [-1, 2, -3]))
        [1, 2, 3]
    """
    threads = threads or torch.get_num_threads()
    source = iter(items)
    pool = ThreadPoolExecutor(threads, thread_name_prefix="teddy-prefetch")
    try:
        running: list[Future[R]] = [
            pool.submit(function, item) for item in islice(source, threads + 1)
        ]
        while running:
            result = running.pop(0).result()
            running.extend(pool.submit(function, item) for item in islice(source, 1))
            yield result
    finally:
        pool.shutdown(cancel_futures=True)


def prefetch(items: Iterator[T]) -> Iterator[T]:
    """Compute the next item while the current one is in use.

    Example:
        >>> list(prefetch(iter("abc")))
        ['a', 'b', 'c']
    """
    with ThreadPoolExecutor(1, thread_name_prefix="teddy-read") as pool:
        upcoming = pool.submit(next, items, None)
        while (item := upcoming.result()) is not None:
            upcoming = pool.submit(next, items, None)
            yield item
