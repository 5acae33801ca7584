"""Paired differences over seeds, with intervals and verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from teddy.errors import InputError
from teddy.sparsity import check_count, check_number

#: Minimum number of seeds of a verdict.
ENOUGH_SEEDS = 3

#: Verdict with fewer seeds.
TOO_FEW = "too few seeds"


@dataclass(frozen=True)
class Difference:
    """Mean difference over seeds with a confidence interval.

    Attributes:
        mean: Mean difference in points.
        low: Lower end of the interval; None for one seed.
        high: Upper end of the interval; None for one seed.
        seeds: Number of seeds.

    Example:
        >>> print(Difference(1.0, -0.5, 2.5, 5))
        +1.00 [-0.50, +2.50]
    """

    mean: float
    low: float | None
    high: float | None
    seeds: int

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.mean:+.2f}"
        return f"{self.mean:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"

    @property
    def verdict(self) -> str:
        """Verdict: ``winning``, ``losing``, ``undecided`` or ``too few seeds``.

        Winning: the interval is not below 0 (Definition 1). Losing: it is below 0. Undecided: it
        contains 0. A verdict needs three seeds.

        Example:
            >>> Difference(1.0, 0.5, 1.5, 5).verdict, Difference(-1.0, -1.5, -0.5, 5).verdict
            ('winning', 'losing')
            >>> Difference(1.0, -0.5, 2.5, 5).verdict, Difference(1.0, 0.5, 1.5, 2).verdict
            ('undecided', 'too few seeds')
        """
        if self.low is None or self.seeds < ENOUGH_SEEDS:
            return TOO_FEW
        if self.low >= 0:
            return "winning"
        return "losing" if self.clearly_below() else "undecided"

    def clearly_above(self, value: float = 0.0) -> bool:
        """Return whether the interval of three or more seeds is above a value.

        Example:
            >>> Difference(1.0, 0.5, 1.5, 3).clearly_above(), Difference(1, 0, 2, 3).clearly_above()
            (True, False)
        """
        return self.seeds >= ENOUGH_SEEDS and self.low is not None and self.low > value

    def clearly_below(self, value: float = 0.0) -> bool:
        """Return whether the interval of three or more seeds is below a value.

        Example:
            >>> Difference(1.0, 0.5, 1.5, 3).clearly_below(2), Difference(-2, -3, -1, 2).verdict
            (True, 'too few seeds')
        """
        return self.seeds >= ENOUGH_SEEDS and self.high is not None and self.high < value


def paired_difference(
    ours: Sequence[float],
    theirs: Sequence[float],
    *,
    test_rows: int,
    resolution: float | None = None,
    level: float = 0.95,
) -> Difference:
    r"""Mean of paired differences over seeds, with Student's interval.

    .. math::
        \bar d \pm t_{n-1} \, s / \sqrt n, \qquad d_i = \mathrm{ours}_i - \mathrm{theirs}_i,
        \qquad s = \max(s_d, \mathrm{resolution})

    The interval covers other seeds of the same graph and split, not other graphs.

    The standard deviation is at least the resolution, the change of the metric by one test example
    (:meth:`teddy.tasks.Task.resolution`): 100 / rows in accuracy, 100 / (P N) in AUC of P positive
    and N negative links, 100 / (positive labels) in micro-F1. R2 is continuous; its floor is
    100 / rows, a row whose squared error changes by the variance of the targets. Without a floor,
    equal differences would give an interval of length 0, and rounding errors a verdict.

    Args:
        ours: Metric of each seed, in percent.
        theirs: Metric of the baseline, in the same order of seeds.
        test_rows: Number of nodes, links or graphs of the test set.
        resolution: Change of the metric by one example; None: 100 / ``test_rows``, as in accuracy.
        level: Confidence level of the interval.

    Example:
        >>> paired_difference([71.0, 70.0, 72.0], [68.0, 68.0, 68.0], test_rows=1000)
        Difference(mean=3.0, low=0.5158..., high=5.4841..., seeds=3)
        >>> paired_difference([67.9, 67.9, 67.9], [68.0, 68.0, 68.0], test_rows=1000).verdict
        'undecided'
        >>> pairs = 100 / (455 * 455)  # AUC of 455 positive and 455 negative links
        >>> paired_difference([67.9] * 3, [68.0] * 3, test_rows=910, resolution=pairs).verdict
        'losing'
        >>> paired_difference([71.0], [68.0], test_rows=1000)
        Difference(mean=3.0, low=None, high=None, seeds=1)
    """
    if len(ours) != len(theirs) or not ours:
        raise InputError(f"got {len(ours)} and {len(theirs)} values, expected as many, at least 1")
    check_count(test_rows, "test_rows")
    if resolution is None:
        resolution = 100 / test_rows
    check_number(resolution, "resolution")
    difference = np.subtract(ours, theirs)
    n, mean = difference.size, float(difference.mean())
    if n == 1:
        return Difference(mean, None, None, n)
    from scipy.special import stdtrit

    deviation = max(float(difference.std(ddof=1)), resolution)
    margin = float(stdtrit(n - 1, (1 + level) / 2)) * deviation / math.sqrt(n)
    return Difference(mean, mean - margin, mean + margin, n)


def spread(values: Sequence[float]) -> float:
    """Standard deviation over seeds, with n - 1 in the denominator; 0 for one seed.

    Example:
        >>> spread([1.0, 3.0]), spread([5.0])
        (1.4142135623730951, 0.0)
    """
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def known_mean(values: Iterable[float | None]) -> float | None:
    """Mean of the values that are not None; None if there are none.

    Example:
        >>> known_mean([1.0, None, 2.0]), known_mean([])
        (1.5, None)
    """
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
