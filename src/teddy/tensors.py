"""Checks of values that must be tensors, and a memory of what was computed from a tensor."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

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
    """Return integers as int64, or raise."""
    if not are_integers(value):
        raise InputError(f"{source}: {key} is {dtype_text(value)}, expected integers{hint}")
    return value.long()


def are_integers(value: Tensor) -> bool:
    """Whether a tensor is of an integer type."""
    return not (value.is_floating_point() or value.is_complex() or value.dtype == torch.bool)


def shape_text(value: Tensor) -> str:
    """A shape as a message shows it."""
    return str(list(value.shape))


def dtype_text(value: Tensor) -> str:
    """A type as a message shows it."""
    return str(value.dtype).removeprefix("torch.")


class TensorCache:
    """Results computed from tensors, kept while a tensor is in use and unchanged.

    Nothing is kept for tensors of inference mode, which count no changes. A result must not hold
    the tensor itself, only views of it, or it would never be freed.

    Example:
        >>> memory, index = TensorCache(), torch.tensor([2, 1])
        >>> memory.put(index, "nodes", 3)
        >>> memory.get(index, "nodes")
        3
        >>> index[0] = 5
        >>> memory.get(index, "nodes") is None
        True
    """

    def __init__(self) -> None:
        self._known: WeakTensorKeyDictionary = WeakTensorKeyDictionary()

    def get(self, tensor: Tensor, key: object) -> Any:
        """Return the result for this key, or None."""
        if not isinstance(tensor, Tensor) or tensor.is_inference() or tensor not in self._known:
            return None
        return self._known[tensor].get((key, tensor._version))

    def put(self, tensor: Tensor, key: object, result: Any) -> None:
        """Keep a result for this key, in place of all that is known of the tensor."""
        if not tensor.is_inference():
            self._known[tensor] = {(key, tensor._version): result}
