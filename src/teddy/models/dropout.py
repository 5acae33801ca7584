"""Dropout from few random bits, and on the entries of a sparse matrix only."""

from __future__ import annotations

from typing import overload

import torch
from torch import Tensor, nn

from teddy.models.sparse import SparseMatrix

_STEPS = 1 << 16


def dropout_factors(count: int, p: float, like: Tensor) -> Tensor:
    """Draw ``count`` factors that are 0 with probability ``p`` and 1/(1-p) otherwise.

    Four 16-bit draws come from each 64-bit random number; ``p`` is met to the nearest 1/65536,
    and the factor fits the ``p`` that is met, so the expectation is exactly one.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> dropout_factors(8, 0.5, torch.zeros(1)).unique()
        tensor([0., 2.])
    """
    kept_steps = round((1.0 - p) * _STEPS)
    if kept_steps == 0:
        return like.new_zeros(count)
    words = torch.empty((count + 3) // 4, dtype=torch.int64, device=like.device)
    # random_() draws 63 bits; with both ends named it draws all 64.
    draws = words.random_(-(2**63), None).view(torch.int16)[:count]
    kept = draws < kept_steps - _STEPS // 2 if kept_steps < _STEPS else draws == draws
    return kept.to(like.dtype).mul_(_STEPS / kept_steps)


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
            factors = dropout_factors(x.values.numel(), self.p, x.values)
            return SparseMatrix(x.pattern, x.values * factors)
        return x * dropout_factors(x.numel(), self.p, x).view_as(x)

    def extra_repr(self) -> str:
        """The probability."""
        return f"p={self.p}"
