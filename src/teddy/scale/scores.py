r"""Scores of edge tables, declared once for all engines.

A score may use two aggregations: the degree of each node, and an integer sum over its neighbours.
The formulas use operators only, so NumPy arrays and SQL columns compute the same bits: square root,
quotient, product and sum of doubles are correctly rounded everywhere.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teddy.errors import InputError
from teddy.prune.scores import SCORES
from teddy.prune.scores.teddy import fraction_bits
from teddy.registry import Registry


@dataclass(frozen=True)
class TableScore:
    r"""Score of an edge: a value for each node, and an operation that joins two values.

    Degrees, sums and roots are doubles, and ``unit`` is a power of two, :math:`2^s`, such that a
    sum over neighbours of numbers up to ``unit`` fits into 64 bits.

    Args:
        value: Value of a node from its degree, its sum over neighbours (None without ``summed``)
            and ``unit``. It has one sign for all nodes.
        join: ``operator.mul`` or ``operator.add``.
        summed: Number that a node adds to the sum of each neighbour, rounded down to an integer,
            from its degree, the degree's square root and ``unit``.
        seeded: Whether the md5 that orders edges of equal scores includes the seed.
    """

    value: Callable[[Any, Any, Any], Any]
    join: Callable[[Any, Any], Any] = operator.add
    summed: Callable[[Any, Any, Any], Any] | None = None
    seeded: bool = False

    def digest_prefix(self, seed: int) -> str:
        """Prefix of an edge's text in the md5 that orders edges of equal scores.

        Example:
            >>> TABLE_SCORES["random"].digest_prefix(7), TABLE_SCORES["teddy"].digest_prefix(7)
            ('7:', '')
        """
        return f"{seed}:" if self.seeded else ""

    def summed_of_degrees(self, highest: int) -> NDArray[np.int64]:
        """Integers ``[highest + 1]`` that nodes of each degree add to their neighbours' sums.

        Example:
            >>> TABLE_SCORES["two-hop"].summed_of_degrees(3).tolist()  # no node has degree 0
            [1, 1, 2, 3]
        """
        assert self.summed is not None
        degree = np.arange(highest + 1, dtype=np.float64).clip(min=1)
        numbers: NDArray[np.float64] = self.summed(degree, np.sqrt(degree), unit(highest))
        return np.floor(numbers).astype(np.int64)

    def node_values(
        self, degree: NDArray[Any], sums: NDArray[np.int64] | None, highest: int
    ) -> NDArray[np.float64]:
        """Values of nodes; arbitrary for nodes without edges.

        Example:
            >>> TABLE_SCORES["resistance"].node_values(np.array([1, 4]), None, 4).tolist()
            [1.0, 0.25]
        """
        degree = np.maximum(degree, 1).astype(np.float64)
        total = None if sums is None else sums.astype(np.float64)
        values: NDArray[np.float64] = self.value(degree, total, unit(highest))
        return values


def unit(highest: int) -> int:
    """Fixed-point unit of the sums, by the highest degree.

    Example:
        >>> unit(3) == 2**60
        True
    """
    return 1 << fraction_bits(highest)


TABLE_SCORES: Registry[TableScore] = Registry("score")
# Eq. 6 to 8 of the paper.
TABLE_SCORES.register("teddy")(
    TableScore(
        lambda degree, total, unit: total / unit / degree / degree,
        join=operator.mul,
        summed=lambda degree, root, unit: 1 / root * unit,
    )
)
TABLE_SCORES.register("degree-high")(TableScore(lambda degree, total, unit: -(degree / 2)))
TABLE_SCORES.register("degree-low")(TableScore(lambda degree, total, unit: degree / 2))
TABLE_SCORES.register("two-hop")(
    TableScore(
        lambda degree, total, unit: -(total / degree / 2), summed=lambda degree, root, unit: degree
    )
)
TABLE_SCORES.register("resistance")(TableScore(lambda degree, total, unit: 1 / degree))
# All scores are 0, so that the md5 of the seed and the two ids alone orders the edges.
TABLE_SCORES.register("random")(
    TableScore(lambda degree, total, unit: degree - degree, seeded=True)
)


def table_score(name: str) -> TableScore:
    """Return a score by name.

    Example:
        >>> table_score("cosine")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: score 'cosine' is not supported for edge tables, expected one of:
        teddy, degree-high, degree-low, two-hop, resistance, random
    """
    if name in SCORES and name not in TABLE_SCORES:
        known = ", ".join(TABLE_SCORES)
        raise InputError(
            f"score '{name}' is not supported for edge tables, expected one of: {known}"
        )
    return TABLE_SCORES[name]
