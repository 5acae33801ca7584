"""Charts of a sweep (metric against sparsity) and of a search (the levels it tried)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from teddy.report.chart import Chart, Line, Panel, Points
from teddy.report.page_data import dense_of
from teddy.report.style import method_order
from teddy.sweep.metric import Metric
from teddy.sweep.sparsest import SearchResult, TriedPair
from teddy.sweep.summary import Row, Summary, summarize


def metric_chart(rows: Sequence[Row]) -> Chart:
    """Draw the mean over seeds by graph sparsity, in a panel for each data set and model.

    Methods that prune weights only (``only=weights``) are drawn by weight sparsity. Axes and title
    name the metric of the task.

    Example:
        >>> row = {"dataset": "cora", "model": "gcn", "method": "teddy", "simulation": 5,
        ...     "seed": 0, "graph_sparsity": 0.25, "weight_sparsity": 0.5, "test": 82.0,
        ...     "last_test": 80.0, "dense_test": 81.0, "seconds_round": 1.0, "seconds_sparse": 2.0,
        ...     "test_rows": 1000}
        >>> panel, = metric_chart([row]).panels
        >>> panel.title, panel.level, panel.marks
        ('gcn on cora', 81.0, [Line(label='teddy', x=[25.0], y=[82.0], spread=None)])
        >>> metric_chart([{**row, "task": "regression", "metric": "R2"}]).panels[0].ylabel
        'test R2 (%)'
    """
    summaries, metric = summarize(rows), Metric.from_rows(rows)
    problems = sorted({(s.dataset, s.model) for s in summaries})
    panels = []
    for dataset, model in problems:
        chosen = [s for s in summaries if (s.dataset, s.model) == (dataset, model)]
        dense = dense_of(r for r in rows if (r["dataset"], r["model"]) == (dataset, model))
        panels.append(
            Panel(
                f"{model} on {dataset}",
                "removed (%)",
                f"test {metric.name} (%)",
                [_line(method, chosen) for method in method_order(s.method for s in chosen)],
                level=dense["best"]["mean"],
            )
        )
    fewest, most = min(s.seeds for s in summaries), max(s.seeds for s in summaries)
    seeds = f"{most}" if fewest == most else f"{fewest} to {most}"
    band = f"mean of {seeds} seeds, band one standard deviation" if most > 1 else "one seed"
    return Chart(file_stem(metric.name), f"{metric.title} against sparsity: {band}", panels)


def file_stem(name: str) -> str:
    """Return a name of letters, digits and dashes for a file.

    Example:
        >>> file_stem("micro-F1"), file_stem("</script><b>")
        ('micro-f1', 'script-b')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "chart"


def _line(method: str, summaries: Sequence[Summary]) -> Line:
    points = sorted((s for s in summaries if s.method == method), key=lambda s: s.level)
    several = any(s.seeds > 1 for s in points)
    weights_only = all(s.graph_sparsity == 0 for s in points)
    return Line(
        method,
        [100 * (s.weight_sparsity if weights_only else s.graph_sparsity) for s in points],
        [s.mean for s in points],
        [s.deviation for s in points] if several else None,
    )


def search_chart(*results: SearchResult) -> Chart:
    """Draw a search of equal levels by sparsity, a search of the frontier by both sparsities.

    Searches of several methods have a panel each.

    Example:
        >>> from teddy.sweep import Decision, LevelPair, SequentialTest
        >>> decision = Decision(4, 1.0, -0.2, 2.2, "accepted")
        >>> result = SearchResult("citeseer", "gin", "teddy", SequentialTest(0.2), [20], False,
        ...     [TriedPair(LevelPair(20, 20), 0.64, 0.64, decision)], [], [], 4, 4, 8, 8)
        >>> [mark.label for mark in search_chart(result).panels[0].marks]
        ['accepted', 'bounds']
    """
    first, several = results[0], len(results) > 1
    title = ", ".join([first.dataset, first.model, *([] if several else [first.method])])
    panels = [
        (_frontier if result.frontier else _diagonal)(result, result.method if several else "")
        for result in results
    ]
    return Chart("search", title, panels)


def _diagonal(result: SearchResult, title: str) -> Panel:
    def removed(tried: TriedPair) -> float:
        return 100 * max(tried.graph_sparsity, tried.weight_sparsity)

    marks: list[Line | Points] = [*_points(result, removed, lambda tried: tried.decision.mean)]
    for tried in result.tried:
        bounds = [tried.decision.low, tried.decision.high]
        marks.append(Line("bounds", [removed(tried)] * 2, bounds))
    return Panel(
        title,
        "removed (%)",
        f"validation {result.metric.name}, to dense (points)",
        marks,
        level=-result.rule.tolerance,
        level_label="tolerance",
    )


def _frontier(result: SearchResult, title: str) -> Panel:
    marks: list[Line | Points] = [
        *_points(result, lambda t: 100 * t.graph_sparsity, lambda t: 100 * t.weight_sparsity)
    ]
    corners = [answer.tried for answer in result.answers]
    if corners:
        marks.append(Line("frontier", *_steps(corners)))
    return Panel(title, "edges removed (%)", "weights removed (%)", marks)


def _points(
    result: SearchResult, x: Callable[[TriedPair], float], y: Callable[[TriedPair], float]
) -> Iterator[Points]:
    """Return the points of each verdict that occurs."""
    for verdict in ("accepted", "undecided", "rejected"):
        some = [tried for tried in result.tried if tried.decision.verdict == verdict]
        if some:
            yield Points(verdict, [x(tried) for tried in some], [y(tried) for tried in some])


def _steps(corners: list[TriedPair]) -> tuple[list[float], list[float]]:
    """Return the staircase through the accepted corners, the sparsest graph first."""
    x, y = [100 * corners[0].graph_sparsity], [0.0]
    for corner, following in zip(corners, [*corners[1:], None], strict=True):
        x += [100 * corner.graph_sparsity]
        y += [100 * corner.weight_sparsity]
        x += [100 * following.graph_sparsity if following else 0.0]
        y += [100 * corner.weight_sparsity]
    return x, y
