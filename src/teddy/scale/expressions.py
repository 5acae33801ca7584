r"""Scores and cuts as expressions of ibis, one for every engine that speaks SQL.

Numbers come out the same as in ``teddy.prune``: sums run over integers, and square root, division
and product of doubles are correctly rounded on every engine. Constants that must be exact are
written as integers, since SQL takes ``0.1`` for a decimal.
"""

from __future__ import annotations

import math
from typing import Any

import ibis

from teddy.scale.scores import TableScore, unit
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


def node_values(edges: Expr, degree: Expr, highest: int, score: TableScore) -> Expr:
    """``node``, ``value``, with the sum over neighbours in integers."""
    one = ibis.literal(unit(highest), "int64").cast("float64")
    nodes = degree.select("node", degree=degree.degree.cast("float64"))
    if score.summed is None:
        return nodes.select("node", value=score.value(nodes.degree, None, one))
    summed = score.summed(nodes.degree, nodes.degree.sqrt(), one).floor().cast("int64")
    ends = _ends(edges).join(nodes.select(other=nodes.node, summed=summed), "other")
    sums = ends.group_by("node").agg(
        total=ends.summed.sum().cast("int64"), degree=ends.count().cast("float64")
    )
    value = score.value(sums.degree, sums.total.cast("float64"), one)
    return sums.select("node", value=value)


def edge_scores(
    edges: Expr, values: Expr, score: TableScore, low: str = "low", high: str = "high"
) -> Expr:
    """The edges with their ``score``."""
    one = values.select(values.node.name(low), one=values.value)
    other = values.select(values.node.name(high), other=values.value)
    both = edges.join(one, low).join(other, high)
    return both.mutate(score=score.join(both.one, both.other)).drop("one", "other")


def digest(low: Expr, high: Expr, prefix: str) -> Expr:
    """The md5 of :func:`teddy.prune.select.pair_digests`."""
    if low.type().is_string():
        text = low.length().cast("string") + ":" + low + "-" + high
    else:
        text = low.cast("string") + "-" + high.cast("string")
    return (ibis.literal(prefix) + text if prefix else text).hexdigest("md5")


def stays(score: Expr, low: Expr, high: Expr, threshold: Threshold, prefix: str) -> Expr:
    """Whether an edge is above the threshold; of equal ones the md5 decides."""
    limit = number(threshold.score)
    return (score > limit) | ((score == limit) & (digest(low, high, prefix) > threshold.digest))


def within(score: Expr, low: float, high: float) -> Expr:
    """Whether a score is in a range; the infinite one has all."""
    if math.isinf(high):
        return ibis.literal(True)
    return (score >= number(low)) & (score <= number(high))


def bin_of(score: Expr, low: float, high: float, count: int) -> Expr:
    """A whole number that never falls when the score rises.

    At first, over all scores, by their 16th roots, since they may lie many powers of ten apart;
    in a range, from 0 to ``count``.
    """
    if math.isinf(high):
        root = (score.abs().sqrt().sqrt().sqrt().sqrt() * count).floor().cast("int64")
        return ibis.ifelse(score < 0, -root, root)
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
