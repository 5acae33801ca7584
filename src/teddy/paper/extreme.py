"""Table 1 and Figure 20: GIN where up to 87% of edges and weights are gone."""

from __future__ import annotations

from itertools import pairwise, product

from teddy.chart import Chart, Heatmap
from teddy.paper.beside import COLUMNS, beside
from teddy.paper.reproduction import Finding, Result, Scope, Table, reproduction
from teddy.paper.results import TITLES, Results
from teddy.sparsity import simulation_sparsity
from teddy.sweep import Grid

#: Below the paper by no more than this counts as reached.
WITHIN = 1.5


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


@reproduction("extreme", ("Table 1", "Figure 20"), "GIN in the extreme regime", grids)
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
        Heatmap(f"GIN, {TITLES.get(dataset, dataset)}", "edges removed (%)",
                "weights removed (%)", names, names, values)
        for dataset, values in maps.items()
    ]  # fmt: skip
    heat = [
        [dataset, level, *line]
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
        [Chart("heat-map", "Edges against weights", panels)] if panels else [],
        [*_findings(results, scope), *_heat_findings(results, maps)],
        [f"{reached} of {len(known)} cells are above the paper's, or less than {WITHIN} points "
         "below."],
    )  # fmt: skip


def heat_map(results: Results, dataset: str, levels: tuple[int, ...]) -> list[list[float | None]]:
    """Mean accuracies: a row for each level of weights, a column for each level of edges."""
    found: list[list[float | None]] = []
    for weights in levels:
        line = []
        for edges in levels:
            method = "teddy" if edges == weights else f"teddy:weight_level={weights}"
            s = results.get(dataset, "gin", method, edges)
            line.append(None if s is None else s.mean)
        found.append(line)
    return found


def _findings(results: Results, scope: Scope) -> list[Finding]:
    above, said, rises = [], [], []
    for dataset, _ in results.settings(scope.datasets, ["gin"]):
        found = [
            s for i in scope.extreme
            if (s := results.get(dataset, "gin", "teddy", i)) is not None
        ]  # fmt: skip
        above += [s.mean > s.dense for s in found if s.simulation > 20]
        said += [f"{s.mean - s.dense:+.1f}" for s in found]
        rises += [b.mean > a.mean for a, b in pairwise(found)]
    pubmed = results.get("pubmed", "gin", "teddy", 40)
    gain = "not computed" if pubmed is None else f"{pubmed.mean - pubmed.dense:+.2f} points"
    return [
        Finding(
            "extreme-surpasses", all(above) if above else None,
            f"above dense in {sum(above)} of {len(above)} cells past simulation 20; differences "
            f"in the table's order: {', '.join(said)}",
        ),
        Finding(
            "extreme-progressive", all(rises) if rises else None,
            f"rises in {sum(rises)} of {len(rises)} steps; PubMed at simulation 40: {gain}",
        ),
    ]  # fmt: skip


def _heat_findings(results: Results, maps: dict[str, list[list[float | None]]]) -> list[Finding]:
    found = []
    known = {
        name: [v for line in values for v in line if v is not None] for name, values in maps.items()
    }
    whole = {name: values for name, values in known.items() if len(values) == len(maps[name]) ** 2}
    corner = {name: maps[name][-1][-1] == max(values) for name, values in whole.items()}
    found.append(
        Finding(
            "heat-map-not-uniform",
            not all(_falls_both(maps[name]) for name in whole) if whole else None,
            "range of each map: "
            + ", ".join(f"{name} {min(v):.1f} to {max(v):.1f}" for name, v in whole.items()),
        )
    )
    for name in ("cora", "citeseer", "pubmed"):
        dense = results.dense(name, "gin")
        values = whole.get(name)
        if values is None or dense is None:
            found.append(Finding(f"heat-map-{name}", None, "not computed"))
            continue
        above = sum(v > dense[0] for v in values)
        said = f"{above} of {len(values)} above our dense {dense[0]:.2f}"
        found.append(Finding(f"heat-map-{name}", above == len(values), said))
    if "citeseer" in whole:
        columns = list(zip(*maps["citeseer"], strict=True))
        widths = [max(c) - min(c) for c in columns]
        widest = max(widths)
        found.append(
            Finding("heat-map-citeseer-stable", widest <= 2.0,
                    f"over the weights' levels at most {widest:.1f} points apart")
        )  # fmt: skip
    if "pubmed" in corner:
        found.append(
            Finding("heat-map-pubmed-trend", corner["pubmed"],
                    f"highest at the sparsest corner: {corner['pubmed']}")
        )  # fmt: skip
    return found


def _falls_both(values: list[list[float | None]]) -> bool:
    """Whether accuracy falls along every row and column."""
    lines = [*values, *zip(*values, strict=True)]
    return all(
        a is not None and b is not None and b < a for line in lines for a, b in pairwise(line)
    )
