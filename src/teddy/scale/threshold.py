r"""Threshold between removed and kept edges, found without sorting them.

Edges are totally ordered by score and then by the md5 of the pair. The last removed edge is the
:math:`\lceil p_g M \rceil`-th in this order. Its score and md5 are the threshold, with which every
engine compares each row of the table.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

#: Maximum number of edges that are compared one by one; more are binned first.
FEW = 1 << 20


@dataclass(frozen=True, order=True)
class Threshold:
    """The last removed edge.

    Attributes:
        score: Its score; below all scores if no edge is removed.
        digest: md5 of the pair in hexadecimal digits.
    """

    score: float
    digest: str


NOTHING_REMOVED = Threshold(-sys.float_info.max, "")


@dataclass(frozen=True)
class Bins:
    """Disjoint ranges of scores in ascending order.

    Attributes:
        counts: Number of edges in each.
        ends: Function from the index of a range to its lowest and highest possible score.
    """

    counts: Sequence[int] | NDArray[np.int64]
    ends: Callable[[int], tuple[float, float]]


@dataclass(frozen=True)
class CandidateEdges:
    """Edges among which the threshold is.

    Attributes:
        scores: float64 ``[P]``.
        digests: Function from indices to their md5, ``S32``.
    """

    scores: NDArray[np.float64]
    digests: Callable[[NDArray[np.int64]], NDArray[np.bytes_]]

    def at(self, number: int) -> Threshold:
        """Return the ``number``-th edge in the order of score and md5, counted from 1."""
        score = np.partition(self.scores, number - 1)[number - 1]
        equal = np.flatnonzero(self.scores == score)
        digests = np.sort(self.digests(equal))
        before = int((self.scores < score).sum())
        return Threshold(float(score), digests[number - before - 1].decode())


class ScoredEdges(Protocol):
    """Edges of an engine that can be counted by ranges of their scores."""

    def histogram(self, low: float, high: float) -> Bins:
        """Bins of the edges with scores from ``low`` to ``high``, each a smaller range."""

    def digest_histogram(self, score: float) -> dict[str, int]:
        """Number of edges of one score by the first four digits of their md5."""

    def candidates(self, low: float, high: float, digits: str = "") -> CandidateEdges:
        """Edges in a range whose md5 begins with these digits."""


def find_threshold(edges: ScoredEdges, num_pruned: int) -> Threshold:
    """Find the ``num_pruned``-th edge in the order of score and md5.

    Counts edges in bins of scores, refines the bin that contains the edge, and compares the
    remaining edges one by one. If too many edges share a score, bins of their md5 follow.
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
    """Bin of the ``wanted``-th entry, and its rank in the bin.

    Example:
        >>> _place([2, 0, 3], 3)
        (2, 1)
    """
    ends = np.cumsum(counts)
    place = int(np.searchsorted(ends, wanted))
    return place, wanted - (int(ends[place - 1]) if place else 0)
