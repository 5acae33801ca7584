"""``teddy report``: a sweep as a page to read, and as plots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from teddy.cli.options import Json


def report(
    run: Annotated[
        Path,
        Argument(
            help="A sweep's folder, which may still be running, or its results.parquet; "
            "or the folder of `teddy reproduce`."
        ),
    ],
    out: Annotated[Path, Option("--out", "-o", help="The page: one HTML file.")] = Path(
        "report.html"
    ),
    title: Annotated[str | None, Option(help="Of the page; default: what was compared.")] = None,
    plots: Annotated[
        Path | None, Option(help="Folder for the charts of the metric as PNG and PDF, too.")
    ] = None,
    json_: Json = False,
) -> None:
    """Make one HTML file of a sweep, which works offline."""
    from teddy.report import write_report

    if (run / "sweep" / "sweep.json").is_file():
        run = run / "sweep"
    written = write_report(run, out, title, plots)
    if json_:
        typer.echo(json.dumps(written))
        return
    for path in (written["report"], *written["plots"]):
        typer.echo(path)
