"""Table 1 and Figure 20: GIN with up to 87% of edges and weights removed."""

from __future__ import annotations

from itertools import product
from typing import Any

from scipy.stats import spearmanr

from teddy.report.chart import Chart, Heatmap
from teddy.sparsity import schedule_sparsity
from teddy.sweep import Grid, Summary
from teddy_paper.findings import all_above
from teddy_paper.reproduction import CITATION, Finding, Result, ResultTable, Scope, reproduction
from teddy_paper.results import COMPARISON_COLUMNS, Results, compare_with_paper, display_name

#: Maximum points below the paper that count as reached.
WITHIN = 1.5
#: Maximum spread in points that counts as stable.
STABLE = 2.0


def grids(scope: Scope) -> list[Grid]:
    """Grids of all pairs of levels of edges and weights."""
    return [
        scope.grid(["teddy", "random"], ["gin"], scope.extreme),
        *(
            scope.grid([f"teddy:weight_level={weights}"], ["gin"],
                       [i for i in scope.extreme if i != weights])
            for weights in scope.extreme
        ),
    ]  # fmt: skip


@reproduction(
    "extreme",
    ("Table 1", "Figure 20"),
    "GIN in the extreme regime",
    grids,
    artefacts=("extreme", "heat-map"),
)
def extreme(results: Results, scope: Scope) -> Result:
    """Accuracies beside Table 1, and the heat map of both sparsities."""
    sets = [dataset for dataset, _ in results.settings(scope.datasets, ["gin"])]
    levels = [("dense", 0), *product(["teddy", "random"], scope.extreme)]
    rows = [
        compare_with_paper(results, "extreme", dataset, "gin", method, i)
        for dataset, (method, i) in product(sets, levels)
    ]
    known = [row for row in rows if row[2] == "teddy" and row[9] is not None]
    reached = sum(row[9] >= -WITHIN for row in known)
    names = [f"{100 * schedule_sparsity(i):.0f}" for i in scope.extreme]
    panels: list[Heatmap] = []
    heat: list[list[Any]] = []
    for dataset in sets:
        cells = heat_map(results, dataset, scope.extreme)
        differences = [[None if s is None else s.difference.mean for s in line] for line in cells]
        panels.append(
            Heatmap(
                f"GIN, {display_name(dataset)}", "edges removed (%)", "weights removed (%)",
                names, names, differences,
            )
        )  # fmt: skip
        for level, line in zip(scope.extreme, cells, strict=True):
            heat.append([dataset, level, *(None if s is None else s.mean for s in line)])
    return Result(
        [
            ResultTable("extreme", "GIN, lambda tuned on validation", COMPARISON_COLUMNS, rows),
            ResultTable("heat-map", "Test accuracy (%) of GIN by the levels of edges and weights",
                  ("dataset", "simulation of weights", *(f"of edges {i}" for i in scope.extreme)),
                  heat),
        ],
        [Chart("heat-map", "Ticket minus dense, in points", panels)],
        [*_findings(results, scope), *_heat_findings(results, scope)],
        [f"{reached} of {len(known)} cells are above the paper's, or less than {WITHIN} points "
         "below."],
    )  # fmt: skip


Map = list[list[Summary | None]]


def heat_map(results: Results, dataset: str, levels: tuple[int, ...]) -> Map:
    """Cells of a heat map: rows are levels of weights, columns are levels of edges."""
    return [
        [
            results.get(
                dataset, "gin", "teddy" if i == weights else f"teddy:weight_level={weights}", i
            )
            for i in levels
        ]
        for weights in levels
    ]


def _findings(results: Results, scope: Scope) -> list[Finding]:
    beyond = [i for i in scope.extreme if i > 20]
    pubmed = [results.get("pubmed", "gin", "teddy", i) for i in scope.extreme]
    known = [s for s in pubmed if s is not None]
    rising = None
    if len(known) == len(scope.extreme) > 1:
        rising = known[-1].mean > known[0].mean and max(s.mean for s in known) == known[-1].mean
    seen = ", ".join(f"{s.level} {s.difference.mean:+.2f}" for s in known) or "no runs"
    return [
        all_above(
            "extreme-surpasses",
            results.to_dense(CITATION, ["gin"], "teddy", beyond),
            "past simulation 20, TEDDY minus dense",
        ),
        Finding(
            "extreme-progressive",
            rising,
            f"PubMed, to dense: {seen} (rising: the last is the highest)",
        ),
    ]


def _heat_findings(results: Results, scope: Scope) -> list[Finding]:
    maps = {name: heat_map(results, name, scope.extreme) for name in CITATION}

    def above_dense(dataset: str) -> Finding:
        cells = [cell for line in maps[dataset] for cell in line]
        differences = [None if cell is None else cell.difference for cell in cells]
        what = f"{display_name(dataset)}, ticket minus dense"
        return all_above(f"heat-map-{dataset}", differences, what)

    trends = {name: _trend(values) for name, values in maps.items()}
    known = {name: trend for name, trend in trends.items() if trend is not None}
    seen = ", ".join(f"{name} {trend:+.2f}" for name, trend in known.items()) or "no runs"
    return [
        Finding(
            "heat-map-not-uniform",
            len({trend > 0 for trend in known.values()}) > 1 if len(known) == len(maps) else None,
            f"rank correlation of accuracy with both levels together: {seen}",
        ),
        above_dense("cora"),
        above_dense("citeseer"),
        _stable(maps["citeseer"]),
        above_dense("pubmed"),
        _highest_at_the_corner(maps["pubmed"], trends["pubmed"]),
    ]


def _stable(values: Map) -> Finding:
    """Finding that accuracies at a level of edges hardly depend on the level of weights."""
    columns = [[s.mean for s in column if s is not None] for column in zip(*values, strict=True)]
    if any(len(column) < len(values) for column in columns):
        return Finding("heat-map-citeseer-stable", None, "not computed")
    widest = max(max(column) - min(column) for column in columns)
    evidence = f"over the weights' levels at most {widest:.1f} points apart (stable: {STABLE})"
    return Finding("heat-map-citeseer-stable", widest <= STABLE, evidence)


def _highest_at_the_corner(values: Map, trend: float | None) -> Finding:
    cells = [s.mean for line in values for s in line if s is not None]
    if trend is None:
        return Finding("heat-map-pubmed-trend", None, "not computed")
    corner = cells[-1] == max(cells)
    evidence = f"rank correlation {trend:+.2f}, highest at the corner: {corner}"
    return Finding("heat-map-pubmed-trend", corner and trend > 0, evidence)


def _trend(values: Map) -> float | None:
    """Rank correlation of accuracy with the sum of both levels; None for an incomplete map."""
    cells = [(i + j, s.mean) for i, line in enumerate(values) for j, s in enumerate(line) if s]
    if len(cells) < len(values) ** 2 or len(values) < 2:
        return None
    return float(spearmanr(*zip(*cells, strict=True)).statistic)
