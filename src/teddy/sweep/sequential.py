r"""Sequential test that decides after how many seeds to stop.

A ticket is *accepted* if the lower confidence bound of the mean difference to dense is above minus
the tolerance, *rejected* if the upper bound is below it, and *undecided* otherwise after the last
seed. Differences are assumed independent over seeds and about normal.

Repeated looks at the data would inflate the error, so :math:`\alpha` is spread over the looks
:math:`n_1 < \dots < n_K = N`. By the look at n seeds :math:`\alpha (n / N)^2` is spent: the power
family of Kim and DeMets (Biometrika, 1987), an alpha spending of Lan and DeMets (Biometrika, 1983).
Each look spends the increment,

.. math::
    \alpha_k = \alpha \left( (n_k / N)^2 - (n_{k-1} / N)^2 \right), \qquad
    \bar d - t_{n_k - 1, 1 - \alpha_k} \, s / \sqrt{n_k} > -\mathrm{tolerance}.

The :math:`\alpha_k` sum to :math:`\alpha`, so by Bonferroni's inequality the probability of an
error in any look is at most :math:`\alpha`, also for dependent looks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from teddy.errors import InputError
from teddy.sparsity import check_count, check_number

Verdict = Literal["accepted", "rejected", "undecided"]

# Half of the seeds spend a quarter of the error: early looks decide clear cases only.
_POWER = 2


@dataclass(frozen=True)
class Decision:
    """Verdict on a ticket after some seeds.

    Attributes:
        seeds: Number of seeds.
        mean: Mean difference to dense.
        low: Lower bound, for acceptance.
        high: Upper bound, for rejection.
        verdict: ``accepted``, ``rejected`` or ``undecided``.
    """

    seeds: int
    mean: float
    low: float
    high: float
    verdict: Verdict


@dataclass(frozen=True)
class SequentialTest:
    """Sequential test of the difference to dense, with a tolerance and a confidence.

    Attributes:
        resolution: Change of the metric by one validation example, such as 100 / n of n nodes in
            accuracy; see :meth:`teddy.tasks.Task.resolution`. It is the lower bound of the standard
            deviation: equal differences may differ at the next seed.
        tolerance: Points of the metric that a ticket may be below dense.
        confidence: Probability that no ticket beyond the tolerance is accepted.
        seeds: Maximum number of seeds.

    Example:
        >>> rule = SequentialTest(resolution=0.2, tolerance=0.5, confidence=0.95, seeds=5)
        >>> rule.looks
        (3, 5)
        >>> rule.decide([1.0, 1.2, 1.2, 0.8, 1.0], rule.error).verdict
        'accepted'
        >>> rule.decide([-3.0, -3.2, -3.4], rule.error).verdict
        'rejected'
        >>> rule.decide([0.0, 0.0, 0.0], rule.error)  # no spread, still undecided
        Decision(seeds=3, mean=0.0, low=-0.59..., high=0.59..., verdict='undecided')
    """

    resolution: float
    tolerance: float = 0.5
    confidence: float = 0.95
    seeds: int = 10

    def __post_init__(self) -> None:
        check_number(self.tolerance, "tolerance")
        check_number(self.resolution, "resolution", positive=True)
        check_count(self.seeds, "seeds", 2)
        try:
            valid = 0.5 <= self.confidence < 1
        except TypeError:
            valid = False
        if not valid:
            raise InputError(f"confidence is {self.confidence}, expected a number in [0.5, 1)")

    @property
    def error(self) -> float:
        """Total error probability."""
        return 1 - self.confidence

    @property
    def looks(self) -> tuple[int, ...]:
        """Numbers of seeds at which it tests: all, and 2/3 of the next one down to 3.

        Example:
            >>> SequentialTest(0.2, seeds=10).looks, SequentialTest(0.2, seeds=2).looks
            ((4, 6, 10), (2,))
        """
        looks = [self.seeds]
        while (before := 2 * looks[-1] // 3) >= 3:
            looks.append(before)
        return tuple(reversed(looks))

    def spent(self, seeds: int) -> float:
        """Share of the error that the look at this number of seeds may spend.

        Example:
            >>> rule = SequentialTest(0.2, seeds=5)
            >>> rule.spent(3), rule.spent(3) + rule.spent(5)
            (0.36, 1.0)
        """
        earlier = [n for n in self.looks if n < seeds]
        before = earlier[-1] if earlier else 0
        return float((seeds / self.seeds) ** _POWER - (before / self.seeds) ** _POWER)

    def run(self, differences: Callable[[int], Sequence[float]], share: float) -> Decision:
        """Add seeds until the test decides, or all are used.

        Example:
            >>> seeds = [1.0, 0.6, 1.4, 1.0, 0.8]
            >>> SequentialTest(0.2, seeds=5).run(lambda count: seeds[:count], 0.05).seeds
            3
        """
        for seeds in self.looks:
            decision = self.decide(differences(seeds), share)
            if decision.verdict != "undecided":
                break
        return decision

    def decide(self, differences: Sequence[float], share: float) -> Decision:
        """Decide at one look.

        Args:
            differences: Ticket minus dense for each seed; their number is one of the looks.
            share: Error that all looks at this ticket may spend on acceptance. Rejection may spend
                the whole error, since a lost winning ticket is not a wrong result.
        """
        count = len(differences)
        if count not in self.looks:
            raise InputError(f"got {count} differences, expected one of: {self.looks}")
        mean = float(np.mean(differences))
        deviation = max(float(np.std(differences, ddof=1)), self.resolution)
        spent = self.spent(count)
        low = mean - _margin(deviation, count, share * spent)
        high = mean + _margin(deviation, count, self.error * spent)
        verdict: Verdict = "undecided"
        if low > -self.tolerance:
            verdict = "accepted"
        elif high < -self.tolerance:
            verdict = "rejected"
        return Decision(count, mean, low, high, verdict)


def _margin(deviation: float, count: int, error: float) -> float:
    """Distance of a one-sided Student bound from the mean."""
    from scipy.special import stdtrit

    return -float(stdtrit(count - 1, error)) * deviation / math.sqrt(count)
