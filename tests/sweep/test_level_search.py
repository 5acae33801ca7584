"""The walks: right where the tests are, few tests, and errors that sum to the whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teddy.sweep.level_search import LevelPair, bisect_levels, trace_frontier
from teddy.sweep.sequential import SequentialTest

ERROR = 0.05


class Oracle:
    """Knows what is within the tolerance, and writes down what it is asked."""

    def __init__(self, good):
        self.good, self.shares = good, {}

    def __call__(self, point, share):
        assert point not in self.shares, "asked twice"
        self.shares[point] = share
        return self.good(point)

    def spent_beyond(self):
        return sum(share for point, share in self.shares.items() if not self.good(point))


@given(st.integers(1, 70), st.data())
def test_bisection_finds_the_last_level_within(count, data):
    last = data.draw(st.integers(0, count))
    oracle = Oracle(lambda point: point.edges <= last)
    found = bisect_levels(range(1, count + 1), ERROR, oracle)
    assert found == ([LevelPair(last, last)] if last else [])
    assert len(oracle.shares) <= 1 + count.bit_length()
    assert oracle.spent_beyond() <= ERROR * (1 + 1e-9)
    if last == count:
        assert len(oracle.shares) == 1  # the sparsest is tried first


@given(st.lists(st.booleans(), min_size=40, max_size=40), st.lists(st.booleans(), min_size=40))
def test_the_share_of_a_level_does_not_depend_on_the_data(one, other):
    first, second = (Oracle(lambda point, o=o: o[point.edges - 1]) for o in (one, other))
    for oracle in (first, second):
        bisect_levels(range(1, 41), ERROR, oracle)
    for point in first.shares.keys() & second.shares.keys():
        assert first.shares[point] == second.shares[point]


@given(st.lists(st.integers(0, 6), min_size=6, max_size=6).map(lambda h: sorted(h, reverse=True)))
def test_the_staircase_is_the_whole_frontier(heights):
    # Row 0 always has the dense pair; row i is good up to its height, or not at all at 0.
    levels = [5, 10, 15, 20, 25]
    height = dict(zip([0, *levels], [max(1, heights[0]), *heights[1:]], strict=True))
    steps = [0, *levels]

    def good(point):
        return steps.index(point.weights) < height[point.edges]

    oracle = Oracle(good)
    found = trace_frontier(levels, ERROR, oracle)
    points = [LevelPair(i, j) for i in steps for j in steps if good(LevelPair(i, j)) and (i or j)]
    maximal = [p for p in points if not any(p != q and p.within(q) for q in points)]
    assert sorted(found) == sorted(maximal)
    assert found == sorted(found, reverse=True)
    assert LevelPair(0, 0) not in oracle.shares
    assert len(oracle.shares) <= 2 * len(steps)
    assert oracle.spent_beyond() <= ERROR * (1 + 1e-9)


@pytest.mark.parametrize("walk", [bisect_levels, trace_frontier])
@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_a_search_keeps_its_error_rate(walk, shared):
    """Everything lies at the tolerance, all but the dense pair: any answer is wrong."""
    runs, rng, rule = 600, np.random.default_rng(0), SequentialTest(0.2, 0.5, 1 - ERROR, seeds=5)
    wrong = 0
    for _ in range(runs):
        common = rng.normal(0, 1, rule.seeds)  # dense models are shared by all levels

        def accepts(point, share, common=common):
            own = rng.normal(0, 1, rule.seeds)
            differences = -0.5 + shared**0.5 * common + (1 - shared) ** 0.5 * own
            return rule.run(lambda count: differences[:count], share).verdict == "accepted"

        wrong += bool(walk([5, 10, 15, 20], rule.error, accepts))
    assert wrong / runs <= ERROR + 3 * (ERROR * (1 - ERROR) / runs) ** 0.5
