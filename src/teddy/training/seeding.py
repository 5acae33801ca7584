"""Seeded random numbers that do not affect those of the caller."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch

T = TypeVar("T")


@contextmanager
def seeded(seed: int, device: torch.device | str = "cpu") -> Iterator[None]:
    """Seed torch in the context, and restore its random state after it.

    Example:
        >>> with seeded(0):
        ...     first = torch.rand(1)
        >>> with seeded(0):
        ...     bool(torch.rand(1) == first)
        True
    """
    devices = [torch.device(device)] if torch.device(device).type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        if torch.device(device).type == "cpu":
            # torch.manual_seed would also register the seed for GPUs.
            torch.default_generator.manual_seed(seed)
        else:
            torch.manual_seed(seed)
        yield


def derived_seed(*parts: int | str) -> int:
    """Return a different seed for each list of parts.

    Example:
        >>> derived_seed(0, "dropout", 1) == derived_seed(0, "dropout", 2)
        False
    """
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def seeded_items(items: Iterable[T], seed: int) -> Iterator[T]:
    """Iterate over items that draw from torch, with a seed, independent of draws in between.

    Example:
        >>> draws = (int(torch.randint(1000, ())) for _ in range(2))
        >>> first = list(seeded_items(draws, 0))
        >>> with seeded(0):
        ...     first == [int(torch.randint(1000, ())) for _ in range(2)]
        True
    """
    with seeded(seed):
        iterator, state = iter(items), torch.get_rng_state()
    while True:
        with torch.random.fork_rng(devices=[]):
            torch.set_rng_state(state)
            try:
                item = next(iterator)
            except StopIteration:
                return
            state = torch.get_rng_state()
        yield item
