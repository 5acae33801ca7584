"""Figures 1 and 10, Table 2: pruning high-degree or low-degree edges first."""

from __future__ import annotations

from itertools import product

from teddy.report.chart import Chart
from teddy.sweep import Difference, Grid
from teddy.sweep.statistics import known_mean
from teddy_paper.findings import all_above, share
from teddy_paper.reproduction import (
    CITATION,
    MODELS,
    Finding,
    Result,
    ResultTable,
    Scope,
    reproduction,
)
from teddy_paper.results import COMPARISON_COLUMNS, Results, compare_with_paper

#: Highest and lowest degree first, for edges and weights, without distillation.
HIGH, LOW = "degree-high:distill=0", "degree-low:distill=0"


def grids(scope: Scope) -> list[Grid]:
    """Grid of both orders and all models."""
    return [scope.grid([HIGH, LOW])]


@reproduction(
    "degree-importance",
    ("Figure 1", "Figure 10", "Table 2"),
    "Pruning high-degree edges against pruning low-degree edges",
    grids,
)
def degree_importance(results: Results, scope: Scope) -> Result:
    """Accuracies beside Table 2, and the claim that low-degree edges matter more."""
    settings = results.settings(scope.datasets, MODELS)
    rows = [
        compare_with_paper(
            results, "degree-importance", dataset, model, method, i, theirs=method.split(":")[0]
        )
        for (dataset, model), method, i in product(settings, (LOW, HIGH), scope.levels)
    ]
    return Result(
        [ResultTable("degree-importance", "Without distillation", COMPARISON_COLUMNS, rows)],
        [
            Chart(
                "degree-importance",
                "Which edges to prune first",
                results.panels(settings, [HIGH, LOW], scope.levels),
            )
        ],
        _findings(results, scope),
        ["Edges and weights are sparse, and nothing is distilled: Section 4 has no distillation, "
         "and with it the gap closes (attribution)."],
    )  # fmt: skip


def _findings(results: Results, scope: Scope) -> list[Finding]:
    # High first minus low first at each level, paired over seeds.
    gaps = {
        (dataset, model): results.differences([dataset], [model], HIGH, LOW, scope.levels)
        for dataset, model in product(CITATION, MODELS)
    }
    every = [gap for levels in gaps.values() for gap in levels]
    gat = [gap for (_, model), levels in gaps.items() if model == "gat" for gap in levels]
    means = {
        key: known_mean(gap.mean for gap in levels if gap is not None)
        for key, levels in gaps.items()
        if key[1] != "gat"
    }
    gin_cora, known = means["cora", "gin"], [v for v in means.values() if v is not None]
    what = "highest degree first minus lowest first"
    return [
        all_above("degree-low-degrades", gat, f"GAT, {what}"),
        share(
            "degree-gap-grows",
            [_wider(levels) for levels in gaps.values()],
            "the gap is wider at the last level than at the first",
        ),
        all_above("degree-all-scenarios", every, what),
        Finding(
            "degree-gin-cora",
            None if gin_cora is None or len(known) < len(means) else gin_cora >= max(known),
            "mean gap: " + ", ".join(f"{d} {m} {v:.1f}" for (d, m), v in means.items() if v),
        ),
        share(
            "degree-average",
            [None if gap is None else gap.mean > 0 for gap in every],
            f"{what} is above 0",
            0.5,
        ),
    ]


def _wider(values: list[Difference | None]) -> bool | None:
    first, last = values[0], values[-1]
    return None if first is None or last is None or len(values) < 2 else last.mean > first.mean
