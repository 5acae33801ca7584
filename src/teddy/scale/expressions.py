r"""The method as expressions of ibis, one for every engine that speaks SQL (Eq. 6 to 8).

Numbers come out the same as in ``teddy.edges``: sums run over integers, and square root, division
and product of doubles are correctly rounded on every engine. Constants that must be exact are
written as integers, since SQL takes ``0.1`` for a decimal.
"""

from __future__ import annotations

import math
from typing import Any

import ibis

from teddy.edges.scores.teddy import fraction_bits
from teddy.scale.threshold import Threshold

Expr = Any


def distinct_edges(rows: Expr, directed: bool) -> Expr:
    """``low``, ``high`` of each edge once; an edge and its reverse are one unless directed."""
    rows = rows.filter(rows.source != rows.target)
    low, high = (
        (rows.source, rows.target)
        if directed
        else (ibis.least(rows.source, rows.target), ibis.greatest(rows.source, rows.target))
    )
    return rows.select(low=low, high=high).distinct()


def degrees(edges: Expr) -> Expr:
    """``node``, ``degree``."""
    return _ends(edges).group_by("node").agg(degree=lambda ends: ends.count())


def node_values(edges: Expr, degree: Expr, highest: int) -> Expr:
    r"""``node``, ``value``: :math:`\tilde g`, by an integer sum over neighbours (Eq. 6 and 7)."""
    scale = ibis.literal(1 << fraction_bits(highest), "int64").cast("float64")
    g = (1 / degree.degree.cast("float64").sqrt() * scale).floor().cast("int64")
    others = degree.select(other=degree.node, g=g)
    ends = _ends(edges).join(others, "other")
    sums = ends.group_by("node").agg(
        total=ends.g.sum().cast("int64"), degree=ends.count().cast("float64")
    )
    value = sums.total.cast("float64") / scale / sums.degree / sums.degree
    return sums.select("node", value=value)


def edge_scores(edges: Expr, values: Expr, low: str = "low", high: str = "high") -> Expr:
    """The edges with their ``score``, the product of their ends' values (Eq. 8)."""
    one = values.select(values.node.name(low), one=values.value)
    other = values.select(values.node.name(high), other=values.value)
    both = edges.join(one, low).join(other, high)
    return both.mutate(score=both.one * both.other).drop("one", "other")


def digest(low: Expr, high: Expr) -> Expr:
    """The md5 of :func:`teddy.edges.ties.pair_text`."""
    if low.type().is_string():
        text = low.length().cast("string") + ":" + low + "-" + high
    else:
        text = low.cast("string") + "-" + high.cast("string")
    return text.hexdigest("md5")


def stays(score: Expr, low: Expr, high: Expr, threshold: Threshold) -> Expr:
    """Whether an edge is above the threshold; of equal ones the md5 decides."""
    limit = number(threshold.score)
    return (score > limit) | ((score == limit) & (digest(low, high) > threshold.digest))


def within(score: Expr, low: float, high: float) -> Expr:
    """Whether a score is in a range."""
    condition = score >= number(low)
    return condition if math.isinf(high) else condition & (score <= number(high))


def bin_of(score: Expr, low: float, high: float, count: int) -> Expr:
    """A whole number that never falls when the score rises, from 0 to about ``count``.

    At first, over all scores, by their 16th roots: they lie many powers of ten apart.
    """
    if math.isinf(high):
        return (score.sqrt().sqrt().sqrt().sqrt() * count).floor().cast("int64")
    width = number(high) - number(low)
    return ((score - number(low)) / width * count).floor().cast("int64")


def number(value: float) -> Expr:
    """A double to the last bit: an integer times a power of two.

    Example:
        >>> ibis.duckdb.connect().execute(number(0.1)) == 0.1
        True
    """
    mantissa, exponent = math.frexp(value)
    whole = ibis.literal(int(mantissa * 2**53), "int64").cast("float64")
    for step in _powers(exponent - 53):
        whole = whole * step if exponent > 53 else whole / step
    return whole


def _powers(exponent: int) -> list[Expr]:
    """Powers of two, each an exact integer, whose product is two to this."""
    left = abs(exponent)
    steps = [62] * (left // 62) + ([left % 62] if left % 62 else [])
    return [ibis.literal(1 << step, "int64").cast("float64") for step in steps]


def _ends(edges: Expr) -> Expr:
    """``node``, ``other``: each edge from both of its ends."""
    return ibis.union(
        edges.select(node=edges.low, other=edges.high),
        edges.select(node=edges.high, other=edges.low),
    )
