"""A study of our own: what carries the accuracy, the edges, the distillation or the weights."""

from __future__ import annotations

from itertools import product
from typing import Any

from teddy.chart import Chart, Heatmap
from teddy.paper.reproduction import Result, Scope, Table, reproduction
from teddy.paper.results import TITLES, Results
from teddy.sweep import Grid

EDGES = ("teddy", "random", "degree-high", "degree-low")
#: What the dense model teaches, as options of a method.
DISTILLATION = {"none": ":distill=0", "training nodes": ":distill_nodes=training", "all nodes": ""}
#: Whether weights are sparse.
WEIGHTS = {"projected": "", "dense": ":only=edges"}
MODELS = ("gcn", "gin")


def levels(scope: Scope) -> list[int]:
    """Simulations 10 and 20, the last in a quick run."""
    return [20] if scope.quick else [10, 20]


def grids(scope: Scope) -> list[Grid]:
    """Every combination."""
    methods = [
        f"{edges}{taught}{weights}"
        for edges, taught, weights in product(EDGES, DISTILLATION.values(), WEIGHTS.values())
    ]
    return [scope.grid(methods, MODELS, levels(scope))]


@reproduction("attribution", (), "What carries the accuracy", grids)
def attribution(results: Results, scope: Scope) -> Result:
    """All combinations, and how far apart they are along each factor."""
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
    effects = [
        [dataset, model, level, factor, effect]
        for (dataset, model, level), found in _effects(rows).items()
        for factor, effect in found.items()
    ]
    return Result(
        [
            Table("attribution", "Test accuracy (%) of every combination", columns, rows),
            Table("effects", "How far apart the means along one factor are (points)",
                  ("dataset", "model", "simulation", "factor", "points"), effects),
        ],
        [Chart("attribution", "What carries the accuracy: ticket minus dense, in points", panels)]
        if panels
        else [],
        notes=["Effects: the highest minus the lowest, of one factor, the others held fixed; the "
               "mean over the others. Of edges, with each distillation by itself."],
    )  # fmt: skip


def spec(edges: str, taught: str, weights: str) -> str:
    """The method of a combination, as a sweep writes it.

    Example:
        >>> spec("random", "training nodes", "dense")
        'random:distill_nodes=training:only=edges'
    """
    return f"{edges}{DISTILLATION[taught]}{WEIGHTS[weights]}"


def _panel(results: Results, dataset: str, model: str, level: int) -> Heatmap:
    columns = list(product(WEIGHTS, DISTILLATION))
    values: list[list[float | None]] = []
    for edges in EDGES:
        line = []
        for weights, taught in columns:
            s = results.get(dataset, model, spec(edges, taught, weights), level)
            line.append(None if s is None else s.mean - s.dense)
        values.append(line)
    names = [f"{taught}\n{weights}" for weights, taught in columns]
    return Heatmap(
        f"{model.upper()}, {TITLES.get(dataset, dataset)}, simulation {level}",
        "distillation and weights", "edges", names, list(EDGES), values,
    )  # fmt: skip


def _effects(rows: list[list[Any]]) -> dict[tuple[str, str, int], dict[str, float]]:
    """Of each setting, the mean distance between the best and worst of one factor."""
    found: dict[tuple[str, str, int], dict[str, float]] = {}
    for key in dict.fromkeys(tuple(row[:3]) for row in rows):
        means = {tuple(row[3:6]): row[7] for row in rows if tuple(row[:3]) == key}
        if len(means) < len(EDGES) * len(DISTILLATION) * len(WEIGHTS):
            continue
        effects = {
            f"edges, distillation on {taught}": _mean_range(
                [[means[e, taught, w] for e in EDGES] for w in WEIGHTS]
            )
            for taught in DISTILLATION
        }
        effects["distillation"] = _mean_range(
            [[means[e, t, w] for t in DISTILLATION] for e, w in product(EDGES, WEIGHTS)]
        )
        effects["weights"] = _mean_range(
            [[means[e, t, w] for w in WEIGHTS] for e, t in product(EDGES, DISTILLATION)]
        )
        found[key] = effects
    return found


def _mean_range(groups: list[list[float]]) -> float:
    return sum(max(group) - min(group) for group in groups) / len(groups)
