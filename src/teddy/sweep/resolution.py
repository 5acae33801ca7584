"""Size of a validation or test set, and the points of the metric that one example is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from torch import Tensor

from teddy.sweep.metric import Metric
from teddy.tasks import Task, kind_from, task_from
from teddy.ticket import TicketInfo

Row = dict[str, Any]

#: Columns that rows of older sweeps do not have.
LATER_COLUMNS = ("test_rows", "resolution", "task", "metric", "hits", "dense_hits", "hits_at")

# Columns of a row that are shares of the test nodes.
_ACCURACIES = ("test", "last_test", "dense_test", "dense_last_test")
# More test nodes than that are not told from their accuracies.
_MOST = 10**7


@dataclass(frozen=True)
class HeldOut:
    """Size of a validation or test set.

    Attributes:
        rows: Number of nodes, links or graphs.
        resolution: Points of the metric that one example is worth; see
            :meth:`teddy.tasks.Task.resolution`.
    """

    rows: int
    resolution: float

    @staticmethod
    def from_targets(task: Task, y: Tensor) -> HeldOut:
        """The size of a set with these targets.

        Example:
            >>> import torch
            >>> from teddy.tasks import parse_task
            >>> HeldOut.from_targets(parse_task("link-prediction"), torch.tensor([1, 1, 0, 0]))
            HeldOut(rows=4, resolution=25.0)
        """
        return HeldOut(y.size(0), task.resolution(y))


def tested_on(info: TicketInfo, data: Any) -> HeldOut:
    """Size of the test set of a ticket, in the data that it was found on.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", epochs=1, hidden_channels=8)
        >>> tested_on(ticket.info, data)
        HeldOut(rows=1000, resolution=0.1)
    """
    task = task_from(info.task)
    rows = kind_from(task, info).labelled(data)
    return HeldOut.from_targets(task, rows.y[rows.test_mask])


def resolution_of(rows: Iterable[Mapping[str, Any]]) -> float:
    """Points that one test example is worth in some rows of a cell, the most of them.

    Rows of older sweeps do not say it. They are accuracies, in which it is 100 / ``test_rows``.

    Example:
        >>> resolution_of([{"test_rows": 1000}]), resolution_of([{"resolution": 0.02}])
        (0.1, 0.02)
    """
    return max(float(row.get("resolution") or 100.0 / row["test_rows"]) for row in rows)


def completed(rows: Iterable[Row]) -> list[Row]:
    """Fill in the columns of rows that an earlier version wrote without them.

    Such rows are accuracies of node classification; see :func:`with_test_rows` for the number of
    test nodes.

    Example:
        >>> row, = completed([{"dataset": "cora", "split": "public", "test": 81.4}])
        >>> row["task"], row["metric"], row["test_rows"], row["resolution"], row["hits"]
        ('classification', 'accuracy', 500, 0.2, None)
    """
    later = dict.fromkeys(LATER_COLUMNS)
    known = {"task": Metric.task, "metric": Metric.name}
    found = []
    for row in with_test_rows(rows):
        full = {**later, **row}
        full |= {name: value for name, value in known.items() if full[name] is None}
        if full["resolution"] is None:
            full["resolution"] = 100.0 / full["test_rows"]
        found.append(full)
    return found


def with_test_rows(rows: Iterable[Row]) -> list[Row]:
    """Fill in the number of test nodes of rows that an earlier version wrote without it.

    All rows of a data set and split have the same test nodes, n of them, and every accuracy is a
    multiple of 100 / n. The smallest n for which that holds is taken. It is the number of test
    nodes unless there are few rows. Then it may be smaller, which makes intervals wider.

    Example:
        >>> old = [{"dataset": "cora", "split": "public", "test": test} for test in (81.4, 80.7)]
        >>> [row["test_rows"] for row in with_test_rows(old)]
        [1000, 1000]
    """
    rows = list(rows)
    known: dict[tuple[Any, Any], int] = {}
    accuracies: dict[tuple[Any, Any], set[float]] = {}
    for row in rows:
        place = row.get("dataset"), row.get("split")
        if row.get("test_rows") is not None:
            known[place] = row["test_rows"]
        there = (row[name] for name in _ACCURACIES if row.get(name) is not None)
        accuracies.setdefault(place, set()).update(there)
    for place, values in accuracies.items():
        if place not in known:
            known[place] = _smallest(values)
    return [{**row, "test_rows": known[row.get("dataset"), row.get("split")]} for row in rows]


def _smallest(accuracies: Iterable[float]) -> int:
    """Fewest nodes of which all accuracies are shares; 1 where there is no such number."""
    shares = (Fraction(value / 100).limit_denominator(_MOST) for value in accuracies)
    nodes = lcm(*(share.denominator for share in shares))
    return nodes if nodes <= _MOST else 1
