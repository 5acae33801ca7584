"""Dropout that draws nothing but a seed: each entry's fate is a hash of the seed and its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from teddy.kernels import jit
from teddy.kernels.sparse import SparseMatrix

_WORD = 0xFFFFFFFF


@dataclass(frozen=True)
class Fates:
    """Which entries stay: those whose hash, of the seed and their place, is not above a bound.

    Attributes:
        p: Probability to be dropped.
        low: One half of the seed.
        high: The other half.
    """

    p: float
    low: int
    high: int

    @staticmethod
    def draw(p: float) -> Fates:
        """Draw a seed from torch's generator."""
        low, high = torch.empty(2, dtype=torch.int64).random_(0, _WORD + 1).tolist()
        return Fates(p, low, high)

    @property
    def last(self) -> int:
        """The highest hash of an entry that stays; -1: none does."""
        return round((1.0 - self.p) * (_WORD + 1)) - 1

    @property
    def scale(self) -> float:
        """What the entries that stay are multiplied with, 1/(1-p)."""
        return (_WORD + 1) / (self.last + 1) if self.last >= 0 else 0.0

    def words(self, like: Tensor) -> tuple[Any, Any, Any, Any]:
        """Seed, bound and scale as a kernel takes them."""
        kind = torch.empty(0, dtype=like.dtype).numpy().dtype.type
        bound = np.uint32(max(self.last, 0))
        return np.uint32(self.low), np.uint32(self.high), bound, kind(self.scale)


def dropout(x: Tensor, fates: float | Fates) -> Tensor:
    """Set entries to zero with probability ``p`` and scale the others by 1/(1-p).

    The gradient drops the same entries: it needs the seed only, no mask.

    Args:
        x: Of any shape.
        fates: ``p``, or what was drawn for it.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> dropout(torch.ones(8), 0.5).unique()
        tensor([0., 2.])
    """
    result: Tensor = _Dropout.apply(x, fates if isinstance(fates, Fates) else Fates.draw(fates))
    return result


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, fates: Fates) -> Tensor:
        ctx.fates = fates
        return _drop(x, fates)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return _drop(grads[0], ctx.fates), None


def _drop(x: Tensor, fates: Fates) -> Tensor:
    x = x.contiguous()
    if not jit.available(x):
        stays = _hash(x.numel(), fates, x.device) <= fates.last
        return torch.where(stays, x.flatten() * fates.scale, 0).view_as(x)
    out = torch.empty_like(x)
    source, target = x.detach().view(-1).numpy(), out.view(-1).numpy()
    words = fates.words(x)
    parts = [(source[a:b], target[a:b], np.uint32(a), *words) for a, b in jit.split(x.numel())]
    jit.run_parts(_drop_part, parts)
    return out


@jit.compiled
def fate(place: Any, low: Any, high: Any) -> Any:
    """Hash a place with a seed: two rounds of shift and multiply over 32-bit words."""
    h = np.uint32(place * np.uint32(0x9E3779B9)) ^ low
    h = np.uint32(np.uint32((h ^ (h >> np.uint32(16))) * np.uint32(0x7FEB352D)) + high)
    h = np.uint32((h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B))
    return np.uint32(h ^ (h >> np.uint32(16)))


@jit.compiled
def _drop_part(x: Any, out: Any, offset: Any, low: Any, high: Any, last: Any, scale: Any) -> None:
    zero = x.dtype.type(0)
    for i in range(x.size):
        out[i] = x[i] * (
            scale if fate(np.uint32(np.uint32(i) + offset), low, high) <= last else zero
        )


def _hash(count: int, fates: Fates, device: torch.device) -> Tensor:
    """The same hash in torch, in int64."""
    h = (torch.arange(count, device=device) * 0x9E3779B9 & _WORD) ^ fates.low
    h = ((h ^ (h >> 16)) * 0x7FEB352D + fates.high) & _WORD
    h = (h ^ (h >> 15)) * 0x846CA68B & _WORD
    return h ^ (h >> 16)


class Dropout(nn.Module):
    """``nn.Dropout``, cheaper, for dense tensors and the entries of sparse matrices.

    Example:
        >>> Dropout(0.5).eval()(torch.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    @overload
    def forward(self, x: Tensor) -> Tensor: ...
    @overload
    def forward(self, x: SparseMatrix) -> SparseMatrix: ...
    def forward(self, x: Tensor | SparseMatrix) -> Tensor | SparseMatrix:
        """Drop in training, pass through in evaluation."""
        if not self.training or self.p == 0:
            return x
        if isinstance(x, SparseMatrix):
            return SparseMatrix(x.pattern, dropout(x.values, self.p))
        return dropout(x, self.p)

    def extra_repr(self) -> str:
        """The probability."""
        return f"p={self.p}"
