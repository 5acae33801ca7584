"""The products of a layer: inputs times a weight, dense or sparse, then along the edges."""

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
_WORTH_A_LOOK = 0.8
# Timed passes of each.
_TURNS = 3


class SparseWeight:
    """A weight ``[in, out]`` with few entries, multiplied by its entries alone; for inference.

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
        """Multiply ``h`` with it."""
        if isinstance(h, Tensor):
            return self.columns.product(h.t().contiguous()).t().contiguous()
        if not jit.available(h.values, self.rows.values):
            return h.product(self.rows.product(torch.eye(self.rows.shape[1]).to(h.values)))
        out = jit.empty(h.shape[0], self.rows.shape[1], h.values)
        factors = [_arrays(matrix) for matrix in (h, self.rows)]
        jit.run_parts(_multiply, [(*p, *factors, out.numpy()) for p in jit.split(h.shape[0], 256)])
        return out


def multiply(h: Input, weight: Tensor | SparseWeight) -> Tensor:
    """Multiply features, sparse or dense, or hidden units with a weight."""
    if isinstance(weight, SparseWeight):
        return weight.left_product(h.activated() if isinstance(h, Hidden) else h)
    return narrow_product(h, weight) if isinstance(h, Tensor) else h @ weight


def multiply_both(h: Input, first: Tensor, second: Tensor | SparseWeight) -> tuple[Tensor, Tensor]:
    """Multiply with two weights; where both are dense, by one product."""
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
    """Make those weights of a model sparse with which a pass is faster, one after the other.

    Args:
        model: A model of layers, for inference: its ``PRODUCTS`` are the weights that can be.
        run: A pass over the inputs that count.
    """
    for name in getattr(model, "PRODUCTS", ()):
        weights = getattr(model, name)
        for index, weight in enumerate(weights):
            zeros = weight.numel() - int(torch.count_nonzero(weight))
            if zeros < _WORTH_A_LOOK * weight.numel():
                continue
            ways = (weight, SparseWeight(weight))
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(_TURNS + 1):
                for way, seen in zip(ways, times, strict=True):
                    replace_weight(weights, index, way)
                    started = time.perf_counter()
                    run()
                    if weight.is_cuda:
                        torch.cuda.synchronize(weight.device)
                    seen.append(time.perf_counter() - started)
            dense, sparse = (min(seen[1:]) for seen in times)  # the first compiles and warms up
            replace_weight(weights, index, ways[sparse < dense])


def replace_weight(weights: Any, index: int, weight: Any) -> None:
    """Put a weight, dense or sparse, into a list of parameters."""
    # A list of parameters takes anything, but not in a parameter's place.
    delattr(weights, str(index))
    setattr(weights, str(index), weight)


def _arrays(matrix: SparseMatrix) -> tuple[Array, Array, Array]:
    pattern = matrix.pattern
    return pattern.crow.numpy(), pattern.col.numpy(), matrix.values.detach().numpy()


@jit.compiled
def _multiply(first: int, last: int, left: Any, right: Any, out: Array) -> None:
    """Rows of a product of two sparse matrices, which is dense."""
    crow, col, values = left
    offsets, outputs, weights = right
    for i in range(first, last):
        row = out[i]
        row[:] = 0
        for e in range(crow[i], crow[i + 1]):
            for k in range(offsets[col[e]], offsets[col[e] + 1]):
                row[outputs[k]] += values[e] * weights[k]
