"""Random numbers that a seed fixes, without touching the caller's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch

T = TypeVar("T")


@contextmanager
def seeded(seed: int, device: torch.device | str = "cpu") -> Iterator[None]:
    """Within the context torch draws from ``seed``; after it, as if nothing had been drawn.

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
            # As torch.manual_seed, which also leaves a note for GPUs that nobody may ever use.
            torch.default_generator.manual_seed(seed)
        else:
            torch.manual_seed(seed)
        yield


def derived_seed(*parts: int | str) -> int:
    """A seed of its own for each list of parts.

    Example:
        >>> derived_seed(0, "dropout", 1) == derived_seed(0, "dropout", 2)
        False
    """
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def seeded_items(items: Iterable[T], seed: int) -> Iterator[T]:
    """Go through items that torch draws, from a seed, whatever is drawn between two of them.

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
