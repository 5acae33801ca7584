r"""Choice of the levels to try, and of the error that each test may spend.

Both searches assume that accuracy is monotone: no level sparser than one beyond the tolerance is
within it. The levels beyond it, and all tests that could accept one of them wrongly, are then fixed
before the first training, and so is the error that each test may spend. These errors sum to at most
the total error. By Bonferroni's inequality that bounds the probability to accept a level beyond the
tolerance, although the levels share their seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class LevelPair:
    """A level of the edges and a level of the weights, in the paper's schedule.

    Example:
        >>> LevelPair(5, 10).within(LevelPair(5, 20)), LevelPair(5, 10).within(LevelPair(20, 5))
        (True, False)
        >>> str(LevelPair(5, 5)), str(LevelPair(5, 20))
        ('5', '5/20')
    """

    edges: int
    weights: int

    def __str__(self) -> str:
        return f"{self.edges}" if self.edges == self.weights else f"{self.edges}/{self.weights}"

    def within(self, other: LevelPair) -> bool:
        """Return whether the other pair is at least as sparse in both."""
        return self.edges <= other.edges and self.weights <= other.weights


#: Test of a pair of levels that may spend an error; True if it accepts.
AcceptanceTest = Callable[[LevelPair, float], bool]


def bisect_levels(levels: Sequence[int], error: float, accepts: AcceptanceTest) -> list[LevelPair]:
    """Find the sparsest accepted level: try the last one, then bisect.

    A test may spend an equal share of the remaining error for all tests that can follow it; the
    share of an accepted level is not spent. Each level is reached in one way only, so its share is
    fixed. Wrong acceptances can occur on the path to the last level within the tolerance only; the
    tests of that path reject, so their shares sum to at most the error.

    Args:
        levels: Levels to choose from, in ascending order.
        error: Probability of a wrong answer.
        accepts: The test.

    Returns:
        The answer; empty if no level is accepted.

    Example:
        >>> tried = []
        >>> def accepts(point, error):
        ...     tried.append((point.edges, round(error, 4)))
        ...     return point.edges <= 13
        >>> bisect_levels(range(1, 41), 0.07, accepts)
        [LevelPair(edges=13, weights=13)]
        >>> tried
        [(40, 0.01), (20, 0.01), (10, 0.01), (15, 0.0125), (12, 0.0125), (13, 0.0188), (14, 0.0375)]
    """
    good, bad = -1, len(levels)
    following = 1 + (len(levels) - 1).bit_length()
    place = len(levels) - 1
    while bad - good > 1:
        share = error / following
        if accepts(LevelPair(levels[place], levels[place]), share):
            good = place
        else:
            bad = place
            error -= share
        place = (good + bad) // 2
        following = (bad - good - 1).bit_length()
    return [LevelPair(levels[good], levels[good])] if good >= 0 else []


def trace_frontier(levels: Sequence[int], error: float, accepts: AcceptanceTest) -> list[LevelPair]:
    """Find the Pareto frontier of accepted pairs: those with no accepted pair sparser in both.

    The sparsest pair is tried first. If it is rejected, the search starts from the sparsest graph
    with all weights. It continues with sparser weights after an acceptance, and with a denser graph
    after a rejection. Each row of equal graphs can have one wrong acceptance, so a test may spend
    an equal share of the error for each row and for the first pair.

    Args:
        levels: Levels to choose from, in ascending order, for edges and weights; 0 is added.
        error: Probability that a pair of the answer is wrong.
        accepts: The test.

    Returns:
        The corners of the staircase, the sparsest graph first.

    Example:
        >>> tried = []
        >>> def accepts(point, error):
        ...     tried.append((point.edges, point.weights))
        ...     return point.edges <= 20 and point.edges + point.weights <= 40
        >>> trace_frontier([10, 20, 30], 0.05, accepts)
        [LevelPair(edges=20, weights=20), LevelPair(edges=10, weights=30)]
        >>> tried
        [(30, 30), (30, 0), (20, 0), (20, 10), (20, 20), (20, 30), (10, 30)]
    """
    steps = [0, *levels]
    share = error / (len(steps) + 1)
    if accepts(LevelPair(steps[-1], steps[-1]), share):
        return [LevelPair(steps[-1], steps[-1])]
    corners: list[LevelPair] = []
    row, column = len(steps) - 1, 0
    while row >= 0 and column < len(steps):
        point = LevelPair(steps[row], steps[column])
        # The dense pair needs no test; the sparsest pair was tested.
        dense, first = point == LevelPair(0, 0), point == LevelPair(steps[-1], steps[-1])
        if dense or (not first and accepts(point, share)):
            if corners and corners[-1].within(point):
                corners.pop()
            if not dense:
                corners.append(point)
            column += 1
        else:
            row -= 1
    return corners
