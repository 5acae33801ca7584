"""Chart of a ticket's latency in a server, beside the dense model's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from teddy.report.chart import Chart, Line, Panel


def latency_chart(rows: Sequence[Mapping[str, Any]], labels: Mapping[str, str]) -> Chart:
    """Return the chart of median and 99th percentile by the size of a query.

    Args:
        rows: Fields of :class:`teddy.ticket.serving_speed.Latency`.
        labels: Label of each way.

    Example:
        >>> row = {"way": "dense", "batch": 64, "p50": 2.0, "p99": 5.0}
        >>> [panel.marks[0].y for panel in latency_chart([row], {"dense": "dense"}).panels]
        [[2.0], [5.0]]
    """
    panels = []
    for name, title in (("p50", "median"), ("p99", "99th percentile")):
        lines = []
        for way, label in labels.items():
            mine = [row for row in rows if row["way"] == way]
            x = [math.log2(row["batch"]) for row in mine]
            lines.append(Line(label, x, [row[name] for row in mine]))
        panels.append(Panel(title, "nodes of a query (log2)", "milliseconds", lines, log=True))
    return Chart("latency", "Latency of queries", panels, columns=2)
