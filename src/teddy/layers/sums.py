"""Sums of messages as products with a sparse matrix, with gradients of any order."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from teddy.kernels.pattern import Pattern
from teddy.kernels.sparse import SparseMatrix


def weighted_sum(matrix: SparseMatrix, values: Tensor, rows: Tensor) -> Tensor:
    r"""Multiply a sparse matrix by dense rows, :math:`\sum_j w_{ij} x_j`.

    Args:
        matrix: The matrix.
        values: Its values, from which gradients flow to the weights of messages.
        rows: Rows :math:`x`.

    Example:
        >>> swap = SparseMatrix.from_tensor(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
        >>> weighted_sum(swap, swap.values, torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([[3., 4.],
                [1., 2.]])
    """
    result: Tensor = _WeightedSum.apply(values, rows, matrix)
    return result


class _WeightedSum(torch.autograd.Function):
    """Product whose gradient is computed by kernels, or by torch where it needs a graph itself."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, rows: Tensor, matrix: SparseMatrix) -> Tensor:
        ctx.matrix = matrix
        ctx.save_for_backward(values, rows)
        return matrix.product(rows.detach().contiguous())

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        values, rows = ctx.saved_tensors
        grad, pattern = grads[0], ctx.matrix.pattern
        if torch.is_grad_enabled():  # a gradient of this gradient may be asked for
            return *_differentiable(pattern, values, rows, grad, ctx.needs_input_grad), None
        grad = grad.contiguous()
        of_values = of_rows = None
        if ctx.needs_input_grad[0]:
            of_values = pattern.sampled_product(grad, rows)
        if ctx.needs_input_grad[1]:
            of_rows = ctx.matrix.transpose.product(grad)
        return of_values, of_rows, None


def _differentiable(
    pattern: Pattern, values: Tensor, rows: Tensor, grad: Tensor, needed: Any
) -> tuple[Tensor | None, Tensor | None]:
    """Compute both gradients by differentiable functions of torch."""
    given = grad.index_select(0, pattern.row)
    of_values = of_rows = None
    if needed[0]:
        of_values = (given * rows.index_select(0, pattern.col)).sum(dim=1)
    if needed[1]:
        of_rows = torch.zeros_like(rows).index_add(0, pattern.col, values[:, None] * given)
    return of_values, of_rows
