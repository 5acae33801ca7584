"""Features of few non-zeros, whose products with dense matrices use these only.

Within an accelerated module they are a tensor that is the dense one to all functions but linear
layers. Nothing is computed later than it is asked for.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from teddy.data.features import SPARSE_BELOW
from teddy.kernels import jit
from teddy.kernels.hidden import dropout
from teddy.kernels.sparse import SparseMatrix
from teddy.tensors import TensorCache

# Smaller tensors are not worth it.
_LEAST = 1 << 14


class SparseInput(Tensor):
    """Dense features that know their sparse matrix.

    Example:
        >>> x = torch.tensor([[0.0, 2.0], [0.0, 0.0]])
        >>> features = SparseInput.make(x, SparseMatrix.from_tensor(x))
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
    def make(x: Tensor, matrix: SparseMatrix) -> SparseInput:
        """Make a tensor of dense features and the same as a sparse matrix."""
        made: Any = Tensor._make_wrapper_subclass(
            SparseInput, tuple(x.shape), dtype=x.dtype, device=x.device
        )
        made.x, made.matrix, made.version = x, matrix, x._version
        result: SparseInput = made
        return result

    def product(self, weight: Any) -> Tensor | None:
        """Multiply by a dense matrix; None: not supported."""
        known: Any = self
        if self.x.requires_grad or self.x._version != known.version:
            return None
        if not isinstance(weight, Tensor) or isinstance(weight, SparseInput) or weight.dim() != 2:
            return None
        if weight.dtype != self.x.dtype or not jit.available(weight) or runs_plainly():
            return None
        if weight.layout != torch.strided or weight.size(0) != self.x.size(1):
            return None
        return self.matrix @ weight

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Compute a linear layer of sparse features, or any other function of dense ones."""
        kwargs = kwargs or {}
        rule = _RULES.get(func)
        out = None if rule is None else rule(*args, **kwargs)
        return func(*entries_of(args), **entries_of(kwargs)) if out is None else out

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Compute with dense features what did not come through ``__torch_function__``."""
        return func(*entries_of(args), **entries_of(kwargs or {}))


class FastDropout(TorchFunctionMode):
    """Draws dropout by a compiled hash, within its block."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Apply the faster dropout, or the function itself."""
        kwargs = kwargs or {}
        if func is F.dropout:
            out = _dropout(*args, **kwargs)
            if out is not None:
                return out
        return func(*args, **kwargs)


class SparseMatrices:
    """Sparse matrices of features of few non-zeros, made once for each tensor."""

    def __init__(self) -> None:
        self._known = TensorCache()

    def __reduce__(self) -> tuple[type[SparseMatrices], tuple[()]]:
        """Copy and pickle without matrices."""
        return SparseMatrices, ()

    def replace(self, value: Any) -> Any:
        """Return features of few non-zeros as :class:`SparseInput`; all else unchanged."""
        if type(value) is not Tensor or not _is_large_matrix(value) or value.requires_grad:
            return value
        found = self._known.get(value, "sparse")
        total = float(value.sum())
        # A change through .data or NumPy does not count as a new version.
        if found is None or found[0] != total:
            few = int(torch.count_nonzero(value)) < SPARSE_BELOW * value.numel()
            found = total, SparseMatrix.from_tensor(value.detach()) if few else None
            self._known.put(value, "sparse", found)
        return value if found[1] is None else SparseInput.make(value, found[1])


def runs_plainly() -> bool:
    """Return whether the pass runs as in PyG, since torch transforms, traces or repeats it."""
    # A checkpoint, whose part of the forward is repeated in the backward, saves tensors by hooks.
    hooks = torch._C._autograd._top_saved_tensors_default_hooks(True)
    return bool(
        hooks is not None
        or torch.compiler.is_compiling()
        or torch._C._get_tracing_state() is not None
        or torch.is_autocast_enabled("cpu")
        or torch._C._are_functorch_transforms_active()
        or torch.autograd.forward_ad._current_level >= 0
    )


def entries_of(value: Any) -> Any:
    """Replace sparse features by dense ones, also in tuples, lists and dictionaries."""
    if isinstance(value, SparseInput):
        return value.x
    if isinstance(value, tuple | list):
        parts = [entries_of(part) for part in value]
        if all(one is other for one, other in zip(parts, value, strict=True)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        changed = {k: entries_of(v) for k, v in value.items()}
        if all(changed[key] is part for key, part in value.items()):
            return value
        result = copy.copy(value)
        result.update(changed)
        return result
    return value


def _linear(x: Any, weight: Any, bias: Any = None) -> Tensor | None:
    if not isinstance(x, SparseInput) or not isinstance(weight, Tensor):
        return None
    product = x.product(weight.t()) if weight.dim() == 2 else None
    return product if product is None or bias is None else product + bias


def _matmul(x: Any, weight: Any, **given: Any) -> Tensor | None:
    return x.product(weight) if isinstance(x, SparseInput) and not given else None


def _dropout(x: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    # Without gradients a checkpointed part of the forward is computed, which is repeated later.
    if not training or inplace or not 0 < p < 1 or not torch.is_grad_enabled():
        return None
    if type(x) is not Tensor or not _is_large_matrix(x) or runs_plainly():
        return None
    return dropout(x, p)


def _is_large_matrix(x: Tensor) -> bool:
    if x.dim() != 2 or x.numel() < _LEAST or x.layout != torch.strided:
        return False
    return jit.available(x) and not x.is_inference()


_T: Any = Tensor
_RULES: dict[Any, Callable[..., Any]] = {
    F.linear: _linear,
    torch.matmul: _matmul, torch.mm: _matmul, _T.matmul: _matmul, _T.mm: _matmul,
    _T.__matmul__: _matmul,
}  # fmt: skip
