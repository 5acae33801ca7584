"""Checks of tensors in user input, and a cache of results computed from a tensor."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from teddy.errors import InputError


def as_tensor(value: Any, key: str, expected: str, source: str) -> Tensor:
    """Return the value if it is a tensor, or raise.

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
    """Return True for a tensor of an integer type."""
    return not (value.is_floating_point() or value.is_complex() or value.dtype == torch.bool)


def shape_text(value: Tensor) -> str:
    """Shape of a tensor, as text for a message."""
    return str(list(value.shape))


def dtype_text(value: Tensor) -> str:
    """Type of a tensor, as text for a message."""
    return str(value.dtype).removeprefix("torch.")


class TensorCache:
    """Cache of results computed from tensors, valid while a tensor is alive and unchanged.

    Inference tensors are not cached, since they do not count changes. A result must not hold the
    tensor itself, or the tensor would never be freed. A view holds it, too, unless it is detached.

    Example:
        >>> cache, index = TensorCache(), torch.tensor([2, 1])
        >>> cache.put(index, "nodes", 3)
        >>> cache.get(index, "nodes")
        3
        >>> index[0] = 5
        >>> cache.get(index, "nodes") is None
        True
    """

    def __init__(self) -> None:
        self._results: WeakTensorKeyDictionary = WeakTensorKeyDictionary()

    def __reduce__(self) -> tuple[type[TensorCache], tuple[()]]:
        """Copy and pickle an empty cache."""
        return TensorCache, ()

    def get(self, tensor: Tensor, key: object) -> Any:
        """Return the result for a key, or None."""
        if not isinstance(tensor, Tensor) or tensor.is_inference() or tensor not in self._results:
            return None
        return self._results[tensor].get((key, tensor._version))

    def put(self, tensor: Tensor, key: object, result: Any) -> None:
        """Store the result for a key; it replaces other results of the tensor."""
        if not tensor.is_inference():
            self._results[tensor] = {(key, tensor._version): result}
