"""Figure 8: mean degree of removed edges."""

from __future__ import annotations

from itertools import pairwise, product

from teddy.report.chart import Chart, Line, Panel
from teddy.sparsity import schedule_sparsity
from teddy_paper.accuracy import BASELINES, METHODS
from teddy_paper.accuracy import grids as accuracy_grids
from teddy_paper.findings import share
from teddy_paper.reproduction import (
    CITATION,
    MODELS,
    Finding,
    Result,
    ResultTable,
    Scope,
    reproduction,
)
from teddy_paper.results import Results, display_name


@reproduction("pruned-degrees", ("Figure 8",), "Mean degree of the removed edges", accuracy_grids)
def pruned_degrees(results: Results, scope: Scope) -> Result:
    """Mean edge degree (deg(i) + deg(j)) / 2 of removed edges, by method and level."""
    curves = {
        (dataset, model, method): {
            i: value
            for i in scope.levels
            if (value := results.mean(dataset, model, method, i, "pruned_degree")) is not None
        }
        for dataset, model, method in product(CITATION, MODELS, METHODS)
    }
    rows = [
        [dataset, model, method, i, value]
        for (dataset, model, method), curve in curves.items()
        if dataset in scope.datasets
        for i, value in curve.items()
    ]
    panels = [
        Panel(f"{display_name(model)}, {display_name(dataset)}", "edges removed (%)",
              "mean degree of removed edges", lines)
        for dataset, model in product(scope.datasets, MODELS)
        if (lines := [
            Line(method, [100 * schedule_sparsity(i) for i in curve], list(curve.values()))
            for method in METHODS
            if (curve := curves[dataset, model, method])
        ])
    ]  # fmt: skip
    columns = ("dataset", "model", "method", "simulation", "mean degree")
    return Result(
        [ResultTable("pruned-degrees", "Mean degree of removed edges", columns, rows)],
        [Chart("pruned-degrees", "Mean degree of removed edges", panels)],
        _findings(curves, scope),
    )


Curves = dict[tuple[str, str, str], dict[int, float]]


def _findings(curves: Curves, scope: Scope) -> list[Finding]:
    places = list(product(CITATION, MODELS))
    higher = [_above(curves[d, m, "teddy"], curves[d, m, "random"], scope) for d, m in places]
    falls = [_falls(curves[d, m, "teddy"], scope) for d, m in places]
    learned = {name: [_falls(curves[d, m, name], scope) for d, m in places] for name in BASELINES}
    unaware = [
        None if fall is None else not fall for curve in learned.values() for fall in curve
        if fall is not None or curve is learned["ugs"]
    ]  # fmt: skip
    return [
        share("degrees-high-first", higher, "above random's at every level"),
        share("degrees-decrease", falls, "falls from level to level"),
        share(
            "degrees-baselines-unaware", unaware,
            "UGS, and WD-GLT where all levels were run: doesn't fall from level to level",
        ),
    ]  # fmt: skip


def _above(ours: dict[int, float], theirs: dict[int, float], scope: Scope) -> bool | None:
    """Return whether a curve is above another at every level; None if one is missing."""
    if not all(i in ours and i in theirs for i in scope.levels):
        return None
    return all(ours[i] > theirs[i] for i in scope.levels)


def _falls(curve: dict[int, float], scope: Scope) -> bool | None:
    if len(scope.levels) < 2 or not all(i in curve for i in scope.levels):
        return None
    return all(curve[b] < curve[a] for a, b in pairwise(scope.levels))
