"""Table 1 and Figure 20: GIN where up to 87% of edges and weights are gone."""

from __future__ import annotations

from itertools import product

from scipy.stats import spearmanr

from teddy.chart import Chart, Heatmap
from teddy.paper.beside import COLUMNS, beside
from teddy.paper.judge import all_above
from teddy.paper.reproduction import CITATION, Finding, Result, Scope, Table, reproduction
from teddy.paper.results import Results, known_as
from teddy.sparsity import simulation_sparsity
from teddy.sweep import Grid, Summary

#: Below the paper by no more than this counts as reached.
WITHIN = 1.5
#: Apart by no more than this counts as stable.
STABLE = 2.0


def grids(scope: Scope) -> list[Grid]:
    """The diagonal, and every other pair of levels."""
    return [
        scope.grid(["teddy"], ["gin"], scope.extreme),
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
    settings = results.settings(scope.datasets, ["gin"])
    rows = [
        beside(results, "extreme", dataset, "gin", method, i)
        for (dataset, _), (method, i) in product(
            settings, [("dense", 0), *(("teddy", i) for i in scope.extreme)]
        )
    ]
    maps = {dataset: heat_map(results, dataset, scope.extreme) for dataset, _ in settings}
    known = [row for row in rows if row[2] == "teddy" and row[9] is not None]
    reached = sum(row[9] >= -WITHIN for row in known)
    names = [f"{100 * simulation_sparsity(i):.0f}" for i in scope.extreme]
    panels = [
        Heatmap(f"GIN, {known_as(dataset)}", "edges removed (%)",
                "weights removed (%)", names, names,
                [[None if s is None else s.difference.mean for s in line] for line in values])
        for dataset, values in maps.items()
    ]  # fmt: skip
    heat = [
        [dataset, level, *(None if s is None else s.mean for s in line)]
        for dataset, values in maps.items()
        for level, line in zip(scope.extreme, values, strict=True)
    ]
    return Result(
        [
            Table("extreme", "GIN, lambda tuned on validation", COLUMNS, rows),
            Table("heat-map", "Test accuracy (%) of GIN by the levels of edges and weights",
                  ("dataset", "simulation of weights", *(f"of edges {i}" for i in scope.extreme)),
                  heat),
        ],
        [Chart("heat-map", "Ticket minus dense, in points", panels)] if panels else [],
        [*_findings(results, scope), *_heat_findings(results, scope)],
        [f"{reached} of {len(known)} cells are above the paper's, or less than {WITHIN} points "
         "below."],
    )  # fmt: skip


Map = list[list[Summary | None]]


def heat_map(results: Results, dataset: str, levels: tuple[int, ...]) -> Map:
    """Cells: a row for each level of weights, a column for each level of edges."""
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
    cells = [
        results.get(dataset, "gin", "teddy", i)
        for dataset, i in product(CITATION, scope.extreme)
        if i > 20
    ]
    pubmed = [results.get("pubmed", "gin", "teddy", i) for i in scope.extreme]
    found = [s for s in pubmed if s is not None]
    rising = None
    if len(found) == len(scope.extreme) > 1:
        rising = found[-1].mean > found[0].mean and max(s.mean for s in found) == found[-1].mean
    return [
        all_above(
            "extreme-surpasses",
            [None if s is None else s.difference for s in cells],
            "past simulation 20, TEDDY minus dense",
        ),
        Finding(
            "extreme-progressive",
            rising,
            "PubMed, to dense: "
            + (", ".join(f"{s.simulation} {s.difference.mean:+.2f}" for s in found) or "no runs")
            + " (rising: the last is the highest)",
        ),
    ]


def _heat_findings(results: Results, scope: Scope) -> list[Finding]:
    maps = {name: heat_map(results, name, scope.extreme) for name in ("cora", "citeseer", "pubmed")}
    every = {
        name: [None if s is None else s.difference for line in values for s in line]
        for name, values in maps.items()
    }
    trends = {name: _trend(values) for name, values in maps.items()}
    known = {name: trend for name, trend in trends.items() if trend is not None}
    citeseer = [[None if s is None else s.mean for s in line] for line in maps["citeseer"]]
    spans = [
        None if None in column else max(column) - min(column)
        for column in zip(*citeseer, strict=True)
    ]
    widest = None if None in spans else max(spans)  # type: ignore[type-var]
    pubmed = [s for line in maps["pubmed"] for s in line]
    corner = None
    if None not in pubmed:
        highest = max(s.mean for s in pubmed if s is not None)
        corner = pubmed[-1] is not None and pubmed[-1].mean == highest
    return [
        Finding(
            "heat-map-not-uniform",
            len({trend > 0 for trend in known.values()}) > 1 if len(known) == len(maps) else None,
            "rank correlation of accuracy with both levels together: "
            + (", ".join(f"{name} {trend:+.2f}" for name, trend in known.items()) or "no runs"),
        ),
        all_above("heat-map-cora", every["cora"], "Cora, ticket minus dense"),
        all_above("heat-map-citeseer", every["citeseer"], "CiteSeer, ticket minus dense"),
        Finding(
            "heat-map-citeseer-stable",
            None if widest is None else widest <= STABLE,
            "not computed"
            if widest is None
            else f"over the weights' levels at most {widest:.1f} points apart (stable: {STABLE})",
        ),
        all_above("heat-map-pubmed", every["pubmed"], "PubMed, ticket minus dense"),
        Finding(
            "heat-map-pubmed-trend",
            None
            if corner is None
            else corner and trends["pubmed"] is not None and trends["pubmed"] > 0,
            "not computed"
            if corner is None
            else f"rank correlation {trends['pubmed']:+.2f}, highest at the corner: {corner}",
        ),
    ]


def _trend(values: Map) -> float | None:
    """Rank correlation of accuracy with the sum of both levels; None of an incomplete map."""
    cells = [(i + j, s.mean) for i, line in enumerate(values) for j, s in enumerate(line) if s]
    if len(cells) < len(values) ** 2 or len(values) < 2:
        return None
    return float(spearmanr(*zip(*cells, strict=True)).statistic)
