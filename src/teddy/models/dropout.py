"""Dropout that draws nothing but a seed: each entry's fate is a hash of the seed and its place."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import torch
from torch import Tensor, nn

from teddy import jit
from teddy.models.sparse import SparseMatrix

_WORD = 0xFFFFFFFF


def dropout(x: Tensor, p: float) -> Tensor:
    """Set entries to zero with probability ``p`` and scale the others by 1/(1-p).

    The gradient drops the same entries: it needs the seed only, no mask.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> dropout(torch.ones(8), 0.5).unique()
        tensor([0., 2.])
    """
    low, high = torch.empty(2, dtype=torch.int64).random_(0, _WORD + 1).tolist()
    result: Tensor = _Dropout.apply(x, p, (low, high))
    return result


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float, seed: tuple[int, int]) -> Tensor:
        ctx.p, ctx.seed = p, seed
        return _drop(x, p, seed)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        return _drop(grads[0], ctx.p, ctx.seed), None, None


def _drop(x: Tensor, p: float, seed: tuple[int, int]) -> Tensor:
    last = round((1.0 - p) * (_WORD + 1)) - 1  # an entry stays if its hash is not above
    scale = (_WORD + 1) / (last + 1) if last >= 0 else 0.0
    x = x.contiguous()
    if not jit.available(x):
        stays = _hash(x.numel(), seed, x.device) <= last
        return torch.where(stays, x.flatten() * scale, 0).view_as(x)
    out = torch.empty_like(x)
    source, target = x.detach().view(-1).numpy(), out.view(-1).numpy()
    words = np.uint32(seed[0]), np.uint32(seed[1]), np.uint32(max(last, 0))
    factors = target.dtype.type(scale), target.dtype.type(0)
    parts = [(source[a:b], target[a:b], np.uint32(a), *words, *factors)
             for a, b in jit.split(x.numel())]  # fmt: skip
    jit.run_parts(_drop_part, parts)
    return out


@jit.compiled
def _drop_part(
    x: Any, out: Any, offset: Any, low: Any, high: Any, last: Any, scale: Any, zero: Any
) -> None:
    for i in range(x.size):
        h = np.uint32(np.uint32(np.uint32(i) + offset) * np.uint32(0x9E3779B9)) ^ low
        h = np.uint32(np.uint32((h ^ (h >> np.uint32(16))) * np.uint32(0x7FEB352D)) + high)
        h = np.uint32((h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B))
        h = np.uint32(h ^ (h >> np.uint32(16)))
        out[i] = x[i] * (scale if h <= last else zero)


def _hash(count: int, seed: tuple[int, int], device: torch.device) -> Tensor:
    """The same hash in torch: two rounds of shift and multiply over 32-bit words, in int64."""
    h = (torch.arange(count, device=device) * 0x9E3779B9 & _WORD) ^ seed[0]
    h = ((h ^ (h >> 16)) * 0x7FEB352D + seed[1]) & _WORD
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
