"""Data of the page's charts: rows of a sweep in, plain JSON out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from teddy.report.cells import cells_of, dense_of, finite, places_of
from teddy.report.heatmaps import heatmaps_of
from teddy.report.style import ABOVE, BELOW, looks, method_order
from teddy.sweep.metric import Metric
from teddy.sweep.summary import Row

Cell = dict[str, Any]


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
    cells, metric = cells_of(rows), Metric.from_rows(rows)
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
        for index, (dataset, model) in enumerate(places_of(rows))
    ]
    data: dict[str, Any] = finite(
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
