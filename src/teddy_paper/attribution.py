"""Our own study: effects of edges, distillation and weights on the accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from teddy.report.chart import Chart, Heatmap
from teddy.sweep import Grid
from teddy_paper.reproduction import Result, ResultTable, Scope, reproduction
from teddy_paper.results import Results, display_name

EDGES = ("teddy", "random", "degree-high", "degree-low")
#: Distillation, as options of a method; lambda is tuned for all nodes, so training nodes are also
#: tried with another one.
DISTILLATION = {
    "none": ":distill=0",
    "training nodes": ":distill_nodes=training",
    "training nodes, lambda 10": ":distill=10:distill_nodes=training",
    "all nodes": "",
}
#: Sparse or dense weights, as options of a method.
WEIGHTS = {"projected": "", "dense": ":only=edges"}
MODELS = ("gcn", "gin")


def levels(scope: Scope) -> list[int]:
    """Levels 10 and 20; 20 alone in a quick run."""
    return [20] if scope.quick else [10, 20]


def grids(scope: Scope) -> list[Grid]:
    """Grids of every combination; the second lambda at the last level only."""
    methods = {
        taught: [spec(edges, taught, weights) for edges, weights in product(EDGES, WEIGHTS)]
        for taught in DISTILLATION
    }
    extra = methods.pop("training nodes, lambda 10")
    main = [method for specs in methods.values() for method in specs]
    return [scope.grid(main, MODELS, levels(scope)), scope.grid(extra, MODELS, levels(scope)[-1:])]


@reproduction("attribution", (), "What carries the accuracy", grids)
def attribution(results: Results, scope: Scope) -> Result:
    """Accuracy of all combinations, and the contrasts of each factor."""
    rows, panels = [], []
    for (dataset, model), level in product(results.settings(scope.datasets, MODELS), levels(scope)):
        for weights, taught, edges in product(WEIGHTS, DISTILLATION, EDGES):
            s = results.get(dataset, model, spec(edges, taught, weights), level)
            if s is not None:
                rows.append(
                    [dataset, model, level, edges, taught, weights, s.seeds, s.mean, s.deviation,
                     s.dense, s.mean - s.dense]
                )  # fmt: skip
        if level == levels(scope)[-1]:
            panels.append(_panel(results, dataset, model, level))
    columns = (
        "dataset", "model", "simulation", "edges", "distillation", "weights", "seeds", "ticket",
        "deviation", "dense", "difference",
    )  # fmt: skip
    return Result(
        [
            contrast_table(results, scope, levels(scope)),
            ResultTable("attribution", "Test accuracy (%) of every combination", columns, rows),
        ],
        [Chart("attribution", "What carries the accuracy: ticket minus dense, in points", panels,
               columns=2)],
        notes=["Lambda is the one tuned for all nodes; training nodes are taught with it and with "
               "10. Contrasts of distillation and of weights are those of TEDDY's edges."],
    )  # fmt: skip


def contrast_table(results: Results, scope: Scope, levels: Sequence[int]) -> ResultTable:
    """Table of computed pairs of methods that differ in one factor."""
    rows = [
        [dataset, model, level, what, difference.mean, difference.low, difference.high]
        for (dataset, model), level in product(results.settings(scope.datasets, MODELS), levels)
        for what, ours, theirs in contrasts()
        if (difference := results.difference(dataset, model, ours, theirs, level)) is not None
    ]
    title = "One factor changed, paired over seeds, with 95% intervals (points)"
    columns = ("dataset", "model", "simulation", "contrast", "difference", "low", "high")
    return ResultTable("contrasts", title, columns, rows)


def contrasts() -> list[tuple[str, str, str]]:
    """Pairs of methods that differ in one factor.

    Example:
        >>> contrasts()[0]
        ('teddy - random edges, distillation: none', 'teddy:distill=0', 'random:distill=0')
    """
    pairs = []
    for taught in DISTILLATION:
        for ours, theirs in (("teddy", "random"), ("degree-high", "degree-low")):
            name = f"{ours} - {theirs} edges, distillation: {taught}"
            pairs.append((name, (ours, taught, "projected"), (theirs, taught, "projected")))
    for ours, theirs in (
        ("all nodes", "none"), ("training nodes", "none"), ("training nodes, lambda 10", "none"),
        ("all nodes", "training nodes"),
    ):  # fmt: skip
        name = f"distillation: {ours} - {theirs}"
        pairs.append((name, ("teddy", ours, "projected"), ("teddy", theirs, "projected")))
    for taught in ("none", "all nodes"):
        name = f"dense - projected weights, distillation: {taught}"
        pairs.append((name, ("teddy", taught, "dense"), ("teddy", taught, "projected")))
    return [(name, spec(*ours), spec(*theirs)) for name, ours, theirs in pairs]


def spec(edges: str, taught: str, weights: str) -> str:
    """Return the method spec of a combination.

    Example:
        >>> spec("random", "training nodes", "dense")
        'random:distill_nodes=training:only=edges'
    """
    return f"{edges}{DISTILLATION[taught]}{WEIGHTS[weights]}"


def _panel(results: Results, dataset: str, model: str, level: int) -> Heatmap:
    rows = list(product(WEIGHTS, DISTILLATION))
    values: list[list[float | None]] = []
    for weights, taught in rows:
        cells = [results.get(dataset, model, spec(e, taught, weights), level) for e in EDGES]
        values.append([None if s is None else s.difference.mean for s in cells])
    names = [f"{taught}, {weights} weights" for weights, taught in rows]
    return Heatmap(
        f"{display_name(model)}, {display_name(dataset)}, simulation {level}",
        "edges", "distillation and weights", list(EDGES), names, values,
    )  # fmt: skip
