"""Figures 6 and 11: accuracy against graph sparsity and weight sparsity."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from teddy.sweep import Grid
from teddy_paper.findings import all_above, share
from teddy_paper.published import published_value
from teddy_paper.reproduction import (
    CITATION,
    MODELS,
    Finding,
    Result,
    ResultTable,
    Scope,
    reproduction,
)
from teddy_paper.results import Results

#: Baselines of the paper, and ours: TEDDY's training on other edges.
BASELINES, OTHERS = ("ugs", "wd-glt"), ("random", "degree-high", "degree-low")
METHODS = ("teddy", *BASELINES, *OTHERS)

COLUMNS = (
    "dataset", "model", "method", "simulation", "edges removed %", "weights removed %",
    "seeds", "dense", "ticket", "deviation", "last epoch", "difference", "low", "high",
    "verdict",
)  # fmt: skip


def grids(scope: Scope) -> list[Grid]:
    """Grids of all methods; WD-GLT only on small data, since a round costs tens of TEDDY's."""
    few = [i for i in scope.levels if i <= 5]
    grids = [scope.grid(["teddy", *OTHERS]), scope.grid(["ugs"], iterative=True)]
    if scope.quick:
        return [*grids, scope.grid(["wd-glt"], ["gcn"], few[:1], iterative=True)]
    small = [d for d in scope.datasets if d != "pubmed"]
    wd_glt = scope.grid(["wd-glt"], ["gcn", "gin"], few, small, iterative=True) if small else None
    return [*grids, wd_glt] if wd_glt else grids


@reproduction(
    "accuracy",
    ("Figure 6", "Figure 11"),
    "Accuracy against graph sparsity and against weight sparsity",
    grids,
    artefacts=("accuracy", "weight-sparsity"),
)
def accuracy(results: Results, scope: Scope) -> Result:
    """Accuracy of every method at every level, beside the dense model."""
    settings = results.settings(scope.datasets, MODELS)
    shown = settings, METHODS, scope.levels
    return Result(
        [accuracy_table(results, "accuracy", *shown)],
        results.sparsity_charts("accuracy", "Accuracy", *shown),
        _findings(results, scope),
    )


def accuracy_table(
    results: Results,
    name: str,
    settings: Sequence[tuple[str, str]],
    methods: Sequence[str],
    levels: Sequence[int],
    title: str = "Test accuracy (%), and its difference to dense",
) -> ResultTable:
    """Accuracies of all cells that have results, with the dense model beside them."""
    cells = (
        results.get(dataset, model, method, i)
        for (dataset, model), method, i in product(settings, methods, levels)
    )
    rows = [
        [
            s.dataset, s.model, s.method, s.level, 100 * s.graph_sparsity,
            100 * s.weight_sparsity, s.seeds, s.dense, s.mean,
            s.deviation if s.seeds > 1 else None, s.last,
            s.difference.mean, s.difference.low, s.difference.high, s.verdict,
        ]
        for s in cells
        if s is not None
    ]  # fmt: skip
    return ResultTable(name, title, COLUMNS, rows)


def _findings(results: Results, scope: Scope) -> list[Finding]:
    cells = list(product(CITATION, MODELS, scope.levels))
    ours = [results.get(d, m, "teddy", i) for d, m, i in cells]
    against = [
        results.difference(d, m, "teddy", other, i)
        for (d, m, i), other in product(cells, BASELINES)
        if other == "ugs" or results.get(d, m, other, i) is not None
    ]
    what = "TEDDY minus UGS, and WD-GLT where it was run"
    return [
        share(
            "accuracy-more-than-half",
            [None if s is None else s.mean > s.dense for s in ours],
            "above dense",
            0.5,
        ),
        _gin_citeseer(results, scope),
        all_above("accuracy-beats-baselines", against, what),
        # Edges and weights are removed in step, so both figures show the same runs.
        all_above("weight-sparsity-predominant", against, what),
        all_above(
            "accuracy-gat-margin",
            results.differences(CITATION, ["gat"], "teddy", "ugs", [20]),
            "GAT at simulation 20, TEDDY minus UGS",
            12.8,
        ),
    ]


def _gin_citeseer(results: Results, scope: Scope) -> Finding:
    levels = (results.get("citeseer", "gin", "teddy", i) for i in scope.levels)
    summaries = [s for s in levels if s is not None]
    paper = published_value("accuracy", dataset="citeseer", quantity="test_accuracy")
    if not summaries or paper is None:
        return Finding("accuracy-gin-citeseer", None, "not computed")
    best = max(summaries, key=lambda s: s.mean)
    return Finding(
        "accuracy-gin-citeseer",
        True if best.mean + best.deviation >= paper.value else None,
        f"best of {len(summaries)} levels {best.mean:.2f} ± {best.deviation:.2f} at "
        f"{100 * best.graph_sparsity:.2f}%, {best.mean - best.dense:+.2f} points to dense "
        f"{best.dense:.2f} (reached: within one deviation; the paper's level is simulation 11)",
    )
