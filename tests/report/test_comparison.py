"""Forest plots against differences computed here from the definition."""

from __future__ import annotations

import math
import re
from itertools import product

import numpy as np
import pytest

from report.rows import METADATA, links, row, sweep
from teddy.report import make_page
from teddy.report.comparison import axis_ticks, baselines, default_baseline, forests, tally
from teddy.report.headline import headlines
from teddy.report.page_data import page_data
from teddy.sweep.summary import summarize

#: Student's t at 97.5%, by degrees of freedom, from a printed table.
T = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764}


def interval(ours, theirs, floor):
    """Mean and 95% interval of paired differences, straight from the formula."""
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    n, mean = len(differences), math.fsum(differences) / len(differences)
    variance = math.fsum((d - mean) ** 2 for d in differences) / (n - 1)
    reach = T[n - 1] * max(math.sqrt(variance), floor) / math.sqrt(n)
    return mean, mean - reach, mean + reach


def random_rows(seeds=5):
    """Two models, three methods and two levels with noise; the seeds are not in order."""
    noise = np.random.default_rng(7)
    rows = []
    for model, method, level in product(
        ("gcn", "gin"), ("teddy", "ugs", "random"), (5, 10)
    ):  # fmt: skip
        shift = {"teddy": 1.5, "ugs": -1.5, "random": 0.0}[method]
        for seed in noise.permutation(seeds).tolist():
            gain = shift + float(noise.normal(scale=0.6))
            rows.append(row(method, level, seed, model=model, gain=gain, dense=70.0 + seed))
    return rows


def values(rows, **wanted):
    chosen = [r for r in rows if all(r[name] == value for name, value in wanted.items())]
    return {r["seed"]: r for r in chosen}


@pytest.mark.parametrize("baseline", [None, "teddy", "ugs", "random"])
def test_every_row_is_the_paired_difference_to_the_baseline(baseline):
    rows = random_rows()
    plots = [f for f in forests(rows, page_data(rows, {})["cells"]) if f.baseline == baseline]
    assert [plot.problem for plot in plots] == [0, 1]
    for plot, model in zip(plots, ("gcn", "gin"), strict=True):
        assert set(plot.methods) == {"teddy", "ugs", "random"} - {baseline}
        for method, comparisons in plot.methods.items():
            assert [c.level for c in comparisons] == [5, 10]
            for c in comparisons:
                ours = values(rows, model=model, method=method, simulation=c.level)
                theirs = ours
                if baseline is not None:
                    theirs = values(rows, model=model, method=baseline, simulation=c.level)
                column = "dense_test" if baseline is None else "test"
                mean, low, high = interval(
                    [ours[seed]["test"] for seed in range(5)],
                    [theirs[seed][column] for seed in range(5)],
                    floor=0.1,
                )
                d = c.difference
                assert (d.mean, d.low, d.high) == pytest.approx((mean, low, high), rel=1e-4)
                expected = "above" if low > 0 else "below" if high < 0 else "undecided"
                assert c.verdict == expected
                assert plot.low < low
                assert plot.high > high


def test_only_seeds_of_both_methods_are_compared():
    rows = [row("teddy", 5, s, gain=s) for s in range(5)]
    rows += [row("random", 5, s, gain=0.0) for s in (1, 2, 4)]
    (plot,) = [f for f in forests(rows, page_data(rows, {})["cells"]) if f.baseline == "random"]
    (comparison,) = plot.methods["teddy"]
    assert comparison.difference.seeds == 3
    mean, low, high = interval([71, 72, 74], [70, 70, 70], 0.1)
    d = comparison.difference
    assert (d.mean, d.low, d.high) == pytest.approx((mean, low, high), rel=1e-4)


def test_equal_differences_have_the_resolution_of_the_metric():
    rows = [links(method=m, seed=s, gain=g) for m, g in (("teddy", 0.01), ("random", 0.0))
            for s in range(3)]  # fmt: skip
    (plot,) = [f for f in forests(rows, page_data(rows, {})["cells"]) if f.baseline == "random"]
    (comparison,) = plot.methods["teddy"]
    reach = T[2] * (100 / 500**2) / math.sqrt(3)
    assert comparison.difference.high - comparison.difference.low == pytest.approx(2 * reach, 1e-4)
    assert comparison.verdict == "above"


def test_too_few_seeds_give_no_verdict():
    rows = [row(m, 5, s, gain=g) for m, g in (("teddy", 5.0), ("random", 0.0)) for s in range(2)]
    cells = page_data(rows, {})["cells"]
    plot = forests(rows, cells)[0]
    assert (plot.baseline, plot.methods["teddy"][0].verdict) == ("random", "too few seeds")
    one = [r for r in rows if r["seed"] == 0]
    comparison = forests(one, page_data(one, {})["cells"])[0].methods["teddy"][0]
    assert (comparison.difference.mean, comparison.difference.low) == (5.0, None)


def test_the_default_baseline_is_random_and_else_dense():
    assert default_baseline(["teddy", "random", "random:distill=0"]) == "random"
    assert default_baseline(["teddy", "random:distill=0"]) == "random:distill=0"
    assert default_baseline(["teddy", "ugs"]) is None
    cells = page_data(sweep(), {})["cells"]
    assert baselines(cells) == ["random", None, "teddy", "teddy:distill=0"]
    single = page_data([row("random", 5, seed) for seed in range(3)], {})["cells"]
    assert baselines(single) == [None, "random"]


def test_a_baseline_without_the_same_levels_leaves_the_plot_empty():
    rows = [row("teddy", 5, s) for s in range(3)] + [row("random", 10, s) for s in range(3)]
    plot = forests(rows, page_data(rows, {})["cells"])[0]
    assert (plot.baseline, plot.methods) == ("random", {})
    assert "There is no other method at the same levels" in make_page(rows, {})


def test_headlines_start_with_the_comparison():
    rows = sweep()
    plots = [f for f in forests(rows, page_data(rows, {})["cells"]) if f.baseline == "random"]
    gcn, _ = headlines(summarize(rows), None, plots)
    assert gcn.baseline == "random"
    assert list(gcn.methods) == [
        ("teddy", "above", "above at all 2 levels"),
        ("teddy:distill=0", "undecided", "undecided at all 2 levels"),
    ]
    assert tally(plots[0].methods["teddy"][:1]) == "above at level 5"


@pytest.mark.parametrize(("low", "high"), [(-2.3, 1.1), (-0.03, 0.5), (-55.0, 4.0), (-1e-3, 4e-3)])
def test_ticks_are_a_few_round_numbers_with_zero(low, high):
    ticks = axis_ticks(low, high)
    assert 3 <= len(ticks) <= 7
    assert 0.0 in ticks
    assert low <= min(ticks) < max(ticks) <= high
    assert np.ptp(np.diff(ticks)) < 1e-9


def test_the_page_has_the_numbers_of_the_forest_plot_as_text():
    page = make_page(sweep(), METADATA)
    block = page[page.index("Method against method") : page.index('aria-labelledby="h-metric"')]
    text = " ".join(re.sub(r"<[^>]+>", " ", block).split())
    # teddy is 3 points above random: 1.0 + (-0.1, 0, 0.1) against -2.0 + (-0.1, 0, 0.1).
    mean, low, high = interval([73.0] * 3, [70.0] * 3, 0.1)
    assert f"level 5 22.6% above +{mean:.2f} [+{low:.2f}, +{high:.2f}]" in text
    for group in ("gcn on citeseer, against random", "gin on citeseer, against the dense model"):
        assert group in text
