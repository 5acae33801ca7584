"""Figure 7: multiply-accumulates and inference time that a ticket saves."""

from __future__ import annotations

from itertools import product
from typing import Any

from teddy.report.chart import Chart, Line, Panel
from teddy.sweep import Grid
from teddy_paper.accuracy import METHODS
from teddy_paper.published import published_value
from teddy_paper.reproduction import Finding, Result, ResultTable, Scope, reproduction
from teddy_paper.results import Results, display_name

_COLUMNS = (
    "dataset", "method", "simulation", "MACs, times fewer", "with dense features",
    "inference, times faster", "ticket", "dense",
)  # fmt: skip


def grids(scope: Scope) -> list[Grid]:
    """Grids of TEDDY and UGS with GIN, TEDDY up to the extreme regime."""
    return [
        scope.grid(["teddy"], ["gin"], _levels(scope)),
        scope.grid(["ugs"], ["gin"], iterative=True),
    ]


@reproduction("macs", ("Figure 7",), "Multiply-accumulates against accuracy", grids)
def macs(results: Results, scope: Scope) -> Result:
    """Accuracy against MACs for GIN, with counted and measured speed-up."""
    cells = product(scope.datasets, METHODS, _levels(scope))
    rows = [row for cell in cells if (row := _row(results, *cell)) is not None]
    panels = [panel for name in scope.datasets if (panel := _panel(results, rows, name))]
    return Result(
        [ResultTable("macs", "MACs and measured inference of GIN", _COLUMNS, rows)],
        [Chart("macs", "MACs against accuracy", panels)],
        [_eight_times(rows)],
        ["MACs count stored features only, of which citation sets have few, and the weights that "
         "stay meet more of them than those that go; with dense features they fall as the "
         "weights do, which is how the claim is judged.",
         "Inference is one pass over the graph as this library runs it, the dense model beside "
         "the ticket on one thread, in a sweep where other processes run."],
    )  # fmt: skip


def _levels(scope: Scope) -> list[int]:
    return sorted({*scope.levels, *scope.extreme})


def _row(results: Results, dataset: str, method: str, level: int) -> list[Any] | None:
    def ratio(above: str, below: str) -> float | None:
        """Ratio of two columns' means over seeds."""
        means = [results.mean(dataset, "gin", method, level, n) for n in (above, below)]
        return means[0] / means[1] if means[0] and means[1] else None

    s = results.get(dataset, "gin", method, level)
    fewer = ratio("macs_dense", "macs_ticket")
    if s is None or fewer is None:
        return None
    faster = ratio("seconds_predict_dense", "seconds_predict_ticket")
    # Products of dense features cost all but a few thousandths of the whole.
    dense = ratio("weights_total", "weights_kept")
    return [dataset, method, level, fewer, dense, faster, s.mean, s.dense]


def _panel(results: Results, rows: list[list[Any]], dataset: str) -> Panel | None:
    lines = []
    for method in METHODS:
        points = sorted((row[3], row[6]) for row in rows if row[:2] == [dataset, method])
        if points:
            lines.append(Line(method, [x for x, _ in points], [y for _, y in points]))
    dense = results.dense(dataset, "gin")
    if not lines or dense is None:
        return None
    heading = f"GIN, {display_name(dataset)}"
    x = "MACs, times fewer than dense"
    return Panel(heading, x, "test accuracy (%)", lines, level=dense[0])


def _eight_times(rows: list[list[Any]]) -> Finding:
    notes: list[str] = []
    holds: list[bool] = []
    for dataset in ("citeseer", "pubmed"):
        paper = published_value("macs", dataset=dataset, quantity="macs_ratio")
        ours = [row for row in rows if row[:2] == [dataset, "teddy"] and row[4]]
        if not ours or paper is None:
            continue
        kept = [row for row in ours if row[6] > row[7]]
        fewer, dense = (max((row[i] for row in kept), default=0.0) for i in (3, 4))
        notes.append(
            f"{dataset}: with the accuracy above dense up to {dense:.1f} times fewer if features "
            f"are dense, {fewer:.1f} if only stored ones are counted"
        )
        holds.append(dense >= 0.95 * paper.value)
    verdict = None if len(holds) < 2 and all(holds) else all(holds)
    return Finding("macs-eight-times", verdict, "; ".join(notes) or "no runs")
