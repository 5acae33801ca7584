"""Dropout, and hidden layers with activation, dropout and the next product in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from teddy.errors import InputError
from teddy.kernels import jit
from teddy.kernels.sparse import SparseMatrix, narrow_product
from teddy.kernels.vectors import WIDE, added, gated, load, store, zeros

Array = NDArray[Any]

# Maximum outputs for which the one pass is faster than a product of dense matrices.
_FEW = 16
# Rows of a gradient, and outputs of a row, that are computed together: they share loads.
_ROWS, _TOGETHER = 8, 3
_WORD = 0xFFFFFFFF


@dataclass(frozen=True)
class DropoutMask:
    """Dropout mask of probability ``p``: entries with a low hash of seed and index are kept.

    ``low`` and ``high`` are the halves of the seed.
    """

    p: float
    low: int
    high: int

    @staticmethod
    def draw(p: float) -> DropoutMask:
        """Draw a seed from torch's generator."""
        low, high = torch.empty(2, dtype=torch.int64).random_(0, _WORD + 1).tolist()
        return DropoutMask(p, low, high)

    @property
    def last(self) -> int:
        """Highest hash of a kept entry; -1 if none is kept."""
        return round((1.0 - self.p) * (_WORD + 1)) - 1

    @property
    def scale(self) -> float:
        """Factor of the kept entries, 1/(1-p)."""
        return (_WORD + 1) / (self.last + 1) if self.last >= 0 else 0.0

    def words(self, like: Tensor) -> tuple[Any, Any, Any, Any]:
        """Seed, bound and scale in the types of a kernel."""
        kind = torch.empty(0, dtype=like.dtype).numpy().dtype.type
        bound = np.uint32(max(self.last, 0))
        return np.uint32(self.low), np.uint32(self.high), bound, kind(self.scale)


def dropout(x: Tensor, mask: float | DropoutMask) -> Tensor:
    """Set entries to zero with probability ``p`` and scale the others by 1/(1-p).

    ``mask`` is ``p`` or a drawn mask. Only its seed is saved for the gradient.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> dropout(torch.ones(8), 0.5).unique()
        tensor([0., 2.])
    """
    drawn = mask if isinstance(mask, DropoutMask) else DropoutMask.draw(mask)
    result: Tensor = _Dropout.apply(x, drawn)
    return result


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mask: DropoutMask) -> Tensor:
        ctx.mask = mask
        return _drop(x, mask)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return _drop(grads[0], ctx.mask), None


def _drop(x: Tensor, mask: DropoutMask) -> Tensor:
    x = x.contiguous()
    if not jit.available(x):
        kept = _hash(x.numel(), mask, x.device) <= mask.last
        return torch.where(kept, x.flatten() * mask.scale, 0).view_as(x)
    out = torch.empty_like(x)
    source, target = x.detach().view(-1).numpy(), out.view(-1).numpy()
    words = mask.words(x)
    ranges = jit.split(x.numel())
    jit.run_parts(_drop_part, [(source[a:b], target[a:b], np.uint32(a), *words) for a, b in ranges])
    return out


@jit.compiled
def index_hash(index: Any, low: Any, high: Any) -> Any:
    """Hash an index with a seed: two rounds of shift and multiply over 32-bit words."""
    h = np.uint32(index * np.uint32(0x9E3779B9)) ^ low
    h = np.uint32(np.uint32((h ^ (h >> np.uint32(16))) * np.uint32(0x7FEB352D)) + high)
    h = np.uint32((h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B))
    return np.uint32(h ^ (h >> np.uint32(16)))


@jit.compiled
def _drop_part(x: Any, out: Any, offset: Any, low: Any, high: Any, last: Any, scale: Any) -> None:
    zero = x.dtype.type(0)
    for i in range(x.size):
        kept = index_hash(np.uint32(np.uint32(i) + offset), low, high) <= last
        out[i] = x[i] * (scale if kept else zero)


def _hash(count: int, mask: DropoutMask, device: torch.device) -> Tensor:
    """The same hash in torch, in int64."""
    h = (torch.arange(count, device=device) * 0x9E3779B9 & _WORD) ^ mask.low
    h = ((h ^ (h >> 16)) * 0x7FEB352D + mask.high) & _WORD
    h = (h ^ (h >> 15)) * 0x846CA68B & _WORD
    return h ^ (h >> 16)


