"""Products of a layer: inputs times a dense or sparse weight, then aggregation over edges."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from teddy.kernels import jit
from teddy.kernels.hidden import Hidden
from teddy.kernels.sparse import SparseMatrix, chain_product, narrow_product, shifted_product

Array = NDArray[Any]
Input = Tensor | SparseMatrix | Hidden

# Below this share of zeros a dense product has never been slower than a sparse one.
_MIN_ZEROS = 0.8
# Timed passes of each.
_REPEATS = 3


class SparseWeight:
    """Sparse weight ``[in, out]`` for inference: products use its non-zero entries only.

    Example:
        >>> weight = SparseWeight(torch.tensor([[0.0, 2.0], [0.0, 0.0]]))
        >>> weight.left_product(torch.tensor([[3.0, 1.0]]))
        tensor([[0., 6.]])
    """

    def __init__(self, weight: Tensor) -> None:
        self.rows = SparseMatrix.from_tensor(weight.detach())
        self.columns = SparseMatrix.from_tensor(weight.detach().t())

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return self.rows.pattern.nnz

    def left_product(self, h: Tensor | SparseMatrix) -> Tensor:
        """Return ``h @ weight``."""
        if isinstance(h, Tensor):
            return self.columns.product(h.t().contiguous()).t().contiguous()
        if not jit.available(h.values, self.rows.values):
            return h.product(self.rows.product(torch.eye(self.rows.shape[1]).to(h.values)))
        out = jit.empty(h.shape[0], self.rows.shape[1], h.values)
        factors = [_arrays(matrix) for matrix in (h, self.rows)]
        jit.run_parts(_multiply, [(*p, *factors, out.numpy()) for p in jit.split(h.shape[0], 256)])
        return out


def multiply(h: Input, weight: Tensor | SparseWeight) -> Tensor:
    """Multiply features, sparse or dense, or hidden units by a weight."""
    if isinstance(weight, SparseWeight):
        return weight.left_product(h.activated() if isinstance(h, Hidden) else h)
    return narrow_product(h, weight) if isinstance(h, Tensor) else h @ weight


def multiply_both(h: Input, first: Tensor, second: Tensor | SparseWeight) -> tuple[Tensor, Tensor]:
    """Multiply by two weights; by one product if both are dense."""
    if isinstance(second, SparseWeight):
        return multiply(h, first), multiply(h, second)
    widths = [first.size(1), second.size(1)]
    products = multiply(h, torch.cat([first, second], dim=1)).split(widths, dim=1)
    return products[0], products[1]


def propagate(
    adjacency: SparseMatrix, h: Input, weight: Tensor | SparseWeight, shift: Tensor | None = None
) -> Tensor:
    """Multiply before aggregating: :math:`(A + s I) (H W)`, without a shift :math:`A (H W)`."""
    learned = adjacency.values.requires_grad
    if (
        isinstance(h, SparseMatrix)
        and isinstance(weight, Tensor)
        and not (learned or h.values.requires_grad)
    ):
        return chain_product(adjacency, shift, h, weight)
    g = multiply(h, weight)
    return adjacency @ g if shift is None else shifted_product(adjacency, shift, g)


def choose_products(model: Any, run: Callable[[], object]) -> None:
    """Replace each weight of a model by a :class:`SparseWeight` if a pass is then faster.

    Args:
        model: A model for inference; ``PRODUCTS`` names the lists of weights to try.
        run: The pass to time.
    """
    for name in getattr(model, "PRODUCTS", ()):
        weights = getattr(model, name)
        for index, weight in enumerate(weights):
            zeros = weight.numel() - int(torch.count_nonzero(weight))
            if zeros < _MIN_ZEROS * weight.numel():
                continue
            choices = (weight, SparseWeight(weight))
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(_REPEATS + 1):
                for choice, seconds in zip(choices, times, strict=True):
                    replace_weight(weights, index, choice)
                    started = time.perf_counter()
                    run()
                    if weight.is_cuda:
                        torch.cuda.synchronize(weight.device)
                    seconds.append(time.perf_counter() - started)
            # The first pass compiles and warms up.
            dense, sparse = (min(seconds[1:]) for seconds in times)
            replace_weight(weights, index, choices[sparse < dense])


def replace_weight(weights: Any, index: int, weight: Any) -> None:
    """Replace a weight in a list of parameters by a dense or sparse one."""
    # A ParameterList takes any value, but not in the place of a parameter.
    delattr(weights, str(index))
    setattr(weights, str(index), weight)


def _arrays(matrix: SparseMatrix) -> tuple[Array, Array, Array]:
    pattern = matrix.pattern
    return pattern.crow.numpy(), pattern.col.numpy(), matrix.values.detach().numpy()


@jit.compiled
def _multiply(first: int, last: int, left: Any, right: Any, out: Array) -> None:
    """Compute rows of the dense product of two sparse matrices."""
    crow, col, values = left
    offsets, outputs, weights = right
    for i in range(first, last):
        row = out[i]
        row[:] = 0
        for e in range(crow[i], crow[i + 1]):
            for k in range(offsets[col[e]], offsets[col[e] + 1]):
                row[outputs[k]] += values[e] * weights[k]
