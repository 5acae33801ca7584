"""Figures 9 and 12: ogbn-arxiv and Reddit, full batch."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

from teddy.errors import InputError
from teddy.report.chart import Chart
from teddy.settings import MODEL_ENTRIES, Settings
from teddy.sweep import Grid
from teddy_paper.accuracy import accuracy_table
from teddy_paper.findings import all_above
from teddy_paper.reproduction import UGS_FEW_ROUNDS as UGS
from teddy_paper.reproduction import Finding, Result, ResultTable, Scope, reproduction
from teddy_paper.results import Results

DATASETS = ("arxiv", "arxiv-surrogate", "reddit")
METHODS = ("teddy", "random", UGS, "teddy:distill=0", "random:distill=0")


def models(dataset: str, quick: bool = False) -> tuple[str, str]:
    """Models of the paper: 256 units, and three layers for arxiv or two for Reddit.

    Example:
        >>> models("arxiv")
        ('gcn:hidden_channels=256:num_layers=3', 'sage:hidden_channels=256:num_layers=3')
    """
    layers, hidden = 2 if dataset == "reddit" else 3, 16 if quick else 256
    return (
        f"gcn:hidden_channels={hidden}:num_layers={layers}",
        f"sage:hidden_channels={hidden}:num_layers={layers}",
    )


def settings(scope: Scope) -> Settings:
    """Settings without weight decay, as in the paper, which does not state the epochs."""
    for name in ("hidden_channels", "num_layers"):
        if name in scope.changes:
            raise InputError(
                f"{name} is {scope.changes[name]}, expected none: large-scale has fixed models"
            )
    defaults = {"epochs": 4 if scope.quick else 100, "weight_decay": 0.0}
    options = {name: value for name, value in scope.changes.items() if name in MODEL_ENTRIES}
    return replace(scope.settings.updated(**{**defaults, **scope.changes}), model_options=options)


def levels(scope: Scope) -> list[int]:
    """Levels 5, 10 and 20 if requested; else all requested ones."""
    return [i for i in scope.levels if i in (5, 10, 20)] or list(scope.levels)


def grids(scope: Scope) -> list[Grid]:
    """Grids of each data set with its models."""
    return [
        scope.grid(methods, models(d, scope.quick), levels(scope), [d], iterative=True)
        for methods, d in product((METHODS[:3], METHODS[3:]), scope.datasets)
    ]


@reproduction(
    "large-scale",
    ("Figure 9", "Figure 12"),
    "Large graphs",
    grids,
    settings=settings,
    datasets=DATASETS,
)
def large_scale(results: Results, scope: Scope) -> Result:
    """Accuracy against graph sparsity, and its cost."""
    pairs = [pair for d in scope.datasets for pair in results.settings([d], models(d, scope.quick))]
    shown = pairs, METHODS, levels(scope)
    notes = ["UGS prunes by 23% in each of four rounds (`ugs:stride=5`), not by 5% in twenty."]
    if any(d == "arxiv-surrogate" for d, _ in pairs):
        notes.append(
            "arxiv-surrogate is the real graph, labels and split of ogbn-arxiv with **surrogate "
            "features**, drawn around a random direction for each class (docs/data.md): its "
            "accuracies are not those of ogbn-arxiv and are compared with each other only."
        )
    return Result(
        [accuracy_table(results, "large-scale", *shown), _costs(results, pairs, scope)],
        [Chart("large-scale", "Large graphs", results.panels(*shown))],
        _findings(results, scope),
        notes,
    )


def _costs(results: Results, pairs: list[tuple[str, str]], scope: Scope) -> ResultTable:
    """Mean seconds of dense training, rounds of masks, ticket training and inference."""
    names = ("dense", "search", "sparse", "predict_dense", "predict_ticket")
    rows: list[list[Any]] = []
    for (d, m), method, i in product(pairs, METHODS, levels(scope)):
        if results.get(d, m, method, i) is not None:
            seconds = [results.mean(d, m, method, i, f"seconds_{name}") for name in names]
            memory = results.mean(d, m, method, i, "peak_memory")
            rows.append([d, m, method, i, *seconds, None if memory is None else memory / 1e9])
    columns = (
        "dataset", "model", "method", "simulation", "dense training s", "search s",
        "ticket training s", "dense inference s", "ticket inference s",
        "peak memory GB",
    )  # fmt: skip
    return ResultTable("costs", "What it took", columns, rows)


def _findings(results: Results, scope: Scope) -> list[Finding]:
    """Findings on the real data sets, without those of surrogate features."""
    real = [(d, m) for d in ("arxiv", "reddit") for m in models(d, scope.quick)]
    against = [
        results.difference(d, m, "teddy", UGS, i) for (d, m), i in product(real, levels(scope))
    ]
    sage = models("reddit", scope.quick)[1]
    return [
        all_above("large-scale-preserves", against, "TEDDY minus UGS"),
        all_above(
            "large-scale-reddit-surpasses",
            results.to_dense(["reddit"], [sage], "teddy", levels(scope)),
            "SAGE on Reddit, TEDDY minus dense",
        ),
    ]
