r"""When to stop training more seeds: a test that may look several times.

A ticket is *accepted* if a lower confidence bound of the mean difference to dense lies above minus
the tolerance, *rejected* if an upper one lies below it, and *undecided* if neither does when the
last seed is there. The differences are taken to be independent over seeds and about normal.

Looking again and again until it fits would find something sooner or later, so an error
:math:`\alpha` is spread over the looks :math:`n_1 < \dots < n_K = N`: by the look at n seeds
:math:`\alpha (n / N)^2` is spent, the power family of Kim and DeMets (Biometrika, 1987), as of the
alpha spending of Lan and DeMets (Biometrika, 1983); the look itself has what is new of it,

.. math::
    \alpha_k = \alpha \left( (n_k / N)^2 - (n_{k-1} / N)^2 \right), \qquad
    \bar d - t_{n_k - 1, 1 - \alpha_k} \, s / \sqrt{n_k} > -\mathrm{tolerance}.

The sum of the :math:`\alpha_k` is :math:`\alpha`, so by Bonferroni's inequality all looks together
err with a probability of :math:`\alpha` at most, however they depend on each other.
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

# By half of the seeds a quarter of the error is spent: early looks are for clear cases.
_POWER = 2


@dataclass(frozen=True)
class Decision:
    """Verdict on a ticket after some seeds.

    Attributes:
        low: Bound that acceptance depends on.
        high: Bound that rejection depends on.
    """

    seeds: int
    mean: float
    low: float
    high: float
    verdict: Verdict


@dataclass(frozen=True)
class SequentialTest:
    """How much worse than dense a ticket may be, and how sure of it one wants to be.

    Attributes:
        resolution: Points that one validation example is worth, such as 100 / n of n nodes in
            accuracy; see :meth:`teddy.tasks.Task.resolution`. The standard deviation is taken
            to be that at least: differences that are equal to the example may differ at the next
            seed.
        tolerance: Points of the metric that a ticket may be below dense.
        confidence: That nothing beyond the tolerance is accepted.
        seeds: At most so many are trained.

    Example:
        >>> rule = SequentialTest(resolution=0.2, tolerance=0.5, confidence=0.95, seeds=5)
        >>> rule.looks
        (3, 5)
        >>> rule.decide([1.0, 1.2, 1.2, 0.8, 1.0], rule.error).verdict
        'accepted'
        >>> rule.decide([-3.0, -3.2, -3.4], rule.error).verdict
        'rejected'
        >>> rule.decide([0.0, 0.0, 0.0], rule.error)  # no spread, and still no certainty
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
            sound = 0.5 <= self.confidence < 1
        except TypeError:
            sound = False
        if not sound:
            raise InputError(f"confidence is {self.confidence}, expected a share from 0.5, below 1")

    @property
    def error(self) -> float:
        """The probability that is spent in all."""
        return 1 - self.confidence

    @property
    def looks(self) -> tuple[int, ...]:
        """Numbers of seeds at which one looks: the last, and 2/3 of the next as long as that is 3.

        Example:
            >>> SequentialTest(0.2, seeds=10).looks, SequentialTest(0.2, seeds=2).looks
            ((4, 6, 10), (2,))
        """
        found = [self.seeds]
        while (before := 2 * found[-1] // 3) >= 3:
            found.append(before)
        return tuple(reversed(found))

    def spent(self, seeds: int) -> float:
        """Share of an error that the look at so many seeds may spend.

        Example:
            >>> rule = SequentialTest(0.2, seeds=5)
            >>> rule.spent(3), rule.spent(3) + rule.spent(5)
            (0.36, 1.0)
        """
        earlier = [n for n in self.looks if n < seeds]
        before = earlier[-1] if earlier else 0
        return float((seeds / self.seeds) ** _POWER - (before / self.seeds) ** _POWER)

    def run(self, differences: Callable[[int], Sequence[float]], share: float) -> Decision:
        """Look until the seeds say something, or all are there.

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
        """What the differences to dense say at this look.

        Args:
            differences: Ticket minus dense, one a seed, as many as one of the looks has.
            share: Error that all looks at this ticket may spend on accepting it. A rejection may
                spend the whole: a good ticket that is lost isn't a wrong answer.
        """
        count = len(differences)
        if count not in self.looks:
            raise InputError(f"got {count} seeds to look at, expected one of: {self.looks}")
        mean = float(np.mean(differences))
        deviation = max(float(np.std(differences, ddof=1)), self.resolution)
        spent = self.spent(count)
        low = mean - _reach(deviation, count, share * spent)
        high = mean + _reach(deviation, count, self.error * spent)
        verdict: Verdict = "undecided"
        if low > -self.tolerance:
            verdict = "accepted"
        elif high < -self.tolerance:
            verdict = "rejected"
        return Decision(count, mean, low, high, verdict)


def _reach(deviation: float, count: int, error: float) -> float:
    """How far a one-sided bound of Student's is from the mean."""
    from scipy.special import stdtrit

    return -float(stdtrit(count - 1, error)) * deviation / math.sqrt(count)
