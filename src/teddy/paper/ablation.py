"""Figures 17 and 18: what each part of TEDDY, put into UGS or taken out, does to GAT."""

from __future__ import annotations

from itertools import product

from teddy.chart import Chart
from teddy.paper.accuracy import COLUMNS, accuracy_rows
from teddy.paper.judge import all_above
from teddy.paper.reproduction import CITATION, Finding, Result, Scope, Table, reproduction
from teddy.paper.results import Results
from teddy.sweep import Difference, Grid

ONE_SHOT = ("teddy", "teddy:distill=0", "degree-high", "degree-high:distill=0")
ITERATIVE = ("teddy:weights=masks", "ugs", "ugs:distill=10", "ugs:weights=projection")
#: Figure 17 has the baselines with distillation, and one hop in place of several.
STEPWISE = ("teddy", "teddy:distill=0", "degree-high", "ugs", "ugs:distill=10")
#: Figure 18, (1) to (6): TEDDY; without distillation; with magnitude masks; UGS; with
#: distillation; with the projection.
CONFIGURATIONS = (*ONE_SHOT[:2], *ITERATIVE)
#: Lost at least, to have degraded dramatically; lost at most, to be robust.
DRAMATIC, ROBUST = 5.0, -2.0


def grids(scope: Scope) -> list[Grid]:
    """GAT on all sets."""
    return [scope.grid(ONE_SHOT, ["gat"]), scope.grid(ITERATIVE, ["gat"], iterative=True)]


@reproduction("ablation", ("Figure 17", "Figure 18"), "Ablations of GAT", grids)
def ablation(results: Results, scope: Scope) -> Result:
    """Accuracies of all configurations."""
    settings = results.settings(scope.datasets, ["gat"])
    every = (*ONE_SHOT, *ITERATIVE)
    rows = accuracy_rows(results, settings, every, scope.simulations)
    cora = [pair for pair in settings if pair[0] == "cora"] or settings[:1]
    charts = [
        Chart("ablation-steps", "Step by step",
              [p for d, m in cora
               if (p := results.panel(d, m, STEPWISE, scope.simulations)).marks], columns=1),
        Chart("ablation", "Configurations",
              [p for d, m in settings
               if (p := results.panel(d, m, CONFIGURATIONS, scope.simulations)).marks]),
    ]  # fmt: skip
    return Result(
        [Table("ablation", "Test accuracy (%) of GAT", COLUMNS, rows)],
        [chart for chart in charts if chart.panels],
        _findings(results, scope),
        ["1-hop Degree is degree-high: TEDDY's training on the edges of lowest one-hop degree."],
    )


def _findings(results: Results, scope: Scope) -> list[Finding]:
    def differences(ours: str, theirs: str) -> list[Difference | None]:
        return [
            results.difference(dataset, "gat", ours, theirs, i)
            for dataset, i in product(CITATION, scope.simulations)
        ]

    distilled = differences("teddy:distill=0", "ugs:distill=10")
    what = "TEDDY without distillation minus UGS with it"
    return [
        all_above(
            "ablation-baselines-distilled",
            [*differences("ugs:distill=10", "ugs"), *distilled],
            f"UGS with distillation minus without, and {what}",
        ),
        all_above(
            "ablation-multi-level", differences("teddy", "degree-high"), "TEDDY minus one hop"
        ),
        all_above("ablation-ugs-distilled", distilled, what),
        all_above(
            "ablation-ugs-projection",
            differences("ugs", "ugs:weights=projection"),
            f"UGS minus UGS with the projection (dramatic: {DRAMATIC} points)",
            DRAMATIC,
        ),
        all_above(
            "ablation-magnitude",
            differences("teddy:weights=masks", "teddy"),
            f"TEDDY with masks minus TEDDY (robust: {ROBUST} points)",
            ROBUST,
        ),
    ]
