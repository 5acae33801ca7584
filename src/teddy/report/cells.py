"""Results of a sweep as plain data for the page: every number it shows is computed here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

from teddy.sweep.resolution import resolution_of
from teddy.sweep.statistics import known_mean, paired_difference, spread
from teddy.sweep.summary import Row, Summary, summarize

#: Columns of a row whose mean over seeds the page shows as they are.
_MEANS = ("isolated", "components", "largest_component", "pruned_degree", "homophily")


def cells_of(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The seeds of each point of the grid together; None where something isn't known.

    Sparsities are percent; ``best`` is at the epoch of best validation, ``last`` at the last one;
    ``macs`` and ``speedup`` are how many times fewer and faster, ``relative`` how many dense
    trainings a simulation takes; ``rows`` are positions in what came in.

    Example:
        >>> row = {"dataset": "cora", "model": "gcn", "method": "teddy", "simulation": 5,
        ...     "graph_sparsity": 0.25, "weight_sparsity": 0.5, "last_test": 80.0,
        ...     "dense_test": 81.0, "seconds_dense": 2.0, "seconds_round": 1.0,
        ...     "seconds_sparse": 2.0, "macs_dense": 100, "macs_ticket": 40, "test_rows": 1000}
        >>> cell, = cells_of([{**row, "seed": s, "test": 82.0 + s} for s in range(3)])
        >>> cell["best"]["mean"], cell["graph"], cell["macs"], cell["relative"], cell["speedup"]
        (83.0, 25.0, 2.5, 1.5, None)
    """
    places = {place: index for index, place in enumerate(places_of(rows))}
    positions: dict[tuple[Any, ...], dict[int, int]] = {}
    for position, row in enumerate(rows):
        # As in a summary, the last row of a seed counts.
        positions.setdefault(_key(row), {})[row["seed"]] = position
    found = []
    for summary in summarize(rows):
        here = positions[_key(vars(summary))]
        found.append(
            _cell(summary, [rows[i] for i in here.values()])
            | {
                "place": places[summary.dataset, summary.model],
                "rows": [here[seed] for seed in sorted(here)],
            }
        )
    return found


def places_of(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """Data sets and models that there are.

    Example:
        >>> places_of([{"dataset": "cora", "model": "gin"}, {"dataset": "cora", "model": "gcn"}])
        [('cora', 'gcn'), ('cora', 'gin')]
    """
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
        "seconds": mean_of(seeds, "seconds_dense"),
    }


def mean_of(rows: Iterable[Row], name: str) -> float | None:
    """Mean of a column over the rows that have it.

    Example:
        >>> mean_of([{"macs": 2}, {"macs": 4}, {"macs": None}, {}], "macs")
        3.0
    """
    return known_mean(row.get(name) for row in rows)


def finite(value: Any) -> Any:
    """The same data with None for what JSON has no number for.

    Example:
        >>> finite({"a": [1.5, float("nan")]})
        {'a': [1.5, None]}
    """
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(part) for part in value]
    return value


def _cell(summary: Summary, rows: list[Row]) -> dict[str, Any]:
    dense = mean_of(rows, "seconds_dense")
    return {
        "dataset": summary.dataset,
        "model": summary.model,
        "method": summary.method,
        "simulation": summary.simulation,
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
        "seconds_masks": mean_of(rows, "seconds_round"),
        "seconds_training": mean_of(rows, "seconds_sparse"),
        "relative": summary.seconds / dense if dense else None,
        "macs": _ratio(rows, "macs_dense", "macs_ticket"),
        "speedup": _ratio(rows, "seconds_predict_dense", "seconds_predict_ticket"),
        **{name: mean_of(rows, name) for name in _MEANS},
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


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["dataset"], row["model"], row["method"], row["simulation"]
