"""Size of a validation or test set, and the resolution of its metric."""

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

#: Columns that rows of older sweeps lack.
LATER_COLUMNS = ("test_rows", "resolution", "task", "metric", "hits", "dense_hits", "hits_at")

# Columns of a row that are shares of the test nodes.
_ACCURACIES = ("test", "last_test", "dense_test", "dense_last_test")
# Larger test sets are not inferred from accuracies.
_MOST = 10**7


@dataclass(frozen=True)
class HeldOut:
    """Size of a validation or test set.

    Attributes:
        rows: Number of nodes, links or graphs.
        resolution: Change of the metric by one example, in points; see
            :meth:`teddy.tasks.Task.resolution`.
    """

    rows: int
    resolution: float

    @staticmethod
    def from_targets(task: Task, y: Tensor) -> HeldOut:
        """Size of a set with these targets.

        Example:
            >>> import torch
            >>> from teddy.tasks import parse_task
            >>> HeldOut.from_targets(parse_task("link-prediction"), torch.tensor([1, 1, 0, 0]))
            HeldOut(rows=4, resolution=25.0)
        """
        return HeldOut(y.size(0), task.resolution(y))


def tested_on(info: TicketInfo, data: Any) -> HeldOut:
    """Size of a ticket's test set, in the data that it was found on.

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
    """Largest resolution of the rows of a cell.

    Rows of older sweeps lack it. They are accuracies with a resolution of 100 / ``test_rows``.

    Example:
        >>> resolution_of([{"test_rows": 1000}]), resolution_of([{"resolution": 0.02}])
        (0.1, 0.02)
    """
    return max(float(row.get("resolution") or 100.0 / row["test_rows"]) for row in rows)


def completed(rows: Iterable[Row]) -> list[Row]:
    """Fill in columns that rows of an earlier version lack.

    Such rows are accuracies of node classification; see :func:`with_test_rows` for the number of
    test nodes.

    Example:
        >>> row, = completed([{"dataset": "cora", "split": "public", "test": 81.4}])
        >>> row["task"], row["metric"], row["test_rows"], row["resolution"], row["hits"]
        ('classification', 'accuracy', 500, 0.2, None)
    """
    later = dict.fromkeys(LATER_COLUMNS)
    known = {"task": Metric.task, "metric": Metric.name}
    full_rows = []
    for row in with_test_rows(rows):
        full = {**later, **row}
        full |= {name: value for name, value in known.items() if full[name] is None}
        if full["resolution"] is None:
            full["resolution"] = 100.0 / full["test_rows"]
        full_rows.append(full)
    return full_rows


def with_test_rows(rows: Iterable[Row]) -> list[Row]:
    """Fill in the number of test nodes, which rows of an earlier version lack.

    All rows of a data set and split share n test nodes, so every accuracy is a multiple of 100 / n.
    The smallest such n is used. With few rows it may be too small, which makes intervals wider.

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
        values = (row[name] for name in _ACCURACIES if row.get(name) is not None)
        accuracies.setdefault(place, set()).update(values)
    for place, shares in accuracies.items():
        if place not in known:
            known[place] = _smallest(shares)
    return [{**row, "test_rows": known[row.get("dataset"), row.get("split")]} for row in rows]


def _smallest(accuracies: Iterable[float]) -> int:
    """Smallest number of nodes of which all accuracies are shares; 1 without one."""
    shares = (Fraction(value / 100).limit_denominator(_MOST) for value in accuracies)
    nodes = lcm(*(share.denominator for share in shares))
    return nodes if nodes <= _MOST else 1
