"""Sinkhorn iterations between two point clouds and their derivative, without a cost matrix.

A potential is a soft minimum over the other cloud, in which at a small :math:`\\epsilon` nearly all
terms vanish. Points are ordered such that neighbours in memory are neighbours in space, in blocks.
The largest term of a block is bounded by an earlier value plus the increase of the potentials
since, which is small after the first iteration. So most blocks are skipped by their bound, and
most others after a pass in single precision. The rest is computed in double precision: a distance
of 5 in single precision is off by up to 2e-7, and at an epsilon of 0.001 weights by up to 2e-4.
"""

from __future__ import annotations

import math
import operator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from teddy.kernels import jit
from teddy.kernels.vectors import gated, load, spread, store, zeros

Array = NDArray[Any]

#: Points in a block, which a kernel processes at once.
LANES = 32
_LOWEST = -50.0  # exponentials of less are zero
_SERIES = tuple(1.0 / math.factorial(k) for k in range(13))


def _define() -> tuple[Any, ...]:
    """Arithmetic of vectors held in registers, with each other and with numbers."""
    if jit.installed is None:
        return (None,) * 5
    ir: Any = import_module("llvmlite.ir")
    cgutils: Any = import_module("numba.core.cgutils")
    extending: Any = import_module("numba.extending")
    types: Any = jit.installed.types
    flags = ("contract", "reassoc", "nsz")

    def two(build: Any, is_bits: bool = False) -> Any:
        @extending.intrinsic  # type: ignore[untyped-decorator]
        def operation(typing: Any, a: Any, b: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                return build(builder, *(spread(builder, value, vector.lanes) for value in args))

            vector = a if hasattr(a, "lanes") else b
            kinds = [kind if hasattr(kind, "lanes") else vector.dtype for kind in (a, b)]
            return (types.uint64 if is_bits else vector)(*kinds), code

        return operation

    def symbol(sign: Any, name: str) -> None:
        operation = two(lambda builder, a, b: getattr(builder, name)(a, b, flags=flags))

        def code(a: Any, b: Any) -> Any:
            return operation(a, b)

        @extending.overload(sign)  # type: ignore[untyped-decorator]
        def overloaded(a: Any, b: Any) -> Any:
            return code if hasattr(a, "lanes") or hasattr(b, "lanes") else None

    def one(name: str, *before: float, is_number: bool = False) -> Any:
        @extending.intrinsic  # type: ignore[untyped-decorator]
        def operation(typing: Any, vector: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                result = context.get_value_type(signature.return_type)
                args = *(ir.Constant(result, value) for value in before), *args
                kind = ir.FunctionType(result, [value.type for value in args])
                full = f"llvm.{name}.v{vector.lanes}f{vector.dtype.bitwidth}"
                function = cgutils.get_or_insert_function(builder.module, kind, full)
                return builder.call(function, args, fastmath=(*flags, "nnan"))

            return (vector.dtype if is_number else vector)(vector), code

        return operation

    def above_bits(builder: Any, a: Any, b: Any) -> Any:
        bits = builder.bitcast(builder.fcmp_ordered(">", a, b), ir.IntType(a.type.count))
        return builder.zext(bits, ir.IntType(64))

    def larger(builder: Any, a: Any, b: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", a, b), a, b)

    for name in ("add", "sub", "mul", "truediv"):
        symbol(getattr(operator, name), "f" + name.removeprefix("true"))
    sums = one("vector.reduce.fmax", is_number=True), one("vector.reduce.fadd", 0.0, is_number=True)
    return two(larger), two(above_bits, is_bits=True), one("sqrt"), *sums


larger, above_bits, roots, largest, summed = _define()


class Cloud(NamedTuple):
    """Points in blocks, the last one filled with copies.

    Attributes:
        rows: ``[count, d]``, as ``rows_single`` in single precision.
        columns: ``[blocks * d, LANES]``: one coordinate of a block after the other.
    """

    rows: Array
    rows_single: Array
    columns: Array
    columns_single: Array


class Guide(NamedTuple):
    """Bounds of the terms of soft minima, from potentials at some earlier time.

    Attributes:
        reference: Potentials of the sources at that time.
        bounds: Maximum of ``reference - cost`` of each target in each block.
        best: Block with the maximum of each target.
    """

    reference: Array
    bounds: Array
    best: Array


@jit.compiled
def _squares(point: Array, columns: Array, b: int) -> Any:
    """Squared distances from a point to those of a block."""
    total = zeros(columns, LANES)
    for k in range(point.size):
        difference = load(columns, b * point.size + k, 0, LANES) - point[k]
        total = total + difference * difference
    return total


@jit.compiled
def explore(targets: Cloud, cloud: Cloud, guide: Guide) -> None:
    """Write bounds and best blocks for the reference, in single precision."""
    reference = guide.reference.reshape(-1, LANES).astype(np.float32)
    for t in range(len(targets.rows)):
        point, top = targets.rows_single[t], np.float32(-np.inf)
        for b in range(len(reference)):
            costs = roots(_squares(point, cloud.columns_single, b))
            guide.bounds[t, b] = largest(load(reference, b, 0, LANES) - costs)
            if guide.bounds[t, b] > top:
                top, guide.best[t] = guide.bounds[t, b], b


class _Sources(NamedTuple):
    """A cloud that soft minima are taken over, and its potentials."""

    cloud: Cloud
    potential: Array
    single: Array
    rise: Array  # maximum of the potentials minus the reference, of each block
    blocks: Array  # buffer for the blocks of a search
    reach: float  # distance below the largest term up to which terms count
    rate: float  # 1 / epsilon
    shift: float  # epsilon times the logarithm of a target's weight


@jit.compiled
def _sources(
    targets: Cloud, cloud: Cloud, guide: Guide, flat: Array, epsilon: float, cut: float
) -> Any:
    """Prepare a search; terms below exp(-cut) of the largest won't count."""
    count, width = cloud.rows.shape
    potential, reference = flat.reshape(-1, LANES), guide.reference.reshape(-1, LANES)
    rise = np.full((1, guide.bounds.shape[1]), np.float32(-np.inf))
    for b in range(len(potential)):  # the padding of the last block is always at -inf
        old = larger(load(reference, b, 0, LANES), -1e300)
        rise[0, b] = largest(load(potential, b, 0, LANES) - old)
    # The error of single precision, with coordinates from -1 to 1.
    size = max(np.abs(flat[:count]).max(), np.abs(guide.reference[:count]).max())
    reach = cut * epsilon + 2.0**-22 * (size + (width + 8) * math.sqrt(width))
    single, blocks = potential.astype(np.float32), np.empty(rise.size, np.int64)
    shift = -epsilon * math.log(len(targets.rows))
    return _Sources(cloud, potential, single, rise, blocks, reach, 1 / epsilon, shift)


@jit.compiled
def _search(point: Array, sources: _Sources, bounds: Array, t: int, top: float) -> Any:
    """Find the blocks with terms within reach of ``top``; return their number."""
    columns, single, blocks = sources.cloud.columns_single, sources.single, sources.blocks
    count, zero, one_bit, least = 0, np.float32(0), np.uint64(1), np.float32(top - sources.reach)
    for first in range(0, bounds.shape[1], LANES):
        hopes = load(bounds, t, first, LANES) + load(sources.rise, 0, first, LANES)
        opened, b = above_bits(hopes, least), first
        while opened:
            if opened & one_bit:
                slack = larger(load(single, b, 0, LANES) - least, zero)
                blocks[count] = b
                count += above_bits(slack * slack, _squares(point, columns, b)) != 0
            opened >>= one_bit
            b += 1
    return count


@jit.compiled
def _exponentials(x: Any) -> Any:
    """Exponentials of numbers up to 0, by a series and repeated squaring, without branches."""
    z = (larger(x, _LOWEST) - _LOWEST / 2) * (1 / 64)
    y = z * _SERIES[12] + _SERIES[11]
    y = (((y * z + _SERIES[10]) * z + _SERIES[9]) * z + _SERIES[8]) * z + _SERIES[7]
    y = (((y * z + _SERIES[6]) * z + _SERIES[5]) * z + _SERIES[4]) * z + _SERIES[3]
    y = ((y * z + _SERIES[2]) * z + _SERIES[1]) * z + _SERIES[0]
    for _ in range(6):
        y = y * y
    return gated(y, math.exp(_LOWEST / 2), x - _LOWEST)


@jit.compiled
def soft_minima(
    targets: Cloud, cloud: Cloud, guide: Guide, flat_potential: Array, epsilon: float, cut: float,
    out: Array,
) -> None:  # fmt: skip
    """Write -epsilon log(number of targets * sum_s exp((potential[s] - cost[t, s]) / epsilon))."""
    sources = _sources(targets, cloud, guide, flat_potential, epsilon, cut)
    columns, potential, rate = cloud.columns, sources.potential, sources.rate
    for t in range(len(targets.rows)):
        point, total = targets.rows[t], 0.0
        best = guide.best[t]  # of the last iteration
        top = largest(load(potential, best, 0, LANES) - roots(_squares(point, columns, best)))
        count = _search(targets.rows_single[t], sources, guide.bounds, t, top)
        for b in sources.blocks[:count]:
            scores = load(potential, b, 0, LANES) - roots(_squares(point, columns, b))
            peak = largest(scores)
            if peak > top:
                total *= math.exp(rate * (top - peak))
                top, guide.best[t] = peak, b
            total += summed(_exponentials((scores - top) * rate))
        out[t] = sources.shift - top - epsilon * math.log(total)


@jit.compiled
def transport(
    targets: Cloud, cloud: Cloud, guide: Guide, flat_potential: Array, epsilon: float, cut: float,
    minima: Array, flat_shares: Array, means: Array,
) -> None:  # fmt: skip
    """Add each source's weights in the soft minima to its share; write each target's mean cost."""
    sources = _sources(targets, cloud, guide, flat_potential, epsilon, cut)
    columns, potential, rate = cloud.columns, sources.potential, sources.rate
    shares = flat_shares.reshape(-1, LANES)
    for t in range(len(targets.rows)):
        point, top, mean = targets.rows[t], sources.shift - minima[t], zeros(shares, LANES)
        count = _search(targets.rows_single[t], sources, guide.bounds, t, top)
        for b in sources.blocks[:count]:
            costs = roots(_squares(point, columns, b))
            weights = _exponentials((load(potential, b, 0, LANES) - costs - top) * rate)
            store(shares, b, 0, load(shares, b, 0, LANES) + weights)
            mean = mean + weights * costs
        means[t] = summed(mean)


@jit.compiled
def pull(
    targets: Cloud, cloud: Cloud, guide: Guide, flat_potential: Array, epsilon: float, cut: float,
    minima: Array, factors: Array, slope: float, extra: float,
    flat_potential_grad: Array, target_grad: Array, source_grad: Array,
) -> None:  # fmt: skip
    """Backward pass of soft minima, with weights w and costs c.

    Subtracts ``w (factor + slope c)`` from the gradient of a source's potential. The gradient of
    the cost, ``w (factor + slope c + extra)``, is added to both points: to rows of the targets'
    gradient and to columns of the sources'.
    """
    sources = _sources(targets, cloud, guide, flat_potential, epsilon, cut)
    columns, potential, rate = cloud.columns, sources.potential, sources.rate
    potential_grad = flat_potential_grad.reshape(-1, LANES)
    for t in range(len(targets.rows)):
        point, top = targets.rows[t], sources.shift - minima[t]
        count = _search(targets.rows_single[t], sources, guide.bounds, t, top)
        for b in sources.blocks[:count]:
            costs = roots(_squares(point, columns, b))
            weights = _exponentials((load(potential, b, 0, LANES) - costs - top) * rate)
            changes = costs * slope + factors[t]
            store(potential_grad, b, 0, load(potential_grad, b, 0, LANES) - weights * changes)
            # Where two points coincide the cost has no derivative: 0 is one of its subgradients.
            pulls = gated(weights * (changes + extra) / costs, 1.0, costs)
            for k in range(point.size):
                row = b * point.size + k
                share = pulls * (load(columns, row, 0, LANES) - point[k])
                store(source_grad, row, 0, load(source_grad, row, 0, LANES) + share)
                target_grad[t, k] -= summed(share)
