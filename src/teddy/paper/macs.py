"""Figure 7: multiply-accumulates that a ticket saves, and the time that it saves."""

from __future__ import annotations

from itertools import product
from typing import Any

from teddy.chart import Chart, Line, Panel
from teddy.paper.accuracy import METHODS
from teddy.paper.published import published_value
from teddy.paper.reproduction import Finding, Result, Scope, Table, reproduction
from teddy.paper.results import TITLES, Results
from teddy.sweep import Grid

_COLUMNS = (
    "dataset", "method", "simulation", "MACs, times fewer", "inference, times faster", "ticket",
    "dense",
)  # fmt: skip


def grids(scope: Scope) -> list[Grid]:
    """TEDDY and UGS with GIN, TEDDY into the extreme regime."""
    return [
        scope.grid(["teddy"], ["gin"], _levels(scope)),
        scope.grid(["ugs"], ["gin"], iterative=True),
    ]


@reproduction("macs", ("Figure 7",), "Multiply-accumulates against accuracy", grids)
def macs(results: Results, scope: Scope) -> Result:
    """Accuracy against MACs for GIN; the measured speed-up beside the counted one."""
    rows = [
        row
        for dataset, method, i in product(scope.datasets, METHODS, _levels(scope))
        if (row := _row(results, dataset, method, i)) is not None
    ]
    panels = [
        panel for name in scope.datasets if (panel := _panel(results, rows, name)) is not None
    ]
    return Result(
        [Table("macs", "MACs and measured inference of GIN", _COLUMNS, rows)],
        [Chart("macs", "MACs against accuracy", panels)] if panels else [],
        [_eight_times(rows)],
        ["Inference is one pass over the graph as this library runs it, the dense model beside "
         "the ticket on one thread, in a sweep where other processes run."],
    )  # fmt: skip


def _levels(scope: Scope) -> list[int]:
    return sorted({*scope.simulations, *scope.extreme})


def _row(results: Results, dataset: str, method: str, simulation: int) -> list[Any] | None:
    s = results.get(dataset, "gin", method, simulation)
    fewer = _ratio(results, dataset, method, simulation, "macs")
    if s is None or fewer is None:
        return None
    faster = _ratio(results, dataset, method, simulation, "seconds_predict")
    return [dataset, method, simulation, fewer, faster, s.mean, s.dense]


def _ratio(results: Results, dataset: str, method: str, simulation: int, name: str) -> float | None:
    """Of the dense model's to the ticket's mean over seeds."""
    dense = results.mean(dataset, "gin", method, simulation, f"{name}_dense")
    ticket = results.mean(dataset, "gin", method, simulation, f"{name}_ticket")
    return dense / ticket if dense and ticket else None


def _panel(results: Results, rows: list[list[Any]], dataset: str) -> Panel | None:
    lines = []
    for method in METHODS:
        mine = sorted((row[3], row[5]) for row in rows if row[:2] == [dataset, method])
        if mine:
            lines.append(Line(method, [x for x, _ in mine], [y for _, y in mine]))
    dense = results.dense(dataset, "gin")
    if not lines or dense is None:
        return None
    title = f"GIN, {TITLES.get(dataset, dataset)}"
    x, y = "MACs, times fewer than dense", "test accuracy (%)"
    return Panel(title, x, y, lines, level=dense[0])


def _eight_times(rows: list[list[Any]]) -> Finding:
    said, holds = [], []
    for dataset in ("citeseer", "pubmed"):
        paper = published_value("macs", dataset=dataset, quantity="macs_ratio")
        ours = [row for row in rows if row[:2] == [dataset, "teddy"]]
        if not ours or paper is None:
            continue
        most = max((row[3] for row in ours if row[5] > row[6]), default=0.0)
        said.append(f"{dataset}: up to {most:.1f} times fewer with the accuracy above dense")
        holds.append(most >= 0.95 * paper.value)
    return Finding("macs-eight-times", all(holds) if holds else None, "; ".join(said) or "no runs")
