"""Figures 17 and 18: ablation of TEDDY's parts, and their addition to UGS, for GAT."""

from __future__ import annotations

from teddy.report.chart import Chart
from teddy.sweep import Difference, Grid
from teddy_paper.accuracy import accuracy_table
from teddy_paper.findings import all_above
from teddy_paper.reproduction import CITATION, Finding, Result, Scope, reproduction
from teddy_paper.results import Results

ONE_SHOT = ("teddy", "teddy:distill=0", "degree-high", "degree-high:distill=0")
ITERATIVE = ("teddy:weights=masks", "ugs", "ugs:distill=10", "ugs:weights=projection")
#: Figure 17 has the baselines with distillation, and one hop in place of several.
STEPWISE = ("teddy", "teddy:distill=0", "degree-high", "ugs", "ugs:distill=10")
#: Figure 18, (1) to (6): TEDDY; without distillation; with magnitude masks; UGS; with
#: distillation; with the projection.
CONFIGURATIONS = (*ONE_SHOT[:2], *ITERATIVE)
#: Minimum loss in points of a dramatic degradation; maximum loss of a robust method.
DRAMATIC, ROBUST = 5.0, -2.0


def grids(scope: Scope) -> list[Grid]:
    """Grids of GAT on all data sets."""
    return [scope.grid(ONE_SHOT, ["gat"]), scope.grid(ITERATIVE, ["gat"], iterative=True)]


@reproduction("ablation", ("Figure 17", "Figure 18"), "Ablations of GAT", grids)
def ablation(results: Results, scope: Scope) -> Result:
    """Accuracies of all configurations."""
    settings = results.settings(scope.datasets, ["gat"])
    every = settings, (*ONE_SHOT, *ITERATIVE), scope.levels
    cora = [pair for pair in settings if pair[0] == "cora"] or settings[:1]
    stepwise = results.panels(cora, STEPWISE, scope.levels)
    configurations = results.panels(settings, CONFIGURATIONS, scope.levels)
    return Result(
        [accuracy_table(results, "ablation", *every, title="Test accuracy (%) of GAT")],
        [
            Chart("ablation-steps", "Step by step", stepwise, columns=1),
            Chart("ablation", "Configurations", configurations),
        ],
        _findings(results, scope),
        ["1-hop Degree is degree-high: TEDDY's training on the edges of lowest one-hop degree."],
    )


def _findings(results: Results, scope: Scope) -> list[Finding]:
    def differences(ours: str, theirs: str) -> list[Difference | None]:
        return results.differences(CITATION, ["gat"], ours, theirs, scope.levels)

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
