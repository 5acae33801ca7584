r"""The cut between edges that go and edges that stay, found without sorting them.

Edges are in one total order, by score and then by md5 of the pair. The last that goes is the
:math:`\lceil p_g M \rceil`-th in this order: a threshold of two numbers, which every row of the
table can be compared with by itself, on every engine.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

#: So many edges are compared one by one; more are counted by ranges first.
FEW = 1 << 20


@dataclass(frozen=True, order=True)
class Threshold:
    """The last edge that goes.

    Attributes:
        score: Its score; where none goes, a number below all scores.
        digest: The md5 of its ends in hexadecimal digits.
    """

    score: float
    digest: str


NOTHING_REMOVED = Threshold(-sys.float_info.max, "")


@dataclass(frozen=True)
class Bins:
    """Ranges of scores, ascending and apart.

    Attributes:
        counts: Edges in each.
        ends: From a place to the lowest and highest score that the range can have.
    """

    counts: Sequence[int] | NDArray[np.int64]
    ends: Callable[[int], tuple[float, float]]


@dataclass(frozen=True)
class CandidateEdges:
    """Some edges.

    Attributes:
        scores: float64 ``[P]``.
        digests: From places among them to their md5, ``S32``.
    """

    scores: NDArray[np.float64]
    digests: Callable[[NDArray[np.int64]], NDArray[np.bytes_]]

    def at(self, number: int) -> Threshold:
        """The ``number``-th in the order of score and md5, counted from 1."""
        score = np.partition(self.scores, number - 1)[number - 1]
        equal = np.flatnonzero(self.scores == score)
        digests = np.sort(self.digests(equal))
        before = int((self.scores < score).sum())
        return Threshold(float(score), digests[number - before - 1].decode())


class ScoredEdges(Protocol):
    """Edges that can be counted by ranges of their scores, wherever they are."""

    def histogram(self, low: float, high: float) -> Bins:
        """Ranges of all edges with scores from ``low`` to ``high``, each smaller than that."""

    def digest_histogram(self, score: float) -> dict[str, int]:
        """Number of edges of one score by the first four digits of their md5."""

    def candidates(self, low: float, high: float, digits: str = "") -> CandidateEdges:
        """The edges in a range whose md5 begins with these digits."""


def find_threshold(edges: ScoredEdges, num_pruned: int) -> Threshold:
    """The ``num_pruned``-th edge from below.

    Counts edges by ranges of scores, goes on within the range that has the edge, and compares
    those that are left one by one. If too many have one score, the same is done with their md5.
    """
    if num_pruned == 0:
        return NOTHING_REMOVED
    low, high, left, digits = -math.inf, math.inf, num_pruned, ""
    while True:
        bins = edges.histogram(low, high)
        place, left = _place(bins.counts, left)
        low, high = bins.ends(place)
        if bins.counts[place] <= FEW or low == high:
            break
    if bins.counts[place] > FEW:
        counts = sorted(edges.digest_histogram(low).items())
        place, left = _place([count for _, count in counts], left)
        digits = counts[place][0]
    return edges.candidates(low, high, digits).at(left)


def _place(counts: Sequence[int] | NDArray[np.int64], wanted: int) -> tuple[int, int]:
    """Bin of the ``wanted``-th entry, and the rank of the entry in it.

    Example:
        >>> _place([2, 0, 3], 3)
        (2, 1)
    """
    ends = np.cumsum(counts)
    place = int(np.searchsorted(ends, wanted))
    return place, wanted - (int(ends[place - 1]) if place else 0)
