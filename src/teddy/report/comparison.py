"""Forest plots: the paired difference of every method to a baseline, on a common scale."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from teddy.report.style import method_order
from teddy.sweep.statistics import ENOUGH_SEEDS, TOO_FEW, Difference
from teddy.sweep.summary import Row, summarize

#: Most rows of all forest plots together; further baselines cannot be selected.
_MOST_ROWS = 4000


@dataclass(frozen=True)
class Comparison:
    """Difference of one method at one level to the baseline.

    Attributes:
        position: Position of the ticket in the page's cells.
        removed: Shares of edges and weights that are removed, as a text.
        difference: In points of the test metric, paired over seeds.
    """

    position: int
    method: str
    level: int
    removed: str
    difference: Difference

    @property
    def verdict(self) -> str:
        """``above``, ``below`` or ``undecided`` (the interval contains zero); or too few seeds.

        Example:
            >>> Comparison(0, "teddy", 5, "", Difference(1.0, 0.2, 1.8, 3)).verdict
            'above'
            >>> Comparison(0, "teddy", 5, "", Difference(1.0, 0.2, 1.8, 2)).verdict
            'too few seeds'
        """
        if self.difference.seeds < ENOUGH_SEEDS:
            return TOO_FEW
        if self.difference.clearly_above():
            return "above"
        return "below" if self.difference.clearly_below() else "undecided"


@dataclass(frozen=True)
class Forest:
    """Comparisons of one data set and model with one baseline.

    Attributes:
        problem: Position of the data set and model in the page's problems.
        baseline: Method that the others are compared with; None: the dense model.
        methods: Comparisons of each other method, by level.
        low: Left end of the axis.
        high: Right end of the axis.
        ticks: Values that the axis names.
    """

    problem: int
    baseline: str | None
    methods: Mapping[str, Sequence[Comparison]]
    low: float
    high: float
    ticks: Sequence[float]


def default_baseline(methods: Sequence[str]) -> str | None:
    """Return the random baseline if other methods are there to compare, else None (dense).

    Example:
        >>> default_baseline(["teddy", "random:distill=0", "random"])
        'random'
        >>> default_baseline(["teddy", "ugs"]), default_baseline(["random"])
        (None, None)
    """
    random = [name for name in method_order(methods) if name.partition(":")[0] == "random"]
    return random[0] if random and len(set(methods)) > 1 else None


def baselines(cells: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """Baselines to select from, the default first; None: the dense model.

    Example:
        >>> baselines([{"method": name, "verdict": "losing"} for name in ("teddy", "random")])
        ['random', None, 'teddy']
    """
    tickets = [cell for cell in cells if cell["verdict"] != "dense"]
    methods = method_order(cell["method"] for cell in tickets)
    choices = list(dict.fromkeys([default_baseline(methods), None, *methods]))
    return choices[: max(2, _MOST_ROWS // max(1, len(tickets)))]


def forests(rows: Iterable[Row], cells: Sequence[Mapping[str, Any]]) -> list[Forest]:
    """Compare every method with every baseline, for each data set and model.

    Args:
        rows: Rows of the sweep.
        cells: The page's cells, see :func:`teddy.report.page_data.page_data`.
    """
    by_problem: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_problem.setdefault((row["dataset"], row["model"]), []).append(row)
    choices = baselines(cells)
    return [
        _forest(problem, baseline, by_problem[names], cells)
        for problem, names in enumerate(sorted(by_problem))
        for baseline in choices
    ]


def tally(comparisons: Sequence[Comparison]) -> str:
    """Count the verdicts of a method over its levels.

    Example:
        >>> above = Comparison(0, "teddy", 5, "", Difference(1.0, 0.2, 1.8, 3))
        >>> unclear = Comparison(1, "teddy", 9, "", Difference(1.0, -0.2, 2.2, 3))
        >>> tally([above]), tally([above, unclear]), tally([unclear, unclear])
        ('above at level 5', 'above at 1, undecided at 1 of 2 levels', 'undecided at all 2 levels')
    """
    counts = Counter(comparison.verdict for comparison in comparisons)
    if len(comparisons) == 1:
        return f"{comparisons[0].verdict} at level {comparisons[0].level}"
    if len(counts) == 1:
        return f"{comparisons[0].verdict} at all {len(comparisons)} levels"
    order = ("above", "undecided", "below", TOO_FEW)
    parts = [f"{verdict} at {counts[verdict]}" for verdict in order if counts[verdict]]
    return f"{', '.join(parts)} of {len(comparisons)} levels"


def overall(comparisons: Sequence[Comparison]) -> str:
    """Return the verdict of more than half of the levels, or ``undecided``.

    Example:
        >>> overall([Comparison(0, "teddy", 5, "", Difference(1.0, 0.2, 1.8, 3))])
        'above'
    """
    verdict, count = Counter(c.verdict for c in comparisons).most_common(1)[0]
    return (
        verdict if verdict in ("above", "below") and 2 * count > len(comparisons) else "undecided"
    )


def removed_text(graph: float, weight: float) -> str:
    """Describe removed shares in few letters; both are percent.

    Example:
        >>> removed_text(40.1, 40.1), removed_text(40.1, 0.0), removed_text(40.1, 64.2)
        ('40.1%', '40.1% of edges', '40.1% of edges, 64.2% of weights')
    """
    edges, weights = f"{graph:.1f}%", f"{weight:.1f}%"
    if edges == weights:
        return edges
    shares = {"edges": edges, "weights": weights}
    return ", ".join(f"{share} of {part}" for part, share in shares.items() if share != "0.0%")


def axis_ticks(low: float, high: float) -> list[float]:
    """Return round numbers within a range, zero among them.

    Example:
        >>> axis_ticks(-2.3, 1.1)
        [-2.0, -1.0, 0.0, 1.0]
        >>> axis_ticks(-9.8, 3.7)
        [-7.5, -5.0, -2.5, 0.0, 2.5]
    """
    power = 10.0 ** math.floor(math.log10((high - low) / 6))
    step = next(power * part for part in (1, 2, 2.5, 5, 10) if (high - low) / (power * part) <= 6)
    count = range(math.ceil(low / step), math.floor(high / step) + 1)
    return [round(index * step, 10) for index in count]


def _forest(
    problem: int, baseline: str | None, rows: list[Row], cells: Sequence[Mapping[str, Any]]
) -> Forest:
    known = {row["method"] for row in rows}
    differences: dict[tuple[str, int], Difference | None] = {}
    if baseline is None or baseline in known:
        differences = {
            (s.method, s.level): s.difference if baseline is None else s.against
            for s in summarize(rows, baseline)
        }
    methods: dict[str, list[Comparison]] = {}
    tickets = [
        (position, cell)
        for position, cell in enumerate(cells)
        if cell["problem"] == problem and cell["verdict"] != "dense"
    ]
    for name in method_order(cell["method"] for _, cell in tickets):
        compared = [
            Comparison(
                position, name, cell["level"], removed_text(cell["graph"], cell["weight"]),
                difference,
            )
            for position, cell in tickets
            if cell["method"] == name
            and (difference := differences.get((name, cell["level"]))) is not None
        ]  # fmt: skip
        if compared:
            methods[name] = sorted(compared, key=lambda c: c.level)
    low, high = _range(c.difference for group in methods.values() for c in group)
    return Forest(problem, baseline, methods, low, high, axis_ticks(low, high))


def _range(differences: Iterable[Difference]) -> tuple[float, float]:
    """Return the ends of an axis that has all intervals and zero."""
    values = [0.0]
    for d in differences:
        values += [value for value in (d.mean, d.low, d.high) if value is not None]
    low, high = min(values), max(values)
    margin = 0.06 * (high - low) or 1.0
    return low - margin, high + margin
