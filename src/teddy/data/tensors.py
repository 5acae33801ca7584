"""A value that has to be a tensor, of integers perhaps, and how a message names it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from teddy.errors import InputError


def as_tensor(value: Any, key: str, expected: str, source: str) -> Tensor:
    """Return a value that is a tensor, or raise.

    Example:
        >>> as_tensor([1], "y", "labels", "graph.npz")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: graph.npz: y is a list, expected a tensor
    """
    if value is None:
        raise InputError(f"{source}: no {key}, expected {expected}")
    if not isinstance(value, Tensor):
        raise InputError(f"{source}: {key} is a {type(value).__name__}, expected a tensor")
    return value


def as_integers(value: Tensor, key: str, source: str, hint: str = "") -> Tensor:
    """Return integers as int64, or raise.

    Example:
        >>> as_integers(torch.tensor([1], dtype=torch.int8), "y", "data").dtype
        torch.int64
    """
    if not are_integers(value):
        raise InputError(f"{source}: {key} is {dtype_text(value)}, expected integers{hint}")
    return value.long()


def are_integers(value: Tensor) -> bool:
    """Whether a tensor is of an integer type.

    Example:
        >>> are_integers(torch.tensor([1])), are_integers(torch.tensor([True]))
        (True, False)
    """
    return not (value.is_floating_point() or value.is_complex() or value.dtype == torch.bool)


def shape_text(value: Tensor) -> str:
    """A shape as a message shows it."""
    return str(list(value.shape))


def dtype_text(value: Tensor) -> str:
    """A type as a message shows it."""
    return str(value.dtype).removeprefix("torch.")
