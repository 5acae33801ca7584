"""Figure 8: the mean degree of the edges that a method removes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from teddy.chart import Chart, Line, Panel
from teddy.paper.accuracy import BASELINES, METHODS
from teddy.paper.accuracy import grids as accuracy_grids
from teddy.paper.reproduction import MODELS, Finding, Result, Scope, Table, reproduction
from teddy.paper.results import TITLES, Results
from teddy.sparsity import simulation_sparsity


@reproduction("pruned-degrees", ("Figure 8",), "Mean degree of the removed edges", accuracy_grids)
def pruned_degrees(results: Results, scope: Scope) -> Result:
    """Mean edge degree (deg(i) + deg(j)) / 2 of removed edges, by method and level."""
    rows: list[list[Any]] = []
    panels = []
    curves: dict[tuple[str, str, str], list[float]] = {}
    for dataset, model in results.settings(scope.datasets, MODELS):
        lines = []
        for method in METHODS:
            mine: list[list[Any]] = [
                [dataset, model, method, i, value]
                for i in scope.simulations
                if (value := results.mean(dataset, model, method, i, "pruned_degree")) is not None
            ]
            if mine:
                rows.extend(mine)
                values = [row[4] for row in mine]
                curves[dataset, model, method] = values
                removed = [100 * simulation_sparsity(row[3]) for row in mine]
                lines.append(Line(method, removed, values))
        panels.append(
            Panel(f"{model.upper()}, {TITLES.get(dataset, dataset)}", "edges removed (%)",
                  "mean degree of removed edges", lines)
        )  # fmt: skip
    columns = ("dataset", "model", "method", "simulation", "mean degree")
    return Result(
        [Table("pruned-degrees", "Mean degree of removed edges", columns, rows)],
        [Chart("pruned-degrees", "Mean degree of removed edges", panels)] if panels else [],
        _findings(curves),
    )


def _findings(curves: dict[tuple[str, str, str], list[float]]) -> list[Finding]:
    teddy = {key[:2]: values for key, values in curves.items() if key[2] == "teddy"}
    random = {key[:2]: values for key, values in curves.items() if key[2] == "random"}
    higher = [
        all(a > b for a, b in zip(values, random[key], strict=False))
        for key, values in teddy.items()
        if key in random
    ]
    fall = [_falls(values) for values in teddy.values() if len(values) > 1]
    learned = {
        key: _falls(values) for key, values in curves.items()
        if key[2] in BASELINES and len(values) > 2
    }  # fmt: skip
    unaware = [
        max(abs(v - r) / r for v, r in zip(curves[key], random[key[:2]], strict=False))
        for key in learned
        if key[:2] in random
    ]
    return [
        Finding(
            "degrees-high-first", all(higher) if higher else None,
            f"above random's at every level in {sum(higher)} of {len(higher)} settings",
        ),
        Finding(
            "degrees-decrease", all(fall) if fall else None,
            f"falls from level to level in {sum(fall)} of {len(fall)} settings",
        ),
        Finding(
            "degrees-baselines-unaware", not any(learned.values()) if learned else None,
            f"falls at every step in {sum(learned.values())} of {len(learned)} settings of UGS "
            f"and WD-GLT; at most {100 * max(unaware, default=0):.0f}% from random's",
        ),
    ]  # fmt: skip


def _falls(values: list[float]) -> bool:
    return all(after < before for before, after in pairwise(values))
