"""Metric against sparsity of a sweep, as a chart."""

from __future__ import annotations

from collections.abc import Sequence

from teddy.report.cells import dense_of
from teddy.report.chart import Chart, Line, Panel
from teddy.report.style import method_order
from teddy.sweep.metric import Metric
from teddy.sweep.summary import Row, Summary, summarize


def metric_chart(rows: Sequence[Row]) -> Chart:
    """A panel for each data set and model: mean over seeds by the share of edges that went.

    Methods that leave the edges alone (``only=weights``) are drawn over the share of weights. Axes
    and title name the metric of the task.

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
    places = sorted({(s.dataset, s.model) for s in summaries})
    panels = []
    for dataset, model in places:
        here = [s for s in summaries if (s.dataset, s.model) == (dataset, model)]
        dense = dense_of(r for r in rows if (r["dataset"], r["model"]) == (dataset, model))
        panels.append(
            Panel(
                f"{model} on {dataset}",
                "removed (%)",
                f"test {metric.name} (%)",
                [_line(method, here) for method in method_order(s.method for s in here)],
                level=dense["best"]["mean"],
            )
        )
    fewest, most = min(s.seeds for s in summaries), max(s.seeds for s in summaries)
    seeds = f"{most}" if fewest == most else f"{fewest} to {most}"
    band = f"mean of {seeds} seeds, band one standard deviation" if most > 1 else "one seed"
    return Chart(metric.name.lower(), f"{metric.title} against sparsity: {band}", panels)


def _line(method: str, here: Sequence[Summary]) -> Line:
    points = sorted((s for s in here if s.method == method), key=lambda s: s.simulation)
    several = any(s.seeds > 1 for s in points)
    edges_stay = all(s.graph_sparsity == 0 for s in points)
    return Line(
        method,
        [100 * (s.weight_sparsity if edges_stay else s.graph_sparsity) for s in points],
        [s.mean for s in points],
        [s.deviation for s in points] if several else None,
    )
