"""Figures 6 and 11: accuracy against graph sparsity and weight sparsity."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from teddy.chart import Chart
from teddy.paper.published import published_value
from teddy.paper.reproduction import MODELS, Finding, Result, Scope, Table, reproduction
from teddy.paper.results import Results
from teddy.sweep import Grid
from teddy.sweep.summary import Summary

#: The paper's baselines, and ours: TEDDY's training on other edges.
BASELINES, OTHERS = ("ugs", "wd-glt"), ("random", "degree-high", "degree-low")
METHODS = ("teddy", *BASELINES, *OTHERS)

#: Columns of a table of accuracies.
COLUMNS = (
    "dataset", "model", "method", "simulation", "edges removed %", "weights removed %",
    "seeds", "dense", "ticket", "deviation", "last epoch", "difference", "low", "high",
    "verdict",
)  # fmt: skip


def grids(scope: Scope) -> list[Grid]:
    """All methods; WD-GLT, whose rounds cost tens of TEDDY's, where it is feasible."""
    few = [i for i in scope.simulations if i <= 5]
    found = [scope.grid(["teddy", *OTHERS]), scope.grid(["ugs"], iterative=True)]
    if scope.quick:
        return [*found, scope.grid(["wd-glt"], ["gcn"], few[:1], iterative=True)]
    small = [d for d in scope.datasets if d != "pubmed"]
    wd_glt = scope.grid(["wd-glt"], ["gcn", "gin"], few, small, iterative=True) if small else None
    return [*found, wd_glt] if wd_glt else found


@reproduction(
    "accuracy",
    ("Figure 6", "Figure 11"),
    "Accuracy against graph sparsity and against weight sparsity",
    grids,
)
def accuracy(results: Results, scope: Scope) -> Result:
    """Every method at every level, the dense model beside it."""
    settings = results.settings(scope.datasets, MODELS)
    rows = accuracy_rows(results, settings, METHODS, scope.simulations)
    charts = [
        Chart(
            f"accuracy-{what}",
            f"Accuracy against {what} sparsity",
            [results.panel(d, m, METHODS, scope.simulations, f"{what}_sparsity")
             for d, m in settings],
        )
        for what in ("graph", "weight")
    ]  # fmt: skip
    table = Table("accuracy", "Test accuracy (%), and its difference to dense", COLUMNS, rows)
    return Result([table], charts, _findings(results, scope))


def accuracy_rows(
    results: Results,
    settings: Sequence[tuple[str, str]],
    methods: Sequence[str],
    simulations: Sequence[int],
) -> list[list[Any]]:
    """The rows of a table of accuracies, of the cells that are there."""
    found = (
        results.get(dataset, model, method, i)
        for (dataset, model), method, i in product(settings, methods, simulations)
    )
    return [_row(s) for s in found if s is not None]


def _row(s: Summary) -> list[Any]:
    return [
        s.dataset, s.model, s.method, s.simulation, 100 * s.graph_sparsity,
        100 * s.weight_sparsity, s.seeds, s.dense, s.mean, s.deviation, s.last,
        s.difference.mean, s.difference.low, s.difference.high, s.verdict,
    ]  # fmt: skip


def _findings(results: Results, scope: Scope) -> list[Finding]:
    settings = results.settings(scope.datasets, MODELS)
    ours = [
        s for (d, m), i in product(settings, scope.simulations)
        if (s := results.get(d, m, "teddy", i)) is not None
    ]  # fmt: skip
    better = sum(s.mean > s.dense for s in ours)
    return [
        Finding(
            "accuracy-more-than-half",
            2 * better > len(ours) if ours else None,
            f"above dense in {better} of {len(ours)} settings and levels",
        ),
        _gin_citeseer(results, scope),
        *_against_baselines(results, ours),
        _gat_margin(results, scope),
    ]


def _gin_citeseer(results: Results, scope: Scope) -> Finding:
    found = [
        s for i in scope.simulations
        if (s := results.get("citeseer", "gin", "teddy", i)) is not None
    ]  # fmt: skip
    paper = published_value("accuracy", dataset="citeseer", quantity="test_accuracy")
    if not found or paper is None:
        return Finding("accuracy-gin-citeseer", None, "not computed")
    best = max(found, key=lambda s: s.mean)
    return Finding(
        "accuracy-gin-citeseer",
        best.mean >= paper.value,
        f"best {best.mean:.2f} ± {best.deviation:.2f} at {100 * best.graph_sparsity:.2f}%, "
        f"{best.mean - best.dense:+.2f} points to dense {best.dense:.2f}",
    )


def _against_baselines(results: Results, ours: list[Summary]) -> list[Finding]:
    found = [
        difference
        for s, other in product(ours, BASELINES)
        if (difference := results.difference(s.dataset, s.model, "teddy", other, s.simulation))
    ]
    above = sum(difference.mean > 0 for difference in found)
    count = f"above in {above} of {len(found)} comparisons with UGS and WD-GLT, over the same seeds"
    holds = above == len(found) if found else None
    both = ("accuracy-beats-baselines", "weight-sparsity-predominant")
    # Edges and weights go in step, so both figures show the same runs.
    return [Finding(claim, holds, count) for claim in both]


def _gat_margin(results: Results, scope: Scope) -> Finding:
    last, margins = max(scope.simulations), {}
    for dataset in scope.datasets:
        found = [results.difference(dataset, "gat", "teddy", name, last) for name in BASELINES]
        known = [difference.mean for difference in found if difference is not None]
        if known:
            margins[dataset] = min(known)
    if not margins or last < 20:
        return Finding("accuracy-gat-margin", None, "not computed at simulation 20")
    said = ", ".join(f"{name} {value:+.1f}" for name, value in margins.items())
    return Finding(
        "accuracy-gat-margin",
        all(12.8 <= value <= 20.4 for value in margins.values()),
        f"GAT at simulation {last}, points over the best baseline that was run: {said}",
    )
