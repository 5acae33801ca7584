"""``teddy report``: an HTML report and charts of a sweep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument

from teddy.cli.options import Json, option


def report(
    run: Annotated[
        Path,
        Argument(
            help="Folder of a sweep, which may still be running, or its results.parquet; or the "
            "folder of `teddy reproduce`."
        ),
    ],
    out: Annotated[Path, option("Output", "HTML file to write.", "--out", "-o")] = Path(
        "report.html"
    ),
    title: Annotated[
        str | None, option("Output", "Title of the report; default: the compared methods.")
    ] = None,
    plots: Annotated[
        Path | None, option("Output", "Folder for the charts of the metric, as PNG and PDF.")
    ] = None,
    json_: Json = False,
) -> None:
    """Write a sweep's results as one HTML file, which works offline.

    Examples:
        teddy report runs/sweep
        teddy report runs/sweep --out page.html --title "GCN on CiteSeer"
        teddy report runs/sweep --plots charts
    """
    from teddy.report import write_report

    if (run / "sweep" / "sweep.json").is_file():
        run = run / "sweep"
    written = write_report(run, out, title, plots)
    if json_:
        typer.echo(json.dumps(written))
        return
    for path in (written["report"], *written["plots"]):
        typer.echo(path)
