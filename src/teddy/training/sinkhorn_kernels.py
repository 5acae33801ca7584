"""Sinkhorn iterations between two clouds of points and their derivative, without a cost matrix.

A potential is a soft minimum over the other cloud, in which at a small :math:`\\epsilon` nearly all
terms vanish. Points are ordered such that neighbours in memory are neighbours in space; a block of
them whose terms must all vanish is passed over, by its box first, then by single precision. What
is left is computed in double precision, whatever the input's: a distance of 5 in single precision
is off by up to a quarter of a thousandth of :math:`\\epsilon = 0.001`, and so are all weights.
"""

from __future__ import annotations

import math
import operator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from teddy import jit
from teddy.models.vectors import gated, load, store, zeros

Array = NDArray[Any]

#: Points in a block: as many as a kernel takes at once.
LANES = 32
# Exponentials below this are zero.
_LOWEST = -50.0
_SERIES = tuple(1.0 / math.factorial(k) for k in range(13))


def _define() -> tuple[Any, ...]:
    """Arithmetic of vectors held in registers, with each other and with numbers."""
    ir: Any = import_module("llvmlite.ir")
    cgutils: Any = import_module("numba.core.cgutils")
    extending: Any = import_module("numba.extending")
    types: Any = jit.numba.types
    flags = ("contract", "reassoc", "nsz")

    def wide(builder: Any, value: Any, lanes: int) -> Any:
        if isinstance(value.type, ir.VectorType):
            return value
        index, nothing = ir.IntType(32), ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
        first = builder.insert_element(nothing, value, ir.Constant(index, 0))
        everywhere = ir.Constant(ir.VectorType(index, lanes), [0] * lanes)
        return builder.shuffle_vector(first, nothing, everywhere)

    def two(build: Any, is_bits: bool = False) -> Any:
        @extending.intrinsic  # type: ignore[untyped-decorator]
        def operation(typing: Any, a: Any, b: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                return build(builder, *(wide(builder, value, vector.lanes) for value in args))

            vector = a if hasattr(a, "lanes") else b
            kinds = [kind if hasattr(kind, "lanes") else vector.dtype for kind in (a, b)]
            return (types.uint64 if is_bits else vector)(*kinds), code

        return operation

    def symbol(sign: Any, operation: Any) -> None:
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

    symbol(operator.add, two(lambda builder, a, b: builder.fadd(a, b, flags=flags)))
    symbol(operator.sub, two(lambda builder, a, b: builder.fsub(a, b, flags=flags)))
    symbol(operator.mul, two(lambda builder, a, b: builder.fmul(a, b, flags=flags)))
    symbol(operator.truediv, two(lambda builder, a, b: builder.fdiv(a, b, flags=flags)))

    def above_bits(builder: Any, a: Any, b: Any) -> Any:
        bits = builder.bitcast(builder.fcmp_ordered(">", a, b), ir.IntType(a.type.count))
        return builder.zext(bits, ir.IntType(64))

    def larger(builder: Any, a: Any, b: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", a, b), a, b)

    return (
        two(larger),
        two(above_bits, is_bits=True),
        one("sqrt"),
        one("vector.reduce.fmax", is_number=True),
        one("vector.reduce.fadd", 0.0, is_number=True),
    )


larger: Any = None
above_bits: Any = None
roots: Any = None
largest: Any = None
summed: Any = None
if jit.numba is not None:
    larger, above_bits, roots, largest, summed = _define()


class Cloud(NamedTuple):
    """Points in blocks, in both precisions, the last block filled with copies.

    Attributes:
        rows: ``[count, d]``.
        rows_single: The same in single precision.
        columns: ``[blocks * d, LANES]``: one coordinate of the points of a block after the other.
        columns_single: The same in single precision.
        low: Of the blocks' boxes, ``[groups * d, LANES]``, in groups as the points are in blocks.
        high: Their other corners.
    """

    rows: Array
    rows_single: Array
    columns: Array
    columns_single: Array
    low: Array
    high: Array


class _Sources(NamedTuple):
    """What soft minima are taken over: a cloud and its potentials, and where the search is.

    Attributes:
        cloud: The points.
        potential: ``[blocks, LANES]``.
        single: The same in single precision.
        tops: The largest of a block, ``[groups, LANES]``.
        found: Room for the blocks that a search finds.
        reach: How far below the largest a term still counts.
        rate: 1 / epsilon.
    """

    cloud: Cloud
    potential: Array
    single: Array
    tops: Array
    found: Array
    reach: float
    rate: float


@jit.compiled
def _sources(cloud: Cloud, potential: Array, epsilon: float, cut: float) -> _Sources:
    width, size = cloud.rows.shape[1], 0.0
    single = np.empty(potential.shape, np.float32)
    tops = np.full((len(cloud.low) // width, LANES), np.float32(-np.inf))
    for b in range(len(potential)):
        for lane in range(LANES):
            single[b, lane] = potential[b, lane]
            tops[b // LANES, b % LANES] = max(tops[b // LANES, b % LANES], single[b, lane])
            if potential[b, lane] > -np.inf:
                size = max(size, abs(potential[b, lane]))
    # How far off single precision can be, with coordinates from -1 to 1.
    margin = 2.0**-22 * (size + (width + 8) * math.sqrt(width))
    found = np.empty(tops.size, np.int64)
    return _Sources(cloud, potential, single, tops, found, cut * epsilon + margin, 1 / epsilon)


@jit.compiled
def _squares(point: Array, columns: Array, b: int) -> Any:
    """Squared distances from a point to those of a block."""
    total = zeros(columns, LANES)
    for k in range(point.size):
        difference = load(columns, b * point.size + k, 0, LANES) - point[k]
        total = total + difference * difference
    return total


@jit.compiled
def _search(point: Array, sources: _Sources, least: Any) -> Any:
    """Find the blocks in which potential - cost may be above ``least``; return their number."""
    low, high, tops = sources.cloud.low, sources.cloud.high, sources.tops
    columns, single, found = sources.cloud.columns_single, sources.single, sources.found
    count, zero = 0, np.float32(0)
    for group in range(len(tops)):
        gaps = zeros(tops, LANES)
        for k in range(point.size):
            row = group * point.size + k
            below, above = load(low, row, 0, LANES) - point[k], point[k] - load(high, row, 0, LANES)
            gap = larger(larger(below, above), zero)
            gaps = gaps + gap * gap
        rooms = larger(load(tops, group, 0, LANES) - least, zero)
        opened = above_bits(rooms * rooms, gaps)
        b = group * LANES
        while opened:
            if opened & np.uint64(1):
                rooms = larger(load(single, b, 0, LANES) - least, zero)
                if above_bits(rooms * rooms, _squares(point, columns, b)):
                    found[count] = b
                    count += 1
            opened >>= np.uint64(1)
            b += 1
    return count


@jit.compiled
def _exponentials(x: Any) -> Any:
    """Exponentials of numbers up to 0, by a series and squares: no table, no branch."""
    z = (larger(x, _LOWEST) - _LOWEST / 2) * (1 / 64)
    y = z * _SERIES[12] + _SERIES[11]
    y = (((y * z + _SERIES[10]) * z + _SERIES[9]) * z + _SERIES[8]) * z + _SERIES[7]
    y = (((y * z + _SERIES[6]) * z + _SERIES[5]) * z + _SERIES[4]) * z + _SERIES[3]
    y = ((y * z + _SERIES[2]) * z + _SERIES[1]) * z + _SERIES[0]
    for _ in range(6):
        y = y * y
    return gated(y, math.exp(_LOWEST / 2), x - _LOWEST)


@jit.compiled
def _soft_minima(targets: Cloud, sources: _Sources, shift: float, out: Array) -> None:
    """Write shift - epsilon log(sum_s exp((potential[s] - cost[t, s]) / epsilon)) for each t."""
    columns, potential, rate = sources.cloud.columns, sources.potential, sources.rate
    best = 0
    for t in range(len(targets.rows)):
        point = targets.rows[t]
        # The largest term is probably where it was for the point before, a neighbour.
        top = largest(load(potential, best, 0, LANES) - roots(_squares(point, columns, best)))
        total = 0.0
        count = _search(targets.rows_single[t], sources, np.float32(top - sources.reach))
        for b in sources.found[:count]:
            scores = load(potential, b, 0, LANES) - roots(_squares(point, columns, b))
            peak = largest(scores)
            if peak > top:
                total *= math.exp(rate * (top - peak))
                top, best = peak, b
            elif peak < top - sources.reach:
                continue
            total += summed(_exponentials((scores - top) * rate))
        out[t // LANES, t % LANES] = shift - top - math.log(total) / rate


@jit.compiled
def _transport(
    targets: Cloud, sources: _Sources, shift: float, minima: Array, shares: Array, means: Array
) -> None:
    """Add the weights of each source to ``shares`` and write the mean cost of each target."""
    columns, potential, rate = sources.cloud.columns, sources.potential, sources.rate
    for t in range(len(targets.rows)):
        point, mean = targets.rows[t], zeros(shares, LANES)
        top = shift - minima[t // LANES, t % LANES]
        count = _search(targets.rows_single[t], sources, np.float32(top - sources.reach))
        for b in sources.found[:count]:
            costs = roots(_squares(point, columns, b))
            weights = _exponentials((load(potential, b, 0, LANES) - costs - top) * rate)
            store(shares, b, 0, load(shares, b, 0, LANES) + weights)
            mean = mean + weights * costs
        means[t] = summed(mean)


@jit.compiled
def _pull(
    targets: Cloud, sources: _Sources, shift: float, minima: Array,
    factors: Array, slope: float, extra: float,
    potential_grad: Array, target_grad: Array, source_grad: Array,
) -> None:  # fmt: skip
    """Go back through soft minima, with weights w and costs c.

    The gradient of a source's potential loses ``w (factor + slope c)``, the gradient of the cost
    gains ``w (factor + slope c + extra)``, which is handed on to the two points.
    """
    columns, potential, rate = sources.cloud.columns, sources.potential, sources.rate
    for t in range(len(targets.rows)):
        point, factor = targets.rows[t], factors[t // LANES, t % LANES]
        top = shift - minima[t // LANES, t % LANES]
        count = _search(targets.rows_single[t], sources, np.float32(top - sources.reach))
        for b in sources.found[:count]:
            costs = roots(_squares(point, columns, b))
            weights = _exponentials((load(potential, b, 0, LANES) - costs - top) * rate)
            changes = costs * slope + factor
            store(potential_grad, b, 0, load(potential_grad, b, 0, LANES) - weights * changes)
            # Where two points coincide the cost has no derivative: 0 is one of its subgradients.
            pulls = gated(weights * (changes + extra) / costs, 1.0, costs)
            for k in range(point.size):
                row = b * point.size + k
                share = pulls * (load(columns, row, 0, LANES) - point[k])
                store(source_grad, row, 0, load(source_grad, row, 0, LANES) + share)
                target_grad[t, k] -= summed(share)


@jit.compiled
def sinkhorn(
    x: Cloud, y: Cloud, f: Array, g: Array, epsilon: float, stop: float, cut: float
) -> Any:
    """Write the potentials of all iterations; return the last one and the mean costs."""
    n, m, last = len(x.rows), len(y.rows), len(f) - 1
    x_shift, y_shift, means = -epsilon * math.log(n), -epsilon * math.log(m), np.empty(n)
    for k in range(1, last + 1):
        _soft_minima(y, _sources(x, f[k - 1], epsilon, cut), y_shift, g[k])
        sources = _sources(y, g[k], epsilon, cut)
        _soft_minima(x, sources, x_shift, f[k])
        if k % 10 == 1 or k == last:
            shares, missed = np.zeros(g[k].shape), 0.0
            _transport(x, sources, x_shift, f[k], shares, means)
            for j in range(m):
                missed += (shares[j // LANES, j % LANES] / n - 1 / m) ** 2
            if k % 10 == 1 and math.sqrt(missed) < stop:
                return k, means
    return last, means


@jit.compiled
def gradients(
    x: Cloud, y: Cloud, f: Array, g: Array, epsilon: float, cut: float, last: int, means: Array
) -> Any:
    """Gradients of the mean of ``means``, as rows and as columns, for both clouds."""
    n, m = len(x.rows), len(y.rows)
    x_shift, y_shift = -epsilon * math.log(n), -epsilon * math.log(m)
    x_rows, y_rows = np.zeros(x.rows.shape), np.zeros(y.rows.shape)
    x_columns, y_columns = np.zeros(x.columns.shape), np.zeros(y.columns.shape)
    slope, extra, f_grad = -1 / (n * epsilon), 1 / n, np.zeros(f[0].shape)
    for i in range(n):
        f_grad[i // LANES, i % LANES] = -slope * means[i]
    for k in range(last, 0, -1):
        g_grad, sources = np.zeros(g[k].shape), _sources(y, g[k], epsilon, cut)
        _pull(x, sources, x_shift, f[k], f_grad, slope, extra, g_grad, x_rows, y_columns)
        f_grad, sources = np.zeros(f[k].shape), _sources(x, f[k - 1], epsilon, cut)
        _pull(y, sources, y_shift, g[k], g_grad, 0.0, 0.0, f_grad, y_rows, x_columns)
        slope, extra = 0.0, 0.0
    return x_rows, x_columns, y_rows, y_columns
