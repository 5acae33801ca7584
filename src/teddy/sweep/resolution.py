"""Number of test rows: what the metric of a ticket was measured on."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm
from typing import Any

from torch_geometric.data import Data, HeteroData

from teddy.ticket import TicketInfo
from teddy.ticket.heads import targets_for
from teddy.ticket.hetero import hetero_targets

Row = dict[str, Any]

# Columns of a row that are shares of the test nodes.
_ACCURACIES = ("test", "last_test", "dense_test", "dense_last_test")
# More test nodes than that are not told from their accuracies.
_MOST = 10**7


def num_test_rows(info: TicketInfo, data: Data | HeteroData) -> int:
    """Number of nodes, links or graphs that a ticket was tested on.

    Args:
        info: Metadata of the ticket.
        data: The data that the ticket was found on.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", epochs=1, hidden=8)
        >>> num_test_rows(ticket.info, data)
        1000
    """
    if isinstance(data, HeteroData):
        return int(hetero_targets(info, data).test_mask.sum())
    return int(targets_for(info, data).test_mask.sum())


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
