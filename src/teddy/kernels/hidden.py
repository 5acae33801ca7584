"""Hidden layers: activation, dropout and the next product in one pass over them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from teddy.errors import InputError
from teddy.kernels import jit
from teddy.kernels.buffers import empty
from teddy.kernels.dropout import Fates, dropout, fate
from teddy.kernels.sparse import narrow_product
from teddy.kernels.vectors import WIDE, added, gated, load, store, zeros

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
