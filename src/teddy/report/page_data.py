"""Data of the page, plain JSON: every number that it shows is computed here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

from teddy.report.heatmaps import heatmaps_of
from teddy.report.style import ABOVE, BELOW, looks, method_order
from teddy.sweep.metric import Metric
from teddy.sweep.resolution import resolution_of
from teddy.sweep.statistics import known_mean, paired_difference, spread
from teddy.sweep.summary import Row, Summary, summarize

Cell = dict[str, Any]

#: Columns of a row whose mean over seeds the page shows as they are.
_MEANS = ("isolated", "components", "largest_component", "pruned_degree", "homophily")


def page_data(rows: Sequence[Row], facts: Mapping[str, Any]) -> dict[str, Any]:
    """All that the page's script needs; it computes nothing itself.

    ``rows`` are the cells' files as a table, for details and downloads; ``cells`` the seeds of
    each together; ``places`` the data sets and models with what is compared there; ``metric`` and
    ``hits`` the names of the metrics.

    Example:
        >>> row = {"dataset": "cora", "model": "gcn", "method": "teddy", "simulation": 5,
        ...     "seed": 0, "graph_sparsity": 0.25, "weight_sparsity": 0.5, "test": 82.0,
        ...     "last_test": 80.0, "dense_test": 81.0, "seconds_dense": 2.0,
        ...     "seconds_round": 1.0, "seconds_sparse": 2.0,
        ...     "test_rows": 1000}
        >>> data = page_data([row], {})
        >>> timing, = data["places"][0]["timing"]
        >>> timing["relative"], timing["masks"]
        (1.5, {'seconds': 1.0, 'relative': 0.5})
        >>> data["methods"][0]["colour"]
        '#0072b2'
    """
    cells, metric = _cells_of(rows), Metric.from_rows(rows)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    methods = method_order(cell["method"] for cell in cells)
    places = [
        {
            "dataset": dataset,
            "model": model,
            "dense": dense_of(r for r in rows if (r["dataset"], r["model"]) == (dataset, model)),
            "heatmaps": heatmaps_of(cells, index),
            "timing": _timing([cell for cell in cells if cell["place"] == index]),
        }
        for index, (dataset, model) in enumerate(_places_of(rows))
    ]
    data: dict[str, Any] = _finite(
        {
            "places": places,
            "methods": [{"name": name, **asdict(look)} for name, look in looks(methods).items()],
            "metric": metric.name,
            "hits": metric.hits,
            "below": BELOW,
            "above": ABOVE,
            "cells": cells,
            "columns": columns,
            "rows": [[row.get(name) for name in columns] for row in rows],
            "facts": facts,
        }
    )
    return data


def _timing(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """The quickest level of each method, in seconds and in dense trainings."""
    found = []
    timed = [c for c in cells if c["verdict"] != "dense" and c["seconds"]]
    for method in method_order(cell["method"] for cell in timed):
        tickets = [c for c in timed if c["method"] == method]
        quickest = min(tickets, key=lambda c: float(c["seconds"]))
        seconds, relative = quickest["seconds"], quickest["relative"]
        parts = {name: quickest[f"seconds_{name}"] for name in ("masks", "training")}
        if relative and None not in parts.values():
            shares = {
                name: {"seconds": part, "relative": relative * part / seconds}
                for name, part in parts.items()
            }
            found.append({"method": method, "seconds": seconds, "relative": relative, **shares})
    return found


def _cells_of(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The seeds of each point of the grid together; None where something isn't known.

    Sparsities are percent; ``best`` is at the epoch of best validation, ``last`` at the last one;
    ``macs`` and ``speedup`` are how many times fewer and faster, ``relative`` how many dense
    trainings a simulation takes; ``rows`` are positions in what came in.
    """
    places = {place: index for index, place in enumerate(_places_of(rows))}
    positions: dict[tuple[Any, ...], dict[int, int]] = {}
    for position, row in enumerate(rows):
        # As in a summary, the last row of a seed counts.
        key = row["dataset"], row["model"], row["method"], row["simulation"]
        positions.setdefault(key, {})[row["seed"]] = position
    found = []
    for s in summarize(rows):
        here = positions[s.dataset, s.model, s.method, s.level]
        cell = _cell(s, [rows[i] for i in here.values()])
        place, in_order = places[s.dataset, s.model], [here[seed] for seed in sorted(here)]
        found.append(cell | {"place": place, "rows": in_order})
    return found


