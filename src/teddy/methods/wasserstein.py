"""Wasserstein term of WD-GLT: distance between the outputs of each class and the rest."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from teddy.errors import InputError
from teddy.kernels import jit
from teddy.kernels.sinkhorn import (
    LANES,
    Cloud,
    Guide,
    explore,
    pull,
    soft_minima,
    transport,
)
from teddy.sparsity import check_count

Array = NDArray[Any]

# Terms below exp(-this) of the largest are dropped, by bytes of the input's dtype.
_CUT = {4: 30.0, 8: 46.0}


def sinkhorn_distance(
    x: Tensor, y: Tensor, eps: float = 1e-3, iterations: int = 10, stop: float = 1e-5
) -> Tensor:
    r"""Transport cost between two point clouds after some Sinkhorn iterations.

    With :math:`C_{ij} = \|x_i - y_j\|_2` and, from :math:`f = 0`, in log domain,

    .. math::
        g_j \leftarrow -\epsilon \log m - \epsilon \log \sum_i e^{(f_i - C_{ij}) / \epsilon}, \quad
        f_i \leftarrow -\epsilon \log n - \epsilon \log \sum_j e^{(g_j - C_{ij}) / \epsilon},

    it is :math:`\langle P, C \rangle` of :math:`P_{ij} = e^{(f_i + g_j - C_{ij}) / \epsilon}`, as
    of POT's ``ot.sinkhorn(a, b, C, eps, method="sinkhorn_log")`` with uniform weights. The gradient
    is that of the iterations as they are, converged or not; where two points coincide, 0.

    At convergence :math:`P` minimises :math:`\langle P, C \rangle - \epsilon H(P)` (`Cuturi, 2013
    <https://arxiv.org/abs/1306.0895>`_) over all plans, whose entropies lie between
    :math:`\log \max(n, m)` and :math:`\log n + \log m`: so it exceeds the Wasserstein distance by
    0 to :math:`\epsilon \log \min(n, m)`.

    Compiled kernels need a quarter of a byte for each pair of points; without them, or on another
    device than a CPU, POT computes. Both use double precision: a distance of 5 in single precision
    is off by up to 2e-7, which at the default ``eps`` changes all weights and some gradients.

    Args:
        x: Points ``[n, d]``.
        y: Points ``[m, d]``.
        eps: Strength of the entropic term.
        iterations: Maximum number of updates of :math:`g` and :math:`f`.
        stop: Tolerance: after iterations 1, 11, 21, ... stop if the columns of :math:`P` miss
            their weights by less, in 2-norm.

    Example:
        >>> x = torch.tensor([[0.0], [1.0]], requires_grad=True)
        >>> distance = sinkhorn_distance(x, torch.tensor([[3.0], [2.0]]))
        >>> distance
        tensor(2., grad_fn=<...>)
        >>> distance.backward()
        >>> x.grad.flatten()
        tensor([-0.5000, -0.5000])
    """
    for name, points in (("x", x), ("y", y)):
        _check_points(name, points)
    if x.size(1) != y.size(1) or x.dtype != y.dtype or x.device != y.device:
        raise InputError(
            f"x is {list(x.shape)} of {x.dtype} on {x.device}, y is {list(y.shape)} of {y.dtype} "
            f"on {y.device}, expected the same except for the number of rows"
        )
    settings = _checked(eps, iterations, stop)
    if not jit.available(x, y):
        return _by_pot(x, y, *settings)
    is_x = torch.arange(x.size(0) + y.size(0)) < x.size(0)
    return _compiled(torch.cat([x, y]), is_x.unsqueeze(0).numpy(), settings)


def class_separation(
    logits: Tensor, eps: float = 1e-3, iterations: int = 10, stop: float = 1e-5
) -> Tensor:
    r"""Sum of the distances between each class, by argmax, and all other rows.

    .. math::
        \sum_c \mathrm{WD}(Z^c, Z^{\bar c}), \quad
        Z^c = \{ z_i : \mathrm{argmax}(z_i) = c \}, \quad
        Z^{\bar c} = \{ z_i : \mathrm{argmax}(z_i) \neq c \}

    The term :math:`\mathcal R` of `WD-GLT <https://arxiv.org/abs/2305.02190>`_ is minus this, as
    the TEDDY paper reproduces it. A class of no row or of all rows adds 0.

    Args:
        logits: ``[N, C]``.
        eps: See :func:`sinkhorn_distance`.
        iterations: See :func:`sinkhorn_distance`.
        stop: See :func:`sinkhorn_distance`.

    Example:
        >>> class_separation(torch.tensor([[4.0, 0.0], [3.0, 0.0], [0.0, 3.0]]))
        tensor(9.2426)
    """
    _check_points("logits", logits)
    settings = _checked(eps, iterations, stop)
    members = logits.argmax(dim=1) == torch.arange(logits.size(1), device=logits.device).view(-1, 1)
    members = members[members.any(dim=1) & ~members.all(dim=1)]
    if jit.available(logits):
        return _compiled(logits, members.numpy(), settings)
    distances = [_by_pot(logits[inside], logits[~inside], *settings) for inside in members]
    return torch.stack(distances).sum() if distances else logits.sum() * 0


def separation_memory(
    num_nodes: int, num_classes: int, compiled: bool, iterations: int = 10
) -> int:
    """Maximum bytes of :func:`class_separation` and its backward pass.

    Args:
        num_nodes: Rows of the logits.
        num_classes: Columns of the logits.
        compiled: Whether compiled kernels compute, else POT.
        iterations: Maximum number of iterations.

    Example:
        >>> separation_memory(2708, 7, compiled=False) // 10**6
        1508
    """
    if compiled:  # of a class on each thread: points, gradients, potentials, bounds of blocks
        at_once = min(torch.get_num_threads(), num_classes)
        of_class = num_nodes * (72 * num_classes + 8 * (iterations + 8) + 2 * num_nodes // LANES)
        return at_once * of_class + num_nodes * (40 * num_classes + 32)
    pairs = num_nodes**2 * (num_classes - 1) // num_classes  # of all classes, if equally large
    return pairs * 8 * (2 * iterations + 10)


def _check_points(name: str, points: Tensor) -> None:
    if points.dim() != 2 or not points.numel() or not points.is_floating_point():
        raise InputError(
            f"{name} is {list(points.shape)} of {points.dtype}, expected a matrix of floats"
        )


def _checked(eps: float, iterations: int, stop: float) -> tuple[float, int, float]:
    if not 0 < eps < math.inf:
        raise InputError(f"eps is {eps}, expected a number above 0")
    if not 0 <= stop < math.inf:
        raise InputError(f"stop is {stop}, expected a number from 0")
    return float(eps), check_count(iterations, "iterations"), float(stop)


def _by_pot(x: Tensor, y: Tensor, eps: float, iterations: int, stop: float) -> Tensor:
    try:
        ot: Any = import_module("ot")
    except ImportError:
        raise InputError(
            "without compiled kernels the Wasserstein distance needs POT, found none: "
            "pip install 'teddy-glt[ot]'"
        ) from None
    dtype = torch.float32 if x.device.type == "mps" else torch.float64  # MPS has no double
    # A matrix product would lose the precision of short distances.
    cost = torch.cdist(x.to(dtype), y.to(dtype), compute_mode="donot_use_mm_for_euclid_dist")
    a, b = (cost.new_full((size,), 1 / size) for size in cost.shape)
    limits = {"numItermax": iterations, "stopThr": stop, "warn": False}
    plan = ot.sinkhorn(a, b, cost, eps, method="sinkhorn_log", **limits)
    total: Tensor = (plan * cost).sum()
    return total.to(x.dtype)


def _compiled(points: Tensor, members: Array, settings: tuple[float, int, float]) -> Tensor:
    """Sum of the distances between the members of each row of ``members`` and the others."""
    backward = torch.is_grad_enabled() and points.requires_grad
    total: Tensor = _Separation.apply(points, members, settings, backward)
    return total


class _Separation(torch.autograd.Function):
    """Value and gradient in one pass: the gradient is smaller than the saved tensors would be."""

    @staticmethod
    def forward(
        ctx: Any, points: Tensor, members: Array, settings: tuple[float, int, float], backward: bool
    ) -> Tensor:
        rows = points.detach().double().numpy()
        total, grad = 0.0, np.zeros(rows.shape)
        if np.isfinite(rows).all():
            centre = rows.mean(axis=0)
            scale = float(np.abs(rows - centre).max()) or 1.0
            rows = np.ascontiguousarray((rows - centre) / scale)  # kernels expect values in [-1, 1]
            order = _ordered(rows, np.arange(len(rows)))
            eps, iterations, stop = settings
            numbers = eps / scale, iterations, stop, _CUT[points.element_size()], backward
            parts = [(rows, order[m[order]], order[~m[order]], *numbers) for m in members]
            at_once = torch.get_num_threads()
            for first in range(0, len(parts), at_once):
                some = parts[first : first + at_once]
                for part, result in zip(some, jit.run_parts(_distance, some), strict=True):
                    total += result[0] * scale
                    grad[part[1]] += result[1]
                    grad[part[2]] += result[2]
        else:
            total, grad = math.nan, np.full(rows.shape, math.nan)
        ctx.grad = torch.from_numpy(grad).to(points.dtype) if backward else None
        return points.new_tensor(total)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, None, None, None]:
        return grads[0] * ctx.grad, None, None, None


def _distance(
    rows: Array, inside: Array, others: Array,
    epsilon: float, iterations: int, stop: float, cut: float, backward: bool,
) -> tuple[float, Array | float, Array | float]:  # fmt: skip
    """Distance between the rows inside a class and the others, and its gradients."""
    x, y = _cloud(rows[inside]), _cloud(rows[others])
    n, m, numbers = len(inside), len(others), (epsilon, cut)
    f, g = _potentials(iterations, x), _potentials(iterations, y)
    to_y, to_x = _guide(y, f[0]), _guide(x, g[1])
    last, means = iterations, np.empty(n)
    for k in range(1, iterations + 1):
        if k <= 2:  # again in the second iteration: f changes most in the first
            to_y = to_y._replace(reference=f[k - 1])
            explore(y, x, to_y)
        soft_minima(y, x, to_y, f[k - 1], *numbers, g[k])
        if k == 1:
            explore(x, y, to_x)
        soft_minima(x, y, to_x, g[k], *numbers, f[k])
        if k % 10 == 1 or k == iterations:
            shares = np.zeros(g.shape[1])
            transport(x, y, to_x, g[k], *numbers, f[k], shares, means)
            if k % 10 == 1 and np.linalg.norm(shares[:m] / n - 1 / m) < stop:
                last = k
                break
    distance = float(means.mean())
    if not backward:
        return distance, 0.0, 0.0
    x_rows, y_rows = np.zeros(x.rows.shape), np.zeros(y.rows.shape)
    x_columns, y_columns = np.zeros(x.columns.shape), np.zeros(y.columns.shape)
    # <P, C> = mean over i of sum_j W_ij C_ij, W_i = softmax_j((g_j - C_ij) / epsilon): its
    # derivative by C_ij is W_ij (1 - (C_ij - mean C_i) / epsilon) / n.
    slope, extra = -1 / (n * epsilon), 1 / n
    f_grad = -slope * means
    for k in range(last, 0, -1):
        g_grad = np.zeros(g.shape[1])
        pull(x, y, to_x, g[k], *numbers, f[k], f_grad, slope, extra, g_grad, x_rows, y_columns)
        f_grad = np.zeros(f.shape[1])
        pull(y, x, to_y, f[k - 1], *numbers, g[k], g_grad, 0.0, 0.0, f_grad, y_rows, x_columns)
        slope, extra = 0.0, 0.0
    return distance, x_rows + _rows(x_columns, x), y_rows + _rows(y_columns, y)


def _potentials(iterations: int, cloud: Cloud) -> Array:
    """Zeros for the start and each iteration; -inf where the last block is padded."""
    potentials = np.zeros((iterations + 1, cloud.columns.size // cloud.rows.shape[1]))
    potentials[:, len(cloud.rows) :] = -np.inf
    return potentials


def _ordered(points: Array, rows: Array) -> Array:
    """Order rows by halving them along their widest dimension until they fit a block."""
    if len(rows) <= LANES:
        return rows
    side = np.ptp(points[rows], axis=0).argmax()
    middle = (len(rows) // LANES + 1) // 2 * LANES
    halves = np.split(rows[np.argpartition(points[rows, side], middle)], [middle])
    return np.concatenate([_ordered(points, half) for half in halves])


def _guide(targets: Cloud, reference: Array) -> Guide:
    blocks = len(reference) // LANES
    bounds = np.full((len(targets.rows), blocks + -blocks % LANES), np.float32(-np.inf))
    return Guide(reference, bounds, np.zeros(len(targets.rows), np.int64))


def _cloud(rows: Array) -> Cloud:
    """Transposed blocks of rows; the last one is padded with copies."""
    filled = np.pad(rows, ((0, -len(rows) % LANES), (0, 0)), mode="edge")
    blocks = filled.reshape(-1, LANES, rows.shape[1]).transpose(0, 2, 1)
    columns = np.ascontiguousarray(blocks).reshape(-1, LANES)
    return Cloud(rows, rows.astype(np.float32), columns, columns.astype(np.float32))


def _rows(columns: Array, cloud: Cloud) -> Array:
    """Inverse of :func:`_cloud`: rows from columns."""
    blocks: Array = columns.reshape(-1, cloud.rows.shape[1], LANES)
    return blocks.transpose(0, 2, 1).reshape(-1, cloud.rows.shape[1])[: len(cloud.rows)]
