"""Figure 19: sparse edges and dense weights, beside DropEdge's random choice."""

from __future__ import annotations

from teddy.report.chart import Chart
from teddy.sweep import Difference, Grid
from teddy_paper.accuracy import accuracy_table
from teddy_paper.findings import all_above
from teddy_paper.reproduction import CITATION, MODELS, Finding, Result, Scope, reproduction
from teddy_paper.results import Results

TEDDY, DROP_EDGE, UGS = "teddy:only=edges", "random:only=edges", "ugs:only=edges"
#: Without distillation; the paper does not state whether its figure has it.
PLAIN, PLAIN_DROP_EDGE = "teddy:distill=0:only=edges", "random:distill=0:only=edges"
METHODS = (TEDDY, DROP_EDGE, PLAIN, PLAIN_DROP_EDGE, UGS)


def grids(scope: Scope) -> list[Grid]:
    """Grids of methods to choose edges, with and without distillation, with dense weights."""
    return [scope.grid(METHODS[:-1]), scope.grid([UGS], iterative=True)]


@reproduction("edges-only", ("Figure 19",), "Sparse edges alone, with DropEdge", grids)
def edges_only(results: Results, scope: Scope) -> Result:
    """Accuracy against graph sparsity, with dense weights."""
    shown = results.settings(scope.datasets, MODELS), METHODS, scope.levels
    title = "Test accuracy (%) with dense weights"
    return Result(
        [accuracy_table(results, "edges-only", *shown, title=title)],
        [Chart("edges-only", "Sparse edges, dense weights", results.panels(*shown))],
        _findings(results, scope),
        ["DropEdge's choice is made once (random). WD-GLT wasn't run here."],
    )


def _findings(results: Results, scope: Scope) -> list[Finding]:
    def against(ours: str, theirs: str) -> list[Difference | None]:
        return results.differences(CITATION, MODELS, ours, theirs, scope.levels)

    return [
        all_above(
            "edges-only-beats-baselines",
            [*against(TEDDY, DROP_EDGE), *against(TEDDY, UGS)],
            "TEDDY minus random and UGS",
        ),
        all_above(
            "edges-only-enhances",
            results.to_dense(["citeseer", "pubmed"], MODELS, TEDDY, scope.levels),
            "CiteSeer and PubMed, TEDDY minus dense",
        ),
        all_above(
            "edges-only-dropedge",
            [*against(TEDDY, DROP_EDGE), *against(PLAIN, PLAIN_DROP_EDGE)],
            "TEDDY minus random, both with distillation or both without",
        ),
    ]
