"""The device and the threads that a search runs on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten

import torch

from teddy.errors import InputError


def check_device(device: str | torch.device) -> torch.device:
    """Return a device that computes here, or raise.

    Example:
        >>> check_device("cpu")
        device(type='cpu')
    """
    try:
        found = torch.device(device)
        if found.type == "meta":
            raise InputError("device is 'meta', expected one that computes")
        torch.zeros(1, device=found)
        return found
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        reason = shorten(str(error), 90, placeholder="...")
        raise InputError(f"device is '{device}', expected one that works here ({reason})") from None


@contextmanager
def limited_threads(count: int | None) -> Iterator[None]:
    """Within the context torch computes with so many threads; None: as many as before.

    Example:
        >>> with limited_threads(1):
        ...     torch.get_num_threads()
        1
    """
    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
