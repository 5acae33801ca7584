"""Figures 1 and 10, Table 2: which end of the edge degrees to prune from."""

from __future__ import annotations

from itertools import product

from teddy.chart import Chart
from teddy.paper.beside import COLUMNS, beside
from teddy.paper.reproduction import MODELS, Finding, Result, Scope, Table, reproduction
from teddy.paper.results import Results
from teddy.sweep import Grid

#: Highest degree first and lowest degree first, edges and weights, without distillation.
HIGH, LOW = "degree-high:distill=0", "degree-low:distill=0"


def grids(scope: Scope) -> list[Grid]:
    """Both ends, all models."""
    return [scope.grid([HIGH, LOW])]


@reproduction(
    "degree-importance",
    ("Figure 1", "Figure 10", "Table 2"),
    "Pruning high-degree edges against pruning low-degree edges",
    grids,
)
def degree_importance(results: Results, scope: Scope) -> Result:
    """Accuracies beside Table 2, and whether low-degree edges are the ones that matter."""
    settings = results.settings(scope.datasets, MODELS)
    rows = [
        beside(results, "degree-importance", dataset, model, method, i, theirs=method.split(":")[0])
        for (dataset, model), method, i in product(settings, (LOW, HIGH), scope.simulations)
    ]
    panels = [results.panel(d, m, [HIGH, LOW], scope.simulations) for d, m in settings]
    return Result(
        [Table("degree-importance", "Accuracy without distillation", COLUMNS, rows)],
        [Chart("degree-importance", "Which edges to prune first", panels)],
        _findings(gaps(results, scope)),
        ["No distillation here: it is not in Section 4, and with it the gap closes (attribution)."],
    )


def gaps(results: Results, scope: Scope) -> dict[tuple[str, str], list[float]]:
    """High first minus low first, in points, at each level that both have."""
    found: dict[tuple[str, str], list[float]] = {}
    for dataset, model in results.settings(scope.datasets, MODELS):
        for i in scope.simulations:
            high = results.get(dataset, model, HIGH, i)
            low = results.get(dataset, model, LOW, i)
            if high is not None and low is not None:
                found.setdefault((dataset, model), []).append(high.mean - low.mean)
    return found


def _findings(gap: dict[tuple[str, str], list[float]]) -> list[Finding]:
    every = [value for values in gap.values() for value in values]
    gat = [value for (_, model), values in gap.items() if model == "gat" for value in values]
    grows = {key: values[-1] > values[0] for key, values in gap.items() if len(values) > 1}
    reverse = [f"{d} {m}" for (d, m), values in gap.items() if min(values) < 0]
    mean = {key: sum(values) / len(values) for key, values in gap.items()}
    gin_cora, others = mean.get(("cora", "gin")), [v for k, v in mean.items() if k[1] != "gat"]
    count = f"{sum(value > 0 for value in every)} of {len(every)} pairs"
    said = f"{count}; reversed somewhere: {', '.join(reverse) or 'nowhere'}"
    return [
        Finding(
            "degree-low-degrades",
            all(value > 0 for value in gat) if gat else None,
            f"GAT: {sum(value > 0 for value in gat)} of {len(gat)} pairs, gaps {_points(gat)}",
        ),
        Finding(
            "degree-gap-grows",
            all(grows.values()) if grows else None,
            f"wider at the last level than at the first in {sum(grows.values())} of "
            f"{len(grows)} settings",
        ),
        Finding("degree-all-scenarios", all(v > 0 for v in every) if every else None, said),
        Finding(
            "degree-gin-cora",
            None if gin_cora is None or len(others) < 2 else gin_cora >= max(others),
            "mean gap of GCN and GIN: "
            + ", ".join(f"{d} {m} {v:.1f}" for (d, m), v in mean.items() if m != "gat"),
        ),
        Finding(
            "degree-average", 2 * sum(v > 0 for v in every) > len(every) if every else None, said
        ),
    ]


def _points(values: list[float]) -> str:
    return f"{min(values):+.1f} to {max(values):+.1f} points" if values else "none"
