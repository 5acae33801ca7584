"""What several seeds together say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from teddy.errors import InputError


@dataclass(frozen=True)
class Difference:
    """Mean difference with a confidence interval; None where one seed can't give one."""

    mean: float
    low: float | None
    high: float | None

    @property
    def verdict(self) -> str:
        """``winning``: not below (Definition 1); ``losing``: below; else ``undecided``.

        Example:
            >>> Difference(1.0, 0.5, 1.5).verdict, Difference(-1.0, -1.5, -0.5).verdict
            ('winning', 'losing')
            >>> Difference(1.0, -0.5, 2.5).verdict
            'undecided'
        """
        if self.low is not None and self.low >= 0:
            return "winning"
        if self.high is not None and self.high < 0:
            return "losing"
        return "undecided"


def paired_difference(
    ours: Sequence[float], theirs: Sequence[float], level: float = 0.95, floor: float = 0.0
) -> Difference:
    r"""Mean of the seed-by-seed differences with Student's interval.

    .. math::
        \bar d \pm t_{n-1} \, s_d / \sqrt n, \qquad d_i = \mathrm{ours}_i - \mathrm{theirs}_i

    The intervals are those of the seeds tried: they say what another seed would give, not another
    graph. The standard deviation s is taken to be ``floor`` at least.

    Example:
        >>> paired_difference([71.0, 70.0, 72.0], [68.0, 68.0, 68.0])
        Difference(mean=3.0, low=0.5158..., high=5.4841...)
        >>> paired_difference([71.0], [68.0])
        Difference(mean=3.0, low=None, high=None)
    """
    if len(ours) != len(theirs) or not ours:
        raise InputError(f"got {len(ours)} and {len(theirs)} values, expected as many, at least 1")
    difference = np.subtract(ours, theirs)
    n, mean = difference.size, float(difference.mean())
    if n == 1:
        return Difference(mean, None, None)
    from scipy.special import stdtrit

    deviation = max(float(difference.std(ddof=1)), floor)
    reach = float(stdtrit(n - 1, (1 + level) / 2)) * deviation / math.sqrt(n)
    return Difference(mean, mean - reach, mean + reach)


def spread(values: Sequence[float]) -> float:
    """Standard deviation over seeds (n - 1 in the denominator); 0 for one seed.

    Example:
        >>> spread([1.0, 3.0]), spread([5.0])
        (1.4142135623730951, 0.0)
    """
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
