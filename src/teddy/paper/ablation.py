"""Figures 17 and 18: what each part of TEDDY, put into UGS or taken out, does to GAT."""

from __future__ import annotations

from teddy.chart import Chart
from teddy.paper.accuracy import COLUMNS, accuracy_rows
from teddy.paper.reproduction import Finding, Result, Scope, Table, reproduction
from teddy.paper.results import Results
from teddy.sweep import Grid

#: Figure 18, (1) to (6): TEDDY; without distillation; with magnitude masks; UGS; with
#: distillation; with the projection.
ONE_SHOT = ("teddy", "teddy:distill=0", "degree-high", "degree-high:distill=0")
ITERATIVE = ("teddy:weights=masks", "ugs", "ugs:distill=10", "ugs:weights=projection")
#: Figure 17 has the baselines with distillation, and one hop in place of several.
STEPWISE = ("teddy", "teddy:distill=0", "degree-high", "ugs", "ugs:distill=10")
CONFIGURATIONS = (*ONE_SHOT[:2], *ITERATIVE)


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
              [results.panel(d, m, STEPWISE, scope.simulations) for d, m in cora], columns=1),
        Chart("ablation", "Configurations",
              [results.panel(d, m, CONFIGURATIONS, scope.simulations) for d, m in settings]),
    ]  # fmt: skip
    return Result(
        [Table("ablation", "Test accuracy (%) of GAT", COLUMNS, rows)],
        charts if settings else [],
        _findings(results, scope),
        ["1-hop Degree is degree-high: TEDDY's training on the edges of lowest one-hop degree."],
    )


def _findings(results: Results, scope: Scope) -> list[Finding]:
    def against(ours: str, theirs: str, claim: str, sign: int = 1, least: float = 0.0) -> Finding:
        """Whether ours is above theirs everywhere, by more than a margin."""
        differences = []
        for dataset in scope.datasets:
            for i in scope.simulations:
                difference = results.difference(dataset, "gat", ours, theirs, i)
                if difference is not None:
                    differences.append(sign * difference.mean)
        if not differences:
            return Finding(claim, None, "not computed")
        said = f"{min(differences):+.1f} to {max(differences):+.1f} points"
        more = f"{ours} minus {theirs}" if sign > 0 else f"{theirs} minus {ours}"
        holds = all(value > least for value in differences)
        return Finding(claim, holds, f"{more}: {said} in {len(differences)} comparisons")

    return [
        against("teddy:distill=0", "ugs:distill=10", "ablation-baselines-distilled"),
        against("teddy", "degree-high", "ablation-multi-level"),
        against("teddy:distill=0", "ugs:distill=10", "ablation-ugs-distilled"),
        against("ugs:weights=projection", "ugs", "ablation-ugs-projection", sign=-1, least=5.0),
        against("teddy:weights=masks", "teddy", "ablation-magnitude", least=-2.0),
    ]
