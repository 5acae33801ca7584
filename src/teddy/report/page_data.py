"""Data of the page as plain JSON: every number that it shows is computed here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

from teddy.report.commands import cell_command, real_settings
from teddy.report.heatmaps import heatmaps_of
from teddy.report.style import ABOVE, BELOW, looks, method_order
from teddy.sweep.metric import Metric
from teddy.sweep.resolution import resolution_of
from teddy.sweep.statistics import known_mean, paired_difference, spread
from teddy.sweep.summary import Row, Summary, summarize

Cell = dict[str, Any]

#: Columns of a row whose mean over seeds the page shows.
_MEANS = ("isolated", "components", "largest_component", "pruned_degree", "homophily")


def page_data(rows: Sequence[Row], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of the page's script, which computes nothing itself.

    ``rows`` has a row for each run, for details and downloads. ``cells`` has the seeds of each
    data set, model, method and level together. ``problems`` has the data sets and models.
    ``metric`` and ``hits`` are the names of the metrics.

    Example:
        >>> row = {"dataset": "cora", "model": "gcn", "method": "teddy", "simulation": 5,
        ...     "seed": 0, "graph_sparsity": 0.25, "weight_sparsity": 0.5, "test": 82.0,
        ...     "last_test": 80.0, "dense_test": 81.0, "seconds_dense": 2.0,
        ...     "seconds_round": 1.0, "seconds_sparse": 2.0,
        ...     "test_rows": 1000}
        >>> data = page_data([row], {})
        >>> timing, = data["problems"][0]["timing"]
        >>> timing["relative"], timing["masks"]
        (1.5, {'seconds': 1.0, 'relative': 0.5})
        >>> data["methods"][0]["colour"]
        '#0072b2'
    """
    cells, metric = _cells(rows, metadata), Metric.from_rows(rows)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    methods = method_order(cell["method"] for cell in cells)
    problems = [
        {
            "dataset": dataset,
            "model": model,
            "dense": dense_of(r for r in rows if (r["dataset"], r["model"]) == (dataset, model)),
            "heatmaps": heatmaps_of(cells, index),
            "timing": _timing([cell for cell in cells if cell["problem"] == index]),
        }
        for index, (dataset, model) in enumerate(_problems(rows))
    ]
    data: dict[str, Any] = _finite(
        {
            "problems": problems,
            "methods": [{"name": name, **asdict(look)} for name, look in looks(methods).items()],
            "metric": metric.name,
            "hits": metric.hits,
            "below": BELOW,
            "above": ABOVE,
            "cells": cells,
            "columns": columns,
            "rows": [[row.get(name) for name in columns] for row in rows],
            "settings": _settings(rows, cells, metadata),
            "metadata": metadata,
        }
    )
    return data


def _settings(
    rows: Sequence[Row], cells: Sequence[Cell], metadata: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the resolved settings of each data set, model and method."""
    names = ("dataset", "model", "method")
    # A row of the highest level: a dense model's row has no strength of the distillation.
    by_method = {tuple(cell[name] for name in names): rows[cell["rows"][0]] for cell in cells}
    settings = [
        dict(zip(names, key, strict=True)) | {"settings": real_settings(row, metadata)}
        for key, row in by_method.items()
    ]
    return [one for one in settings if one["settings"]]


def _timing(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return times of each method at its fastest level, in seconds and in dense trainings."""
    times = []
    timed = [c for c in cells if c["verdict"] != "dense" and c["seconds"]]
    for method in method_order(cell["method"] for cell in timed):
        tickets = [c for c in timed if c["method"] == method]
        fastest = min(tickets, key=lambda c: float(c["seconds"]))
        seconds, relative = fastest["seconds"], fastest["relative"]
        parts = {name: fastest[f"seconds_{name}"] for name in ("masks", "training")}
        if relative and None not in parts.values():
            shares = {
                name: {"seconds": part, "relative": relative * part / seconds}
                for name, part in parts.items()
            }
            times.append({"method": method, "seconds": seconds, "relative": relative, **shares})
    return times


def _cells(rows: Sequence[Row], metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Put the seeds of each point of the grid together; unknown values are None.

    Sparsities are in percent. ``best`` is at the epoch of best validation, ``last`` at the last
    epoch. ``macs`` and ``speedup`` are ratios of dense to ticket, ``relative`` is the time of a
    level in dense trainings. ``rows`` has positions in the rows.
    """
    problems = {problem: index for index, problem in enumerate(_problems(rows))}
    positions: dict[tuple[Any, ...], dict[int, int]] = {}
    for position, row in enumerate(rows):
        # As in a summary, the last row of a seed counts.
        key = row["dataset"], row["model"], row["method"], row["simulation"]
        positions.setdefault(key, {})[row["seed"]] = position
    cells = []
    for s in summarize(rows):
        by_seed = positions[s.dataset, s.model, s.method, s.level]
        seeds = [rows[i] for i in by_seed.values()]
        cells.append(
            _cell(s, seeds)
            | {
                "problem": problems[s.dataset, s.model],
                "rows": [by_seed[seed] for seed in sorted(by_seed)],
                "command": cell_command(seeds, metadata),
            }
        )
    return cells


def _problems(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """Data sets and models of the rows, sorted."""
    return sorted({(row["dataset"], row["model"]) for row in rows})


def dense_of(rows: Iterable[Row]) -> dict[str, Any]:
    """Summarise the dense models of one data set and model; all methods share one a seed.

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
    """Return the mean of a column over the rows that have it."""
    return known_mean(row.get(name) for row in rows)


def _finite(value: Any) -> Any:
    """Replace numbers that JSON cannot write by None."""
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
        "level": summary.level,
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
    """Return the metric at the last epoch, with the same keys as at the best one."""
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
    """Return the ratio of two means over the seeds that have both."""
    pairs = [(row.get(above), row.get(below)) for row in rows]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    total = sum(b for _, b in known)
    return sum(a for a, _ in known) / total if total else None


def _level(seeds: list[Row], name: str) -> dict[str, Any] | None:
    values = [row[name] for row in seeds if row.get(name) is not None]
    if not values:
        return None
    return {"mean": known_mean(values), "deviation": spread(values), "seeds": len(values)}
