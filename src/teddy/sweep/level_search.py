r"""Which levels to try, few of them, and how much error each may spend.

Both walks assume that a level beyond the tolerance has none within it above: nothing sparser, in
edges and weights, is good again. The levels that are beyond it, and all tests that could accept
one of them wrongly, are then fixed before the first training, and so is the error that each test
may spend. These errors sum to the whole at most, so by Bonferroni's inequality a level beyond the
tolerance is accepted with no more than that probability, though the levels share their seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class LevelPair:
    """A level for the edges and one for the weights, by the paper's simulations.

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
        """Whether the other is as sparse at least, in both."""
        return self.edges <= other.edges and self.weights <= other.weights


#: Tests a point that may spend an error; true if it is accepted.
AcceptanceTest = Callable[[LevelPair, float], bool]


def bisect_levels(levels: Sequence[int], error: float, accepts: AcceptanceTest) -> list[LevelPair]:
    """Find the sparsest level that is accepted: the last one at first, then by bisection.

    A test may spend an equal share of what is left for those that can follow it; the share of a
    level that is accepted isn't spent. A level can be reached in one way only, so its share is
    fixed. The tests that may accept a level beyond the tolerance before another such level is
    accepted are those on the way to the last level within it: none of them is accepted, so what
    they spend sums to the error at most.

    Args:
        levels: Those to choose from, in ascending order.
        error: Probability of a wrong answer.
        accepts: The test.

    Returns:
        The answer; nothing if no level is accepted.

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
    """Find all sparsest points that are accepted: those between which one has to choose.

    The sparsest point of all is tried first. If it isn't accepted, the walk starts from the
    sparsest graph with all weights: from a point that is accepted to sparser weights, from one that
    is not to a denser graph. In each row of equal graphs the first point beyond the tolerance that
    can be met is the one after the last within it, so a test may spend an equal share of the error
    for each row and the first point.

    Args:
        levels: Those to choose from, in ascending order, for edges and weights; 0 joins them.
        error: Probability that a point of the answer is wrong.
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
        # The dense pair itself needs no test; the sparsest point has had one.
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