def _places_of(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """Data sets and models that there are."""
    return sorted({(row["dataset"], row["model"]) for row in rows})


def dense_of(rows: Iterable[Row]) -> dict[str, Any]:
    """The dense models of one data set and model, which all methods share: one a seed.

    Example:
        >>> row = {"dense_test": 70.0, "dense_last_test": 69.0, "seconds_dense": 2.0}
        >>> dense_of([{**row, "seed": 0}, {**row, "seed": 0}, {**row, "seed": 1}])["best"]
        {'mean': 70.0, 'deviation': 0.0, 'seeds': 2}
    """
    seeds = list({row["seed"]: row for row in rows}.values())
    return {
        "best": _level(seeds, "dense_test"),
        "last": _level(seeds, "dense_last_test"),
        "seconds": _mean_of(seeds, "seconds_dense"),
    }


def _mean_of(rows: Iterable[Row], name: str) -> float | None:
    """Mean of a column over the rows that have it."""
    return known_mean(row.get(name) for row in rows)


def _finite(value: Any) -> Any:
    """The same data with None for what JSON has no number for."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return value


def _cell(summary: Summary, rows: list[Row]) -> dict[str, Any]:
    dense = _mean_of(rows, "seconds_dense")
    return {
        "dataset": summary.dataset,
        "model": summary.model,
        "method": summary.method,
        "simulation": summary.level,
        "graph": 100 * summary.graph_sparsity,
        "weight": 100 * summary.weight_sparsity,
        "seeds": summary.seeds,
        "verdict": summary.verdict,
        "dense": summary.dense,
        "best": {
            "mean": summary.mean,
            "deviation": summary.deviation,
            "difference": asdict(summary.difference),
        },
        "last": _last(rows),
        "hits": summary.hits,
        "dense_hits": summary.dense_hits,
        "seconds": summary.seconds,
        "seconds_masks": _mean_of(rows, "seconds_round"),
        "seconds_training": _mean_of(rows, "seconds_sparse"),
        "relative": summary.seconds / dense if dense else None,
        "macs": _ratio(rows, "macs_dense", "macs_ticket"),
        "speedup": _ratio(rows, "seconds_predict_dense", "seconds_predict_ticket"),
        **{name: _mean_of(rows, name) for name in _MEANS},
    }


def _last(rows: list[Row]) -> dict[str, Any] | None:
    """The metric at the last epoch, as that of the best."""
    known = [row for row in rows if row.get("last_test") is not None]
    if not known:
        return None
    tests = [row["last_test"] for row in known]
    difference = None
    if all(row.get("dense_last_test") is not None for row in known):
        dense = [row["dense_last_test"] for row in known]
        test_rows, resolution = known[0]["test_rows"], resolution_of(known)
        difference = asdict(
            paired_difference(tests, dense, test_rows=test_rows, resolution=resolution)
        )
    return {"mean": known_mean(tests), "deviation": spread(tests), "difference": difference}


def _ratio(rows: list[Row], above: str, below: str) -> float | None:
    """Ratio of two means over the seeds that have both."""
    pairs = [(row.get(above), row.get(below)) for row in rows]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    total = sum(b for _, b in known)
    return sum(a for a, _ in known) / total if total else None


def _level(seeds: list[Row], name: str) -> dict[str, Any] | None:
    values = [row[name] for row in seeds if row.get(name) is not None]
    if not values:
        return None
    return {"mean": known_mean(values), "deviation": spread(values), "seeds": len(values)}
