"""Differences to dense over two axes: methods and levels, or both sparsities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from teddy.report.style import method_order

Cell = dict[str, Any]

#: Options that change how sparse a ticket is, not how it is found.
_LEVEL_OPTIONS = ("weight_level", "graph_level", "only")


def heatmaps_of(cells: Sequence[Cell], place: int) -> list[dict[str, Any]]:
    """Maps of the tickets of one place, as positions in ``cells`` (None: not there).

    The first has methods as rows and levels as columns. A method whose tickets vary both
    sparsities apart from each other (``teddy:weight_level=40``) has one over both, too.

    Example:
        >>> cells = [{"method": m, "simulation": i, "graph": 5.0 * i, "weight": 5.0 * i,
        ...     "place": 0, "verdict": "winning"} for m in ("random", "teddy") for i in (1, 2)]
        >>> one, = heatmaps_of(cells, 0)
        >>> one["rows"], one["columns"], one["cells"]
        (['teddy', 'random'], ['1', '2'], [[2, 3], [0, 1]])
    """
    tickets = [
        (i, cell)
        for i, cell in enumerate(cells)
        if cell["place"] == place and cell["verdict"] != "dense"
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
    columns = sorted({cell["simulation"] for _, cell in tickets})
    return {
        "name": "methods",
        "xlabel": "simulation",
        "ylabel": "",
        "columns": [str(column) for column in columns],
        "rows": rows,
        "methods": True,
        "cells": _table(
            {i: (cell["method"], cell["simulation"]) for i, cell in tickets}, rows, columns
        ),
    }


def _sparsities(name: str, family: list[tuple[int, Cell]]) -> dict[str, Any] | None:
    """A map over both sparsities, if it would be more than a diagonal."""
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
    places: dict[int, tuple[Any, Any]], rows: Sequence[Any], columns: Sequence[Any]
) -> list[list[int | None]]:
    """Positions of tickets by row and column; of two in one place the first, of plainer name."""
    positions: dict[tuple[Any, Any], int] = {}
    for position, place in places.items():
        positions.setdefault(place, position)
    return [[positions.get((row, column)) for column in columns] for row in rows]


def _family(method: str) -> str:
    """A method without what only says how sparse."""
    name, *options = method.split(":")
    kept = [option for option in options if option.partition("=")[0] not in _LEVEL_OPTIONS]
    return ":".join([name, *kept])
