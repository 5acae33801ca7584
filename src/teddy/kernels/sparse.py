"""Sparse matrices and their products with gradients."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from teddy.errors import InputError
from teddy.kernels import jit
from teddy.kernels import products as kernels
from teddy.kernels.pattern import Pattern

with warnings.catch_warnings():
    # PyTorch warns once per process that the CSR layout is a beta; users can't act on it.
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor([0, 0], [], [], (1, 1))


class SparseMatrix:
    """Sparse matrix with the product ``matrix @ dense``.

    Gradients flow to the dense factor and, if they require gradients, to the values.

    Example:
        >>> matrix = SparseMatrix.from_tensor(torch.tensor([[0.0, 2.0], [0.0, 0.0]]))
        >>> matrix @ torch.eye(2)
        tensor([[0., 2.],
                [0., 0.]])
    """

    def __init__(self, pattern: Pattern, values: Tensor, unit: bool = False) -> None:
        self.pattern, self.values = pattern, values
        self.unit = unit  # all values are known to be 1
        self._ordered: dict[int, Tensor] = {}

    @staticmethod
    def from_tensor(matrix: Tensor) -> SparseMatrix:
        """Return the matrix of a dense or sparse tensor."""
        csr = matrix if matrix.layout == torch.sparse_csr else matrix.to_sparse_csr()
        pattern = Pattern(
            csr.crow_indices().long(), csr.col_indices().long(), (csr.size(0), csr.size(1))
        )
        return SparseMatrix(pattern, csr.values())

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.pattern.shape

    def rows(self, start: int, end: int) -> SparseMatrix:
        """Matrix of the rows ``start`` to ``end``, without gradients."""
        first, last = (int(self.pattern.crow[row]) for row in (start, end))
        values = self.values.detach()[first:last]
        return SparseMatrix(self.pattern.rows(start, end), values, self.unit)

    def columns(self, kept: Tensor) -> SparseMatrix:
        """Matrix of some columns in their order, without gradients."""
        position = kept.new_full((self.shape[1],), -1)
        position[kept] = torch.arange(kept.numel(), device=kept.device)
        col = position[self.pattern.col]
        before = torch.cat([col.new_zeros(1), (col >= 0).cumsum(0)])
        shape = self.shape[0], kept.numel()
        pattern = Pattern(before[self.pattern.crow], col[col >= 0], shape)
        return SparseMatrix(pattern, self.values.detach()[col >= 0], self.unit)

    def product(self, dense: Tensor, shift: float = 0.0) -> Tensor:
        """Multiply the matrix plus ``shift`` times the identity by ``dense``; no gradients."""
        _check(self, dense)
        if jit.available(self.values, dense):
            dense = dense.contiguous()
            return kernels.product(self._matrix(dense.size(1)), dense, shift)
        csr = torch.sparse_csr_tensor(
            self.pattern.crow,
            self.pattern.col,
            self.values.detach(),
            self.shape,
            check_invariants=False,
        )
        # The reduction form is faster on the CPU.
        on_cpu = dense.device.type == "cpu"
        product: Tensor = torch.sparse.mm(csr, dense, "sum") if on_cpu else csr @ dense
        return product.add_(dense, alpha=shift) if shift else product

    def chain(self, inner: SparseMatrix, dense: Tensor, shift: float = 0.0) -> Tensor:
        """Multiply by (``inner`` plus ``shift`` times the identity) @ ``dense``; no gradients."""
        _check(inner, dense)
        if self.shape[1] != inner.shape[0]:
            raise InputError(
                f"cannot multiply {list(self.shape)} by {list(inner.shape)}, "
                f"expected {self.shape[1]} rows"
            )
        if jit.available(self.values, inner.values, dense):
            dense, width = dense.contiguous(), dense.size(1)
            pair = self._matrix(width, chained=True), inner._matrix(width, chained=True)
            return kernels.chain(*pair, dense, shift)
        return self.product(inner.product(dense, shift))

    def _matrix(self, width: int, chained: bool = False) -> kernels.Matrix:
        entries = self.pattern.entries(width, chained)
        if entries.block not in self._ordered:
            self._ordered[entries.block] = self.values.detach()[entries.order]
        return entries, self._ordered[entries.block]

    @cached_property
    def transpose(self) -> SparseMatrix:
        """Transpose, without gradients; cached."""
        values = self.values.detach()[self.pattern.transpose_order]
        return SparseMatrix(self.pattern.transpose, values)

    def __matmul__(self, dense: Tensor) -> Tensor:
        result: Tensor = _Product.apply(self.values, dense, self)
        return result


class _Product(torch.autograd.Function):
    """Product A @ H, with a cached transpose of A for the gradient of H.

    A gradient that may be differentiated again is computed by functions of torch.
    """

    @staticmethod
    def forward(ctx: Any, values: Tensor, dense: Tensor, matrix: SparseMatrix) -> Tensor:
        ctx.matrix = matrix
        learned = ctx.needs_input_grad[0]
        ctx.save_for_backward(*((values, dense) if learned else (None, None)))
        return matrix.product(dense.contiguous())

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        pattern, (values, dense) = ctx.matrix.pattern, ctx.saved_tensors
        grad_values = grad_dense = None
        if torch.is_grad_enabled():  # with create_graph=True
            given = grads[0].index_select(0, pattern.row)
            if ctx.needs_input_grad[0]:
                grad_values = (given * dense.index_select(0, pattern.col)).sum(dim=1)
            if ctx.needs_input_grad[1]:
                factor = ctx.matrix.values.detach() if values is None else values
                zeros = grads[0].new_zeros(pattern.shape[1], grads[0].size(1))
                grad_dense = zeros.index_add(0, pattern.col, factor[:, None] * given)
            return grad_values, grad_dense, None
        grad = grads[0].contiguous()
        if ctx.needs_input_grad[0]:
            grad_values = pattern.sampled_product(grad, dense)
        if ctx.needs_input_grad[1]:
            grad_dense = ctx.matrix.transpose.product(grad)
        return grad_values, grad_dense, None


def normalised_adjacency(pattern: Pattern, dtype: torch.dtype) -> SparseMatrix:
    r"""The normalised adjacency :math:`D^{-1/2} (A + I) D^{-1/2}` of unweighted edges."""
    pattern = pattern.with_self_loops
    scale = 1.0 / pattern.crow.diff().to(dtype).sqrt()
    return SparseMatrix(pattern, scale[pattern.row] * scale[pattern.col])


def sampled_product(left: Tensor, right: Tensor, pattern: Pattern) -> Tensor:
    """Compute ``left @ right.T`` at the entries of a pattern, with gradients for both."""
    result: Tensor = _SampledProduct.apply(left, right, pattern)
    return result


class _SampledProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, pattern: Pattern) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(left, right)
        return pattern.sampled_product(left, right)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        left, right = ctx.saved_tensors
        matrix = SparseMatrix(ctx.pattern, grads[0].contiguous())
        return (
            matrix.product(right.contiguous()),
            matrix.transpose.product(left.contiguous()),
            None,
        )


def shifted_product(matrix: SparseMatrix, shift: Tensor, dense: Tensor) -> Tensor:
    r"""Multiply :math:`A + s I` by a dense matrix, with gradients for it and for :math:`s`.

    Example:
        >>> path = SparseMatrix.from_tensor(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
        >>> shifted_product(path, torch.tensor(3.0), torch.tensor([[1.0], [2.0]]))
        tensor([[5.],
                [7.]])
    """
    if matrix.values.requires_grad:
        return matrix @ dense + shift * dense
    result: Tensor = _ShiftedProduct.apply(dense, shift, matrix)
    return result


class _ShiftedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, shift: Tensor, matrix: SparseMatrix) -> Tensor:
        dense = dense.contiguous()
        ctx.matrix, ctx.shift = matrix, float(shift)
        ctx.save_for_backward(dense)
        return matrix.product(dense, ctx.shift)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        (dense,), grad = ctx.saved_tensors, grads[0].contiguous()
        grad_shift = torch.dot(grad.view(-1), dense.view(-1))
        return ctx.matrix.transpose.product(grad, ctx.shift), grad_shift, None


def chain_product(
    matrix: SparseMatrix, shift: Tensor | None, features: SparseMatrix, weight: Tensor
) -> Tensor:
    r"""Multiply :math:`(A + s I) (X W)` with gradients for :math:`W` and :math:`s`.

    The gradient :math:`X^\top ((A + s I)^\top G)` and :math:`A (X W)` are computed a slice of
    columns at a time, so that the intermediate product stays in the cache.

    Example:
        >>> path = SparseMatrix.from_tensor(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
        >>> features, weight = SparseMatrix.from_tensor(torch.eye(2)), torch.tensor([[1.0], [2.0]])
        >>> chain_product(path, None, features, weight)
        tensor([[2.],
                [1.]])
    """
    result: Tensor = _ChainProduct.apply(weight, shift, matrix, features)
    return result


class _ChainProduct(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, weight: Tensor, shift: Tensor | None, matrix: SparseMatrix, features: SparseMatrix
    ) -> Tensor:
        weight = weight.contiguous()
        ctx.matrix, ctx.features = matrix, features
        ctx.shift = 0.0 if shift is None else float(shift)
        if shift is None:
            return matrix.chain(features, weight)
        product = features.product(weight)
        ctx.save_for_backward(product)
        return matrix.product(product, ctx.shift)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, None, None]:
        grad, grad_shift = grads[0].contiguous(), None
        if ctx.needs_input_grad[1]:
            grad_shift = torch.dot(grad.view(-1), ctx.saved_tensors[0].view(-1))
        features, matrix = ctx.features.transpose, ctx.matrix.transpose
        return features.chain(matrix, grad, ctx.shift), grad_shift, None, None


def narrow_product(dense: Tensor, weight: Tensor) -> Tensor:
    """Return ``dense @ weight`` of a tall matrix, with a faster gradient for a narrow weight."""
    if 4 * weight.size(1) > weight.size(0):
        return dense @ weight
    result: Tensor = _NarrowProduct.apply(dense, weight)
    return result


class _NarrowProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(dense, weight)
        return dense @ weight

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor]:
        dense, weight = ctx.saved_tensors
        grad_dense = grads[0] @ weight.t() if ctx.needs_input_grad[0] else None
        return grad_dense, (grads[0].t() @ dense).t()


def _check(matrix: SparseMatrix, dense: Tensor) -> None:
    """Raise unless shapes and types match: the kernels check nothing."""
    if dense.dim() != 2 or matrix.shape[1] != dense.size(0):
        shape = list(dense.shape)
        rows = matrix.shape[1]
        raise InputError(f"cannot multiply {list(matrix.shape)} by {shape}, expected {rows} rows")
    if matrix.values.dtype != dense.dtype:
        raise InputError(f"cannot multiply {matrix.values.dtype} by {dense.dtype}")
