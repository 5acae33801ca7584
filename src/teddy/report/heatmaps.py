"""Heat maps of the difference to dense: methods by levels, or edges by weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from teddy.report.style import method_order

Cell = dict[str, Any]

#: Options that set the sparsity of a ticket and not the method.
_LEVEL_OPTIONS = ("weight_level", "graph_level", "only")


def heatmaps_of(cells: Sequence[Cell], problem: int) -> list[dict[str, Any]]:
    """Return maps of the tickets of one data set and model, as positions in ``cells``.

    The first has methods as rows and levels as columns. A method with several weight sparsities
    for the same graph sparsity (``teddy:weight_level=40``) also has a map over both. A position is
    None where there is no ticket.

    Example:
        >>> cells = [{"method": m, "level": i, "graph": 5.0 * i, "weight": 5.0 * i,
        ...     "problem": 0, "verdict": "winning"} for m in ("random", "teddy") for i in (1, 2)]
        >>> one, = heatmaps_of(cells, 0)
        >>> one["rows"], one["columns"], one["cells"]
        (['teddy', 'random'], ['1', '2'], [[2, 3], [0, 1]])
    """
    tickets = [
        (i, cell)
        for i, cell in enumerate(cells)
        if cell["problem"] == problem and cell["verdict"] != "dense"
    ]
    if not tickets:
        return []
    maps = [_methods(tickets)]
    for name in method_order(_family(cell["method"]) for _, cell in tickets):
        family = [(i, cell) for i, cell in tickets if _family(cell["method"]) == name]
        if (sparsities := _sparsities(name, family)) is not None:
            maps.append(sparsities)
    return maps


def _methods(tickets: list[tuple[int, Cell]]) -> dict[str, Any]:
    rows = method_order(cell["method"] for _, cell in tickets)
    columns = sorted({cell["level"] for _, cell in tickets})
    return {
        "name": "methods",
        "xlabel": "level",
        "ylabel": "",
        "columns": [str(column) for column in columns],
        "rows": rows,
        "methods": True,
        "cells": _table({i: (cell["method"], cell["level"]) for i, cell in tickets}, rows, columns),
    }


def _sparsities(name: str, family: list[tuple[int, Cell]]) -> dict[str, Any] | None:
    """Return a map over both sparsities, or None if it were only a diagonal."""
    shares = {i: (round(cell["weight"], 1), round(cell["graph"], 1)) for i, cell in family}
    rows, columns = (sorted(set(values)) for values in zip(*shares.values(), strict=True))
    table = _table(shares, rows, columns)
    filled = sum(position is not None for row in table for position in row)
    if min(len(rows), len(columns)) < 2 or 2 * filled <= len(rows) * len(columns):
        return None
    return {
        "name": f"{name}: edges × weights",  # noqa: RUF001
        "xlabel": "edges removed (%)",
        "ylabel": "weights removed (%)",
        "columns": [f"{column:g}" for column in columns],
        "rows": [f"{row:g}" for row in rows],
        "methods": False,
        "cells": table,
    }


def _table(
    points: dict[int, tuple[Any, Any]], rows: Sequence[Any], columns: Sequence[Any]
) -> list[list[int | None]]:
    """Return positions of tickets by row and column; the first of two at the same point counts."""
    positions: dict[tuple[Any, Any], int] = {}
    for position, point in points.items():
        positions.setdefault(point, position)
    return [[positions.get((row, column)) for column in columns] for row in rows]


def _family(method: str) -> str:
    """Return a method without the options that set its sparsity."""
    name, *options = method.split(":")
    kept = [option for option in options if option.partition("=")[0] not in _LEVEL_OPTIONS]
    return ":".join([name, *kept])