class Dropout(nn.Module):
    """Faster ``nn.Dropout`` for dense tensors and the entries of sparse matrices.

    Example:
        >>> Dropout(0.5).eval()(torch.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Any) -> Any:
        """Apply dropout in training; return the input in evaluation."""
        if not self.training or self.p == 0:
            return x
        if isinstance(x, SparseMatrix):
            return SparseMatrix(x.pattern, dropout(x.values, self.p))
        return dropout(x, self.p)


class Hidden:
    r"""Hidden units :math:`\mathrm{dropout}(\mathrm{ReLU}(Z))`, computed within their products.

    A product with a narrow weight, as in the last layer, holds neither the activated matrix, nor
    the one after dropout, nor their gradients in memory: it computes them a row at a time.

    Args:
        z: ``[N, H]``, before the activation.
        p: Probability of dropout, 0 in evaluation. All products drop the same entries.

    Example:
        >>> Hidden(torch.tensor([[1.0, -1.0]]), 0.0) @ torch.ones(2, 1)
        tensor([[1.]])
    """

    def __init__(self, z: Tensor, p: float) -> None:
        self.z = z
        self.mask = DropoutMask.draw(p) if p else None

    @property
    def shape(self) -> torch.Size:
        """Rows and columns."""
        return self.z.shape

    def __matmul__(self, weight: Tensor) -> Tensor:
        if weight.dim() != 2 or self.z.size(1) != weight.size(0) or self.z.dtype != weight.dtype:
            raise InputError(
                f"cannot multiply hidden units {list(self.z.shape)} of {self.z.dtype} by "
                f"{list(weight.shape)} of {weight.dtype}, expected {self.z.size(1)} rows"
            )
        if weight.size(1) <= _FEW and weight.size(0) and jit.available(self.z, weight):
            product: Tensor = _Product.apply(self.z, weight, self.mask)
            return product
        return narrow_product(self.activated(), weight)

    def activated(self) -> Tensor:
        """Hidden units as a dense matrix."""
        h = self.z.relu()
        return h if self.mask is None else dropout(h, self.mask)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, weight: Tensor, mask: DropoutMask | None) -> Tensor:
        z = z.contiguous()
        ctx.save_for_backward(z, weight)
        ctx.mask = mask
        rows = _padded(weight.detach().t(), _TOGETHER).numpy()
        out = torch.empty(z.size(0), rows.shape[0], dtype=z.dtype)
        arrays = z.detach().numpy(), rows, out.numpy(), *_words(mask, z)
        parts = jit.split(z.size(0), 256)
        space = _work_space(len(parts), z, rows.shape[1])
        jit.run_parts(_forward, [(*p, s, *arrays) for p, s in zip(parts, space, strict=True)])
        return out[:, : weight.size(1)].contiguous()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        z, weight = ctx.saved_tensors
        grad_z, rows = jit.empty(z.size(0), z.size(1), z), _padded(weight.detach().t())
        parts = jit.split(z.size(0), 256)
        grad_rows = rows.new_zeros(len(parts), *rows.shape)
        space = _work_space(len(parts), z, rows.size(1))
        arrays = z.detach().numpy(), rows.numpy(), grads[0].contiguous().numpy(), grad_z.numpy()
        words = _words(ctx.mask, z)
        buffers = zip(parts, space, grad_rows.numpy(), strict=True)
        jit.run_parts(_backward, [(*p, s, *arrays, grad, *words) for p, s, grad in buffers])
        return grad_z, grad_rows.sum(dim=0)[:, : weight.size(0)].t(), None


def _padded(rows: Tensor, together: int = 1) -> Tensor:
    """Pad rows with zeros to whole vectors, and the number of rows to whole groups."""
    return F.pad(rows, (0, -rows.size(1) % WIDE, 0, -rows.size(0) % together)).contiguous()


def _work_space(parts: int, like: Tensor, width: int) -> list[Array]:
    """Buffer of a few rows for each part, aligned to a cache line."""
    return [like.new_zeros(_ROWS, width).numpy() for _ in range(parts)]


def _words(mask: DropoutMask | None, like: Tensor) -> tuple[Any, ...]:
    """Flag of a dropout mask, then its seed, bound and scale."""
    return (mask is not None, *(mask or DropoutMask(0.0, 0, 0)).words(like))


@jit.compiled
def _activate(
    z: Array, offset: Any, h: Array, drop: bool, low: Any, high: Any, last: Any, scale: Any
) -> None:
    """Write a row's ReLU and dropout to ``h``."""
    zero = z.dtype.type(0)
    if drop:
        for c in range(z.size):
            factor = (
                scale if index_hash(np.uint32(np.uint32(c) + offset), low, high) <= last else zero
            )
            h[c] = (zero if z[c] <= zero else z[c]) * factor  # nan is kept
    else:
        for c in range(z.size):
            h[c] = zero if z[c] <= zero else z[c]


@jit.compiled
def _forward(
    first: int, last_row: int, h: Array, z: Array, rows: Array, out: Array,
    drop: bool, low: Any, high: Any, last: Any, scale: Any,
) -> None:  # fmt: skip
    """Rows of the product with a weight, given by its columns as ``rows``."""
    for i in range(first, last_row):
        _activate(z[i], np.uint32(i * z.shape[1]), h[0], drop, low, high, last, scale)
        active = h[0]
        for k in range(0, rows.shape[0], _TOGETHER):
            row0, row1, row2 = rows[k], rows[k + 1], rows[k + 2]
            total0 = total1 = total2 = z.dtype.type(0)
            for c in range(row0.size):
                total0 += active[c] * row0[c]
                total1 += active[c] * row1[c]
                total2 += active[c] * row2[c]
            out[i, k], out[i, k + 1], out[i, k + 2] = total0, total1, total2


@jit.compiled
def _backward(
    first: int, last_row: int, h: Array, z: Array, rows: Array, grad: Array, grad_z: Array,
    grad_rows: Array, drop: bool, low: Any, high: Any, last: Any, scale: Any,
) -> None:  # fmt: skip
    """Rows of the gradient of Z, and their part of the gradient of the weight."""
    kept = scale if drop else z.dtype.type(1)
    for start in range(first, last_row, _ROWS):
        count = min(_ROWS, last_row - start)
        for r in range(count):
            i = start + r
            _activate(z[i], np.uint32(i * z.shape[1]), h[r], drop, low, high, last, scale)
        for c in range(0, rows.shape[1], WIDE):
            for k in range(rows.shape[0]):
                total = load(grad_rows, k, c, WIDE)
                for r in range(count):
                    total = added(total, grad[start + r, k], load(h, r, c, WIDE))
                store(grad_rows, k, c, total)
            for r in range(count):
                total = zeros(h, WIDE)
                for k in range(rows.shape[0]):
                    total = added(total, grad[start + r, k], load(rows, k, c, WIDE))
                total = gated(total, kept, load(h, r, c, WIDE))
                if c + WIDE <= z.shape[1]:
                    store(grad_z, start + r, c, total)
                else:
                    store(h, r, c, total)
                    grad_z[start + r, c:] = h[r, c : z.shape[1]]
