"""The rule that says when to stop: against scipy's test, and by how often it is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from teddy.errors import InputError
from teddy.sweep.sequential import SequentialTest

NODE = 0.2  # points that a node of 500 makes
ERROR = 0.05
RUNS = 3000
#: Three standard deviations of a share of RUNS that is ERROR.
NOISE = 3 * (ERROR * (1 - ERROR) / RUNS) ** 0.5


@given(st.integers(2, 100))
def test_the_error_is_spent_once(seeds):
    rule = SequentialTest(NODE, seeds=seeds)
    assert list(rule.looks) == sorted(set(rule.looks))
    assert rule.looks[-1] == seeds
    assert rule.looks[0] >= min(seeds, 3)
    shares = [rule.spent(look) for look in rule.looks]
    assert min(shares) > 0
    assert sum(shares) == pytest.approx(1)


@given(
    st.lists(st.floats(-5, 5), min_size=6, max_size=6).filter(lambda d: np.std(d, ddof=1) > NODE),
    st.floats(0, 2),
    st.floats(0.001, 0.05),
)
def test_the_bounds_are_those_of_students_test(differences, tolerance, share):
    rule = SequentialTest(NODE, tolerance, 1 - ERROR, seeds=10)
    found = rule.decide(differences, share)
    above = ttest_1samp(differences, -tolerance, alternative="greater").pvalue
    below = ttest_1samp(differences, -tolerance, alternative="less").pvalue
    spent = 0.36 - 0.16  # of looks at 4, 6 and 10
    expected = "undecided"
    if above < share * spent:
        expected = "accepted"
    elif below < ERROR * spent:
        expected = "rejected"
    assert found.verdict == expected
    assert found.low < found.mean < found.high


@pytest.mark.parametrize("value", [-0.5, -0.4, 0.0, 0.2])
def test_equal_differences_of_few_seeds_are_no_certainty(value):
    rule = SequentialTest(NODE, 0.5, seeds=10)
    assert rule.decide([value] * 4, ERROR / 7).verdict == "undecided"
    assert SequentialTest(NODE, 0.5, seeds=2).decide([value] * 2, ERROR / 7).verdict == "undecided"


def test_equal_differences_of_many_seeds_are_decisive():
    assert SequentialTest(NODE, 0.5, seeds=10).decide([0.0] * 10, ERROR / 7).verdict == "accepted"
    assert SequentialTest(NODE, 0.5, seeds=10).decide([-1.0] * 10, ERROR / 7).verdict == "rejected"


def verdicts(rule, share, mean, deviation, node=0.0):
    """Counts of final verdicts on normal differences rounded to nodes."""
    rng = np.random.default_rng(0)
    drawn = rng.normal(mean, deviation, (RUNS, rule.seeds))
    if node:
        drawn = node * np.round(drawn / node)
    counts = dict.fromkeys(("accepted", "rejected", "undecided"), 0)
    for differences in drawn:
        counts[rule.run(lambda count, d=differences: d[:count], share).verdict] += 1
    return {name: count / RUNS for name, count in counts.items()}


@pytest.mark.parametrize("seeds", [2, 5, 10])
@pytest.mark.parametrize(("deviation", "node"), [(1.0, 0.0), (1.0, NODE), (0.1, NODE), (0.3, 0.25)])
def test_at_the_tolerance_it_keeps_its_error_rate(seeds, deviation, node):
    # -0.5 is half way between two nodes of 0.2, and two nodes of 0.25.
    rule = SequentialTest(node or 1e-9, 0.5, 1 - ERROR, seeds)
    found = verdicts(rule, ERROR, -0.5, deviation, node)
    assert found["accepted"] <= ERROR + NOISE
    assert found["rejected"] <= ERROR + NOISE


def test_the_budget_of_one_level_is_kept():
    found = verdicts(SequentialTest(NODE, 0.5, 1 - ERROR, 10), ERROR / 7, -0.5, 1.0, NODE)
    assert found["accepted"] <= ERROR / 7 + 3 * (ERROR / 7 / RUNS) ** 0.5


def test_clear_cases_are_seen():
    rule = SequentialTest(NODE, 0.5, 1 - ERROR, 10)
    assert verdicts(rule, ERROR / 7, 1.5, 1.0, NODE)["accepted"] > 0.95
    assert verdicts(rule, ERROR / 7, -2.5, 1.0, NODE)["rejected"] > 0.95
    assert verdicts(rule, ERROR / 7, 0.0, 0.3, NODE)["accepted"] > 0.9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tolerance": -1}, "tolerance is -1, expected a number from 0"),
        ({"confidence": 1.0}, r"confidence is 1.0, expected a number in \[0.5, 1\)"),
        ({"confidence": "95"}, "confidence is 95, expected a number"),
        ({"seeds": 1}, "seeds is 1, expected a whole number from 2"),
        ({"resolution": 0.0}, "resolution is 0.0, expected a number above 0"),
    ],
)
def test_invalid_settings_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        SequentialTest(**{"resolution": NODE, **settings})


def test_other_numbers_of_seeds_are_refused():
    with pytest.raises(InputError, match="got 7 differences"):
        SequentialTest(NODE, seeds=10).decide([0.0] * 7, ERROR)
