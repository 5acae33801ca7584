"""Dropout and hidden layers: activation, dropout and the next product in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from teddy.errors import InputError
from teddy.kernels import jit
from teddy.kernels.jit import empty
from teddy.kernels.sparse import SparseMatrix, narrow_product
from teddy.kernels.vectors import WIDE, added, gated, load, store, zeros

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


Array = NDArray[Any]

# Outputs up to which the one pass is faster than a product of dense matrices.
_FEW = 16
# Rows of a gradient, and outputs of a row, that are computed together: they share loads.
_ROWS, _TOGETHER = 8, 3


class Hidden:
    r"""What a layer passes on, :math:`\mathrm{dropout}(\mathrm{ReLU}(Z))`, multiplied unseen.

    A product with a narrow weight, such as the one of the last layer, needs neither the activated
    nor the dropped matrix in memory, and its backward pass none of the gradients in between: all
    are computed a row at a time, in the cache.

    Args:
        z: ``[N, H]``, before the activation.
        p: Probability of dropout, 0 in evaluation. One object drops the same entries in every
            product.

    Example:
        >>> Hidden(torch.tensor([[1.0, -1.0]]), 0.0) @ torch.ones(2, 1)
        tensor([[1.]])
    """

    def __init__(self, z: Tensor, p: float) -> None:
        self.z = z
        self.fates = Fates.draw(p) if p else None

    @property
    def shape(self) -> torch.Size:
        """Rows and columns."""
        return self.z.shape

    def __matmul__(self, weight: Tensor) -> Tensor:
        if weight.dim() != 2 or self.z.size(1) != weight.size(0) or self.z.dtype != weight.dtype:
            raise InputError(
                f"hidden units {list(self.z.shape)} of {self.z.dtype} met a weight "
                f"{list(weight.shape)} of {weight.dtype}, expected {self.z.size(1)} rows"
            )
        if weight.size(1) <= _FEW and weight.size(0) and jit.available(self.z, weight):
            product: Tensor = _Product.apply(self.z, weight, self.fates)
            return product
        return narrow_product(self.activated(), weight)

    def activated(self) -> Tensor:
        """The matrix itself."""
        h = self.z.relu()
        return h if self.fates is None else dropout(h, self.fates)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, weight: Tensor, fates: Fates | None) -> Tensor:
        z = z.contiguous()
        ctx.save_for_backward(z, weight)
        ctx.fates = fates
        rows = _padded(weight.detach().t(), _TOGETHER).numpy()
        out = torch.empty(z.size(0), rows.shape[0], dtype=z.dtype)
        arrays = z.detach().numpy(), rows, out.numpy(), *_words(fates, z)
        parts = jit.split(z.size(0), 256)
        space = _work_space(len(parts), z, rows.shape[1])
        jit.run_parts(_forward, [(*p, s, *arrays) for p, s in zip(parts, space, strict=True)])
        return out[:, : weight.size(1)].contiguous()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        z, weight = ctx.saved_tensors
        grad_z, rows = empty(z.size(0), z.size(1), z), _padded(weight.detach().t())
        parts = jit.split(z.size(0), 256)
        grad_rows = rows.new_zeros(len(parts), *rows.shape)
        space = _work_space(len(parts), z, rows.size(1))
        arrays = z.detach().numpy(), rows.numpy(), grads[0].contiguous().numpy(), grad_z.numpy()
        words = _words(ctx.fates, z)
        own = zip(parts, space, grad_rows.numpy(), strict=True)
        jit.run_parts(_backward, [(*p, s, *arrays, grad, *words) for p, s, grad in own])
        return grad_z, grad_rows.sum(dim=0)[:, : weight.size(0)].t(), None


def _padded(rows: Tensor, together: int = 1) -> Tensor:
    """Fill rows with zeros up to whole vectors, and add rows up to whole groups."""
    return F.pad(rows, (0, -rows.size(1) % WIDE, 0, -rows.size(0) % together)).contiguous()


def _work_space(parts: int, like: Tensor, width: int) -> list[Array]:
    """Some rows for each part, from the beginning of a cache line."""
    return [like.new_zeros(_ROWS, width).numpy() for _ in range(parts)]


def _words(fates: Fates | None, like: Tensor) -> tuple[Any, ...]:
    """Seed, bound and scale of the dropout, and whether there is any."""
    return (fates is not None, *(fates or Fates(0.0, 0, 0)).words(like))


@jit.compiled
def _activate(
    z: Array, offset: Any, h: Array, drop: bool, low: Any, high: Any, last: Any, scale: Any
) -> None:
    """Write a row's ReLU and dropout to ``h``."""
    zero = z.dtype.type(0)
    if drop:
        for c in range(z.size):
            factor = scale if fate(np.uint32(np.uint32(c) + offset), low, high) <= last else zero
            h[c] = (zero if z[c] <= zero else z[c]) * factor  # nan stays nan
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
    """Rows of the gradient of Z, and their share of the weight's."""
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
