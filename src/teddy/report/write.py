"""From a sweep's folder or table to its page and plots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from teddy.atomic import check_writable
from teddy.report.metric import metric_chart
from teddy.report.page import write_page
from teddy.report.save import save_chart
from teddy.sweep.table import read_table


def write_report(
    run: str | Path,
    out: str | Path,
    title: str | None = None,
    plots: str | Path | None = None,
) -> dict[str, Any]:
    """Write the page of a sweep, which may still be running.

    Args:
        run: The sweep's folder, or its ``results.parquet``.
        out: The HTML file to write.
        title: Of the page; default: what was compared.
        plots: Folder for the charts of the metric as PNG and PDF; default: none.

    Returns:
        ``report`` (its path), ``cells`` (how many) and ``plots`` (their paths), as plain data.

    Example:
        >>> write_report("no-such-sweep", "report.html")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: no-such-sweep: no results here, expected the folder of a sweep
    """
    rows = read_table(run)
    check_writable(out)
    drawn: list[Path] = []
    path = write_page(rows, read_facts(run), out, title)
    if plots is not None:
        drawn = save_chart(metric_chart(rows), plots)
    return {"report": str(path), "cells": len(rows), "plots": [str(plot) for plot in drawn]}


def read_facts(run: str | Path) -> dict[str, Any]:
    """What the cells of a sweep have in common; nothing where its ``sweep.json`` isn't sound.

    Example:
        >>> read_facts("no-such-sweep")
        {}
    """
    folder = Path(run) if Path(run).is_dir() else Path(run).parent
    try:
        facts = json.loads((folder / "sweep.json").read_bytes())["row"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return facts if isinstance(facts, dict) else {}
