"""Report of a sweep as one HTML file, which works without a network or a server."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from teddy.errors import InputError
from teddy.report.commands import sweep_command
from teddy.report.comparison import baselines, forests, overall, tally
from teddy.report.headline import Key, headlines, signed
from teddy.report.page_data import page_data
from teddy.report.page_tables import (
    NARROW,
    method_settings,
    shared_settings,
    verdict_columns,
    verdict_rows,
)
from teddy.report.save import save_chart
from teddy.report.sweep_charts import metric_chart
from teddy.store.atomic import check_writable, write_atomically
from teddy.sweep.folder import Folder
from teddy.sweep.metric import Metric
from teddy.sweep.results_table import read_table
from teddy.sweep.statistics import Difference
from teddy.sweep.summary import Row, summarize

_TEMPLATE = files("teddy.report") / "template"
_SCRIPTS = (
    "text.js", "look.js", "forest.js", "charts.js", "details.js", "table.js", "page.js",
)  # fmt: skip


def make_page(rows: Sequence[Row], metadata: Mapping[str, Any], title: str | None = None) -> str:
    """Make the page of a sweep.

    Args:
        rows: Rows, as :func:`teddy.sweep.read_table` returns them; missing columns are left out.
        metadata: Content of the sweep's ``sweep.json``: settings, data, methods. ``command`` is the
            command itself, where it is known. May be empty.
        title: Title of the page; default: the names of the data sets.

    Example:
        >>> row = {"dataset": "cora", "model": "gcn", "method": "teddy", "simulation": 5,
        ...     "seed": 0, "graph_sparsity": 0.25, "weight_sparsity": 0.5, "test": 82.0,
        ...     "last_test": 80.0, "dense_test": 81.0, "seconds_round": 1.0, "seconds_sparse": 2.0,
        ...     "test_rows": 1000}
        >>> page = make_page([row], {"settings": {"epochs": 200}})
        >>> page[:15], "Graph lottery tickets: cora" in page, "plotly.js" in page
        ('<!doctype html>', True, True)
    """
    if not rows:
        raise InputError("no results to report, expected at least one cell")
    plotly, jinja, markup = _libraries()
    data, metric = page_data(rows, metadata), Metric.from_rows(rows)
    cells, settings = data["cells"], data["settings"]
    compared, choices = forests(rows, cells), baselines(cells)
    plotly_script = _script(plotly.get_plotlyjs())
    script = _script("\n".join(_read(name) for name in _SCRIPTS))
    environment = jinja.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja.StrictUndefined
    )
    page: str = environment.from_string(_read("page.html")).render(
        title=title or _title(data),
        about=_about(data),
        policy=_policy(plotly_script, script),
        css=markup(_read("page.css")),
        plotly=markup(plotly_script),
        script=markup(script),
        data=markup(_embedded(data)),
        headlines=headlines(
            summarize(rows),
            _last_differences(cells),
            [forest for forest in compared if forest.baseline == choices[0]],
        ),
        problems=data["problems"],
        forests=compared,
        baselines=choices,
        looks={method["name"]: method for method in data["methods"]},
        tally=tally,
        overall=overall,
        signed=signed,
        narrow=NARROW,
        columns=verdict_columns(metric),
        metric=metric,
        verdicts=verdict_rows(cells),
        command=sweep_command(rows, metadata),
        settings=shared_settings(settings, metadata) if settings else [],
        method_settings=method_settings(settings),
        versions=sorted({str(row["versions"]) for row in rows if row.get("versions")}),
    )
    return page


def write_page(
    rows: Sequence[Row], metadata: Mapping[str, Any], path: str | Path, title: str | None = None
) -> Path:
    """Write the page to a file, whole or not at all, and return its path.

    Example:
        >>> write_page([], {}, "report.html")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: no results to report, expected at least one cell
    """
    write_atomically(path, make_page(rows, metadata, title).encode())
    return Path(path)


def write_report(
    run: str | Path, out: str | Path, title: str | None = None, plots: str | Path | None = None
) -> dict[str, Any]:
    """Write the page of a sweep, which may still be running.

    Args:
        run: The sweep's folder, or its ``results.parquet``.
        out: The HTML file to write.
        title: Title of the page; default: the names of the data sets.
        plots: Folder for the charts of the metric as PNG and PDF; default: none.

    Returns:
        Plain data: ``report`` (path), ``cells`` (number) and ``plots`` (paths).

    Example:
        >>> write_report("no-such-sweep", "report.html")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: no-such-sweep: has no results, expected the folder of a sweep
    """
    rows = read_table(run)
    check_writable(out)
    path = write_page(rows, read_metadata(run), out, title)
    drawn = [] if plots is None else save_chart(metric_chart(rows), plots)
    return {"report": str(path), "cells": len(rows), "plots": [str(plot) for plot in drawn]}


def read_metadata(run: str | Path) -> dict[str, Any]:
    """Read a sweep's ``sweep.json``; empty where it is missing or damaged."""
    try:
        return Folder(run if Path(run).is_dir() else Path(run).parent).metadata()
    except InputError:
        return {}


def _libraries() -> tuple[Any, Any, Any]:
    try:
        import jinja2
        import plotly.offline
        from markupsafe import Markup
    except ImportError as error:
        name = (error.name or "a package").partition(".")[0]
        raise InputError(f"a report needs {name}: pip install 'teddy-glt[report]'") from None
    return plotly.offline, jinja2, Markup


def _title(data: Mapping[str, Any]) -> str:
    names = dict.fromkeys(Path(problem["dataset"]).name for problem in data["problems"])
    return f"Graph lottery tickets: {', '.join(names)}"


def _about(data: Mapping[str, Any]) -> str:
    """Describe the size of the sweep in one line."""
    seed = data["columns"].index("seed")
    counts = {
        "data set": len({problem["dataset"] for problem in data["problems"]}),
        "model": len({problem["model"] for problem in data["problems"]}),
        "method": len(data["methods"]),
        "level": len({cell["level"] for cell in data["cells"]}),
        "seed": len({row[seed] for row in data["rows"]}),
        "run": len(data["rows"]),
    }
    return " · ".join(f"{count:,} {word}{'s' * (count != 1)}" for word, count in counts.items())


def _last_differences(cells: Sequence[Mapping[str, Any]]) -> dict[Key, Difference]:
    return {
        (c["dataset"], c["model"], c["method"], c["level"]): Difference(**difference)
        for c in cells
        if (difference := c["last"] and c["last"]["difference"])
    }


def _policy(*scripts: str) -> str:
    """Return a policy under which only these scripts run and nothing is fetched."""
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; connect-src 'none'; script-src {hashes}; "
        # plotly writes styles into the page; pictures are only those in the page itself.
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _script(code: str) -> str:
    """Prepare code so that an HTML parser does not change it, and its hash holds."""
    return code.replace("\r\n", "\n").replace("\r", "\n").replace("</script", "<\\/script")


def _embedded(data: Mapping[str, Any]) -> str:
    """Write JSON that cannot end its script element, with any names in it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _read(name: str) -> str:
    return (_TEMPLATE / name).read_text(encoding="utf-8")
