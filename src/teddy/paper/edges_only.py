"""Figure 19: sparse edges, dense weights, with DropEdge's random choice beside it."""

from __future__ import annotations

from itertools import product

from teddy.chart import Chart
from teddy.paper.accuracy import COLUMNS, accuracy_rows
from teddy.paper.reproduction import MODELS, Finding, Result, Scope, Table, reproduction
from teddy.paper.results import Results
from teddy.sweep import Grid

TEDDY, DROP_EDGE, UGS = "teddy:only=edges", "random:only=edges", "ugs:only=edges"


def grids(scope: Scope) -> list[Grid]:
    """Three ways to choose edges; the weights stay dense."""
    return [scope.grid([TEDDY, DROP_EDGE]), scope.grid([UGS], iterative=True)]


@reproduction("edges-only", ("Figure 19",), "Sparse edges alone, with DropEdge", grids)
def edges_only(results: Results, scope: Scope) -> Result:
    """Accuracy against graph sparsity with all weights."""
    methods = (TEDDY, DROP_EDGE, UGS)
    settings = results.settings(scope.datasets, MODELS)
    rows = accuracy_rows(results, settings, methods, scope.simulations)
    panels = [
        panel
        for d, m in settings
        if (panel := results.panel(d, m, methods, scope.simulations)).marks
    ]
    return Result(
        [Table("edges-only", "Test accuracy (%) with dense weights", COLUMNS, rows)],
        [Chart("edges-only", "Sparse edges, dense weights", panels)] if panels else [],
        _findings(results, scope),
        ["DropEdge's choice is made once (random), with TEDDY's distillation."],
    )


def _findings(results: Results, scope: Scope) -> list[Finding]:
    differences: dict[str, list[float]] = {DROP_EDGE: [], UGS: []}
    to_dense = []
    for (d, m), i in product(results.settings(scope.datasets, MODELS), scope.simulations):
        ours = results.get(d, m, TEDDY, i)
        if ours is None:
            continue
        if d != "cora":
            to_dense.append(ours.mean - ours.dense)
        for other, found in differences.items():
            difference = results.difference(d, m, TEDDY, other, i)
            if difference is not None:
                found.append(difference.mean)
    every = [value for found in differences.values() for value in found]
    said = "; ".join(
        f"above {name} in {sum(v > 0 for v in found)} of {len(found)}, by {_mean(found)} on average"
        for name, found in differences.items()
        if found
    )
    random = differences[DROP_EDGE]
    return [
        Finding("edges-only-beats-baselines", all(v > 0 for v in every) if every else None, said),
        Finding(
            "edges-only-enhances", all(v >= 0 for v in to_dense) if to_dense else None,
            f"CiteSeer and PubMed: not below dense in {sum(v >= 0 for v in to_dense)} of "
            f"{len(to_dense)}, {_mean(to_dense)} on average",
        ),
        Finding(
            "edges-only-dropedge", sum(random) / len(random) > 0.5 if random else None,
            f"TEDDY minus random edges: {_mean(random)} on average of {len(random)} "
            "(suboptimal is taken as more than half a point)",
        ),
    ]  # fmt: skip


def _mean(values: list[float]) -> str:
    return f"{sum(values) / len(values):+.2f} points" if values else "nothing"
