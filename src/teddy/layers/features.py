r"""Tensors whose entries are computed late, so that a product can use what they are made of.

Within an accelerated module, features of few non-zeros are a sparse matrix :math:`X`; what a layer
makes of them before its weight is :math:`(A + c I) X`; hidden rows are
:math:`\mathrm{dropout}(\mathrm{ReLU}(Z))`. A linear layer uses these parts. Anything else that
reads such a tensor gets its entries.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from teddy.errors import InputError
from teddy.kernels import jit
from teddy.kernels.hidden import DropoutMask, Hidden, dropout
from teddy.kernels.sparse import SparseMatrix, chain_product

# Smaller tensors are not worth it.
_LEAST = 1 << 14


class LateTensor(Tensor):
    """A tensor whose entries are computed when something reads them."""

    _entries: Tensor | None

    @abstractmethod
    def compute(self) -> Tensor:
        """Compute the entries."""

    @abstractmethod
    def product(self, weight: Tensor) -> Tensor | None:
        """Multiply by a dense matrix without computing the entries; None: not supported."""

    def _made_from(self, part: Tensor) -> None:
        """Remember a tensor that the entries are computed from."""
        if not isinstance(part, LateTensor):
            self._part, self._version_of_part = part, part._version

    def check_unchanged(self) -> None:
        """Raise if a tensor that the entries are computed from was changed in place."""
        part = getattr(self, "_part", None)
        if part is not None and part._version != self._version_of_part:
            raise InputError(
                "a tensor was changed in place after its ReLU or its sum of messages, expected an "
                "operation that returns a new tensor; or run without kernels, TEDDY_KERNELS=off"
            )

    def dense(self) -> Tensor:
        """Return the entries, computed once."""
        if self._entries is None:
            self.check_unchanged()
            with torch._C.DisableTorchFunction():
                self._entries = self.compute()
        return self._entries

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Compute a known function of such tensors, or any other of their entries."""
        kwargs = kwargs or {}
        if func in _PLAIN:
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **kwargs)
        out = _apply_rule(func, args, kwargs)
        return func(*entries_of(args), **entries_of(kwargs)) if out is None else out

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Compute with the entries what did not come through ``__torch_function__``."""
        return func(*entries_of(args), **entries_of(kwargs or {}))


class SparseInput(LateTensor):
    r"""Features :math:`X` with few non-zeros.

    Attributes:
        x: Dense features.
        matrix: The same as a sparse matrix.

    Example:
        >>> features = SparseInput.make(torch.tensor([[0.0, 2.0], [0.0, 0.0]]))
        >>> F.linear(features, torch.ones(1, 2), torch.ones(1))
        tensor([[3.],
                [1.]])
        >>> features + 1
        tensor([[1., 3.],
                [1., 1.]])
    """

    x: Tensor
    matrix: SparseMatrix

    @staticmethod
    def make(x: Tensor) -> SparseInput:
        """Make a tensor of dense features."""
        made: SparseInput = _wrapper(SparseInput, tuple(x.shape), x)
        made.x, made.matrix = x, SparseMatrix.from_tensor(x)
        made._version_of_x = x._version  # type: ignore[attr-defined]
        return made

    @property
    def is_fresh(self) -> bool:
        """Whether the features are still those of the sparse matrix."""
        return bool(self.x._version == self._version_of_x)  # type: ignore[attr-defined]

    def dense(self) -> Tensor:
        """Return the features."""
        return self.x

    def compute(self) -> Tensor:
        """Return the features."""
        return self.x

    def product(self, weight: Tensor) -> Tensor | None:
        """Multiply by a dense matrix."""
        return self.matrix @ weight if self.is_fresh else None


class Combination(LateTensor):
    r"""The tensor :math:`(A + c I) H`.

    Attributes:
        rows: :math:`H`.
        left: :math:`A`; None: 0.
        shift: :math:`c`; None: 0.

    Example:
        >>> rows = torch.tensor([[1.0, 2.0], [3.0, 0.0]])
        >>> swap = SparseMatrix.from_tensor(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
        >>> F.linear(Combination.make(rows, swap, 2.0), torch.ones(1, 2))
        tensor([[9.],
                [9.]])
    """

    rows: Tensor
    left: SparseMatrix | None
    shift: Any

    @staticmethod
    def make(rows: Tensor, left: SparseMatrix | None, shift: Any = None) -> Combination:
        """Make a tensor of its attributes."""
        count = rows.size(0) if left is None else left.shape[0]
        made: Combination = _wrapper(Combination, (count, rows.size(1)), rows)
        made.rows, made.left, made.shift = rows, left, shift
        made._made_from(rows)
        return made

    def compute(self) -> Tensor:
        """Compute the entries."""
        return self._combine(self.rows.dense() if isinstance(self.rows, LateTensor) else self.rows)

    def product(self, weight: Tensor) -> Tensor | None:
        """Multiply by a dense matrix first, where that leaves fewer columns to sum."""
        rows, left = self.rows, self.left
        if self._entries is not None:
            return None
        if isinstance(rows, SparseInput):
            if not rows.is_fresh:
                return None
            if left is not None and not left.values.requires_grad:
                shift = self.shift
                if shift is not None and not isinstance(shift, Tensor):
                    shift = torch.tensor(float(shift), dtype=weight.dtype)
                return chain_product(left, shift, rows.matrix, weight)
        elif weight.size(1) >= rows.size(1):
            return None
        product = rows.product(weight) if isinstance(rows, LateTensor) else None
        if product is None:
            product = (rows.dense() if isinstance(rows, LateTensor) else rows) @ weight
        return self._combine(product)

    def _combine(self, rows: Tensor) -> Tensor:
        if self.left is None:
            return self.shift * rows  # type: ignore[no-any-return]
        total = self.left @ rows
        return total if self.shift is None else total + self.shift * rows


class Projected(LateTensor):
    r"""The tensor :math:`X W`.

    Attributes:
        x: Sparse features.
        weight: :math:`W`.

    Example:
        >>> features = SparseInput.make(torch.tensor([[0.0, 2.0], [0.0, 0.0]]))
        >>> Projected.make(features, torch.ones(2, 1)) + 1
        tensor([[3.],
                [1.]])
    """

    x: SparseInput
    weight: Tensor

    @staticmethod
    def make(x: SparseInput, weight: Tensor) -> Projected:
        """Make a tensor of its attributes."""
        made: Projected = _wrapper(Projected, (x.size(0), weight.size(1)), weight)
        made.x, made.weight = x, weight
        return made

    @property
    def is_late(self) -> bool:
        """Whether nothing has read the entries, and the features are unchanged."""
        return self._entries is None and self.x.is_fresh

    def compute(self) -> Tensor:
        """Compute the entries."""
        product = self.x.product(self.weight)
        return self.x.dense() @ self.weight if product is None else product

    def product(self, weight: Tensor) -> Tensor | None:
        """Multiply by a dense matrix: not supported."""
        return None


class HiddenRows(LateTensor):
    r"""The tensor :math:`\mathrm{dropout}(\mathrm{ReLU}(Z))`.

    Attributes:
        z: Rows before the activation.
        mask: Dropped entries; None: none.

    Example:
        >>> hidden = HiddenRows.make(torch.tensor([[1.0, -1.0]]), None)
        >>> F.linear(hidden, torch.ones(1, 2)), hidden + 0
        (tensor([[1.]]), tensor([[1., 0.]]))
    """

    z: Tensor
    mask: DropoutMask | None

    @staticmethod
    def make(z: Tensor, mask: DropoutMask | None) -> HiddenRows:
        """Make a tensor of its attributes."""
        made: HiddenRows = _wrapper(HiddenRows, tuple(z.shape), z)
        made.z, made.mask = z, mask
        made._made_from(z)
        return made

    def hidden(self) -> Hidden:
        """The rows as a factor of a product."""
        made = Hidden(self.z, 0.0)
        made.mask = self.mask
        return made

    def compute(self) -> Tensor:
        """Compute the entries."""
        return self.hidden().activated()

    def product(self, weight: Tensor) -> Tensor | None:
        """Multiply by a dense matrix."""
        return self.hidden() @ weight if self._entries is None else None


class Late(TorchFunctionMode):
    """Computes ReLU, dropout, sums of messages and linear layers late, within its block."""

    _blocks = threading.local()

    def __enter__(self) -> Any:
        self._blocks.count = self.depth() + 1
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        self._blocks.count -= 1
        super().__exit__(*error)

    @staticmethod
    def depth() -> int:
        """Return in how many such blocks the thread is."""
        return int(getattr(Late._blocks, "count", 0))

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Apply a rule, or the function itself."""
        kwargs = kwargs or {}
        out = _apply_rule(func, args, kwargs)
        return func(*args, **kwargs) if out is None else out


def aggregate(matrix: SparseMatrix, rows: Tensor) -> Tensor:
    """Multiply by the matrix of messages, in a :class:`Late` block once something reads it."""
    if isinstance(rows, Projected) and rows.is_late and not matrix.values.requires_grad:
        return chain_product(matrix, None, rows.x.matrix, rows.weight)
    if isinstance(rows, Projected | Combination):
        rows = rows.dense()
    if Late.depth():
        return Combination.make(rows, matrix)
    return matrix @ (rows.dense() if isinstance(rows, LateTensor) else rows)


def entries_of(value: Any) -> Any:
    """Replace late tensors by their entries, also in lists, tuples and dictionaries."""
    if isinstance(value, LateTensor):
        return value.dense()
    if isinstance(value, tuple | list):
        parts = [entries_of(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {key: entries_of(part) for key, part in value.items()}
    return value


def _wrapper(kind: Any, size: tuple[int, ...], like: Tensor) -> Any:
    made = Tensor._make_wrapper_subclass(
        kind, size, dtype=like.dtype, device=like.device, requires_grad=False
    )
    made._entries = None
    return made


def _apply_rule(func: Any, args: Any, kwargs: Any) -> Any:
    rule = _RULES.get(func)
    if rule is None:
        return None
    try:
        return rule(*args, **kwargs)
    except TypeError:  # arguments that the rule does not know
        return None


def _linear(x: Any, weight: Any, bias: Any = None) -> Tensor | None:
    if not _multiplies(x, weight):
        return None
    if bias is None and isinstance(x, SparseInput) and x.is_fresh:
        return Projected.make(x, weight.t())
    product: Tensor | None = x.product(weight.t())
    return product if product is None or bias is None else product + bias


def _matmul(x: Any, weight: Any) -> Tensor | None:
    return x.product(weight) if _multiplies(x, weight) else None


def _add(x: Any, other: Any) -> Tensor | None:
    """Add combinations of the same rows, A H + c H."""
    one, two = _parts(x), _parts(other)
    if one is None or two is None or one[0] is not two[0] or x.shape != other.shape:
        return None
    if (one[1] is None) == (two[1] is None):
        return None
    shifts = [shift for shift in (one[2], two[2]) if shift is not None]
    return Combination.make(one[0], two[1] if one[1] is None else one[1], sum(shifts))


def _parts(x: Any) -> tuple[Tensor, SparseMatrix | None, Any] | None:
    """Return H, A and c of a tensor that is or may be a combination."""
    if isinstance(x, Combination):
        return None if x._entries is not None else (x.rows, x.left, x.shift)
    return (x, None, 1.0) if isinstance(x, Tensor) and x.dim() == 2 else None


def _scale(x: Any, other: Any) -> Tensor | None:
    """Multiply late rows by a number."""
    rows, number = (x, other) if isinstance(x, LateTensor) else (other, x)
    if not isinstance(rows, SparseInput | HiddenRows) or isinstance(number, LateTensor):
        return None
    if isinstance(number, Tensor):
        if number.numel() != 1 or number.dim() > 1 or number.dtype != rows.dtype:
            return None
        return Combination.make(rows, None, number.reshape(()))
    return Combination.make(rows, None, float(number)) if isinstance(number, float | int) else None


def _relu(x: Any, inplace: bool = False) -> Tensor | None:
    if inplace or type(x) is not Tensor or not _is_large_matrix(x):
        return None
    return HiddenRows.make(x, None)


def _dropout(x: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    if not training or p == 0:
        return x if isinstance(x, HiddenRows) else None
    if inplace or not 0 < p < 1:
        return None
    if isinstance(x, HiddenRows) and x.mask is None and x._entries is None:
        return HiddenRows.make(x.z, DropoutMask.draw(p))
    if type(x) is Tensor and _is_large_matrix(x):
        return dropout(x, p)
    return None


def _is_large_matrix(x: Tensor) -> bool:
    if x.dim() != 2 or x.numel() < _LEAST or x.layout != torch.strided:
        return False
    return jit.available(x) and not x.is_inference()


def _multiplies(x: Any, weight: Any) -> bool:
    if not isinstance(x, LateTensor) or isinstance(weight, LateTensor):
        return False
    x.check_unchanged()
    matrix = isinstance(weight, Tensor) and weight.dim() == 2 and weight.dtype == x.dtype
    return matrix and weight.layout == torch.strided and jit.available(weight)


_T: Any = Tensor
_RULES: dict[Any, Callable[..., Any]] = {
    F.linear: _linear,
    torch.matmul: _matmul, torch.mm: _matmul, _T.matmul: _matmul, _T.mm: _matmul,
    _T.__matmul__: _matmul,
    torch.add: _add, _T.add: _add, _T.__add__: _add,
    torch.mul: _scale, _T.mul: _scale, _T.__mul__: _scale, _T.__rmul__: _scale,
    F.relu: _relu, torch.relu: _relu, _T.relu: _relu,
    F.dropout: _dropout, torch.dropout: lambda x, p, train: _dropout(x, p, train),
}  # fmt: skip

#: Functions that read no entries.
_PLAIN = {
    _T.size, _T.dim, _T.numel, _T.stride, _T.is_floating_point, _T.is_complex, _T.__len__,
    *(getattr(_T, name).__get__ for name in (
        "shape", "dtype", "device", "layout", "ndim", "is_sparse", "is_cuda", "is_nested",
    )),
}  # fmt: skip
