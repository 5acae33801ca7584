"""``teddy sweep``: many methods, models, data sets, levels and seeds."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from teddy.cli.options import Json, Load, Report, check_report, load_files, report_tuned, words
from teddy.cli.settings_options import takes_settings
from teddy.errors import InputError
from teddy.settings import Settings
from teddy.sparsity import check_count
from teddy.store.atomic import check_writable


@takes_settings
def sweep(
    settings: dict[str, Any],
    datasets: Annotated[
        list[str] | None, Argument(help="Names or files of graphs; default: citeseer.")
    ] = None,
    methods: Annotated[
        str,
        Option(
            help="Separated by commas; options after colons: "
            "teddy:distill=0, ugs:weights=projection, random:only=edges."
        ),
    ] = "teddy,random",
    models: Annotated[
        str,
        Option(
            help="Separated by commas, as of `teddy find`; options after colons: gcn,gat:heads=4."
        ),
    ] = "gin",
    levels: Annotated[
        str, Option(help="Levels, 0,1,5 or 1-20: level i removes 1 - 0.95^i, 0 nothing.")
    ] = "0,1,5,10,15,20",
    seeds: Annotated[int, Option(help="How many seeds: 0, 1, ...")] = 5,
    jobs: Annotated[int, Option(help="Processes at a time.")] = 1,
    out: Annotated[Path, Option(help="Folder; the same again goes on.")] = Path("runs/sweep"),
    summary: Annotated[
        bool, Option("--summary", help="Only say what is in the folder; run nothing.")
    ] = False,
    against: Annotated[str | None, Option(help="Compare the other methods with this one.")] = None,
    report: Report = None,
    json_: Json = False,
    memory: Annotated[
        float | None,
        Option(help="GiB that a process may take; default: an equal share of what is free."),
    ] = None,
    backend: Annotated[
        str, Option(help="Of joblib: loky (processes here), dask or ray (a cluster).")
    ] = "loky",
    keep_tickets: Annotated[
        bool, Option("--keep-tickets", help="Write each cell's ticket, too.")
    ] = False,
    load: Load = None,
) -> None:
    """Compare methods over a grid; the same command again goes on."""
    from teddy.methods.spec import MethodSpec
    from teddy.sweep.folder import Folder
    from teddy.sweep.results_table import read_table

    load_files(load)
    if report is not None:
        check_writable(report)
    check_report(report)
    if summary:
        rows = read_table(out)
        folder = Folder(out)
        damaged, failures = folder.damaged(), folder.failures()
        for line in damaged:
            print(f"teddy: left out: {line.removesuffix('; delete it')}", file=sys.stderr)
        _print_failures(failures)
        against = None if against is None else str(MethodSpec.parse(against))
        facts = {"folder": str(out), "damaged": len(damaged), "failures": _lines(failures)}
        _show(rows, against, json_, facts)
        _write_report(out, report)
        return
    from teddy.cli.progress import cell_progress, resumable
    from teddy.sweep import Grid, run_sweep
    from teddy.sweep.grid import Cell

    check_count(seeds, "seeds")
    names = datasets or ["citeseer"]
    simulations = parse_levels(levels)
    grid = Grid(names, words(models), words(methods), simulations, range(seeds))
    if against is not None:
        against = str(MethodSpec.parse(against))
        if against not in grid.methods and not out.exists():
            known = ", ".join(grid.methods)
            raise InputError(f"no '{against}' to compare with, expected one of: {known}")
    asked = Settings.from_dict(settings)
    if asked.train.tuned:
        report_tuned(grid.datasets, grid.models)
    with resumable(out), cell_progress(len(grid.cells)) as progress:
        outcome = run_sweep(
            grid, out, asked, jobs=jobs, backend=backend, memory=memory,
            keep_tickets=keep_tickets, plugins=load or (), progress=progress,
        )  # fmt: skip
    for line in outcome.repaired:
        print(f"teddy: {line.removesuffix('; delete it')}; tried again", file=sys.stderr)
    _print_failures(outcome.failures)
    report = report if outcome.rows else None
    facts = {
        "folder": str(out),
        "cells": len(grid.cells),
        "computed": outcome.computed,
        "missing": outcome.missing,
        "failures": _lines(outcome.failures),
        "report": None if report is None else str(report),
    }
    wanted = {cell.key for cell in grid.cells}
    rows = [
        row for row in outcome.rows if Cell.from_row(row).key in wanted or row["method"] == against
    ]
    _show(rows, against, json_, facts)
    _write_report(out, report)
    if outcome.missing:
        sys.exit(1)


def _write_report(run: Path, page: Path | None) -> None:
    if page is not None:
        from teddy.report import write_report

        write_report(run, page)
        print(f"teddy: the page: {page}", file=sys.stderr)


def parse_levels(text: str) -> list[int]:
    """Read levels such as ``0,1,5`` or ``1-20``.

    Example:
        >>> parse_levels("0,3-5")
        [0, 3, 4, 5]
    """
    levels: list[int] = []
    for word in words(text):
        first, dash, last = word.partition("-")
        try:
            part = range(int(first), int(last if dash else first) + 1)
        except ValueError:
            part = range(0)
        if not part:
            raise InputError(f"unknown level '{word}', expected a number or a range such as 1-20")
        levels.extend(part)
    if not levels:
        raise InputError("got no levels, expected numbers or a range such as 1-20")
    return levels


def _lines(failures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Failures without their tracebacks, which are in the folder."""
    return [{k: v for k, v in row.items() if k != "details"} for row in failures]


def _print_failures(failures: list[dict[str, Any]]) -> None:
    from teddy.sweep.run import failure_line

    for row in failures:
        print(f"teddy: failed: {failure_line(row)}", file=sys.stderr)


def _show(
    rows: list[dict[str, Any]], against: str | None, as_json: bool, facts: dict[str, Any]
) -> None:
    from teddy.cli.sweep_tables import sweep_tables
    from teddy.sweep.metric import Metric
    from teddy.sweep.summary import sparsest_winning, summarize

    summaries = summarize(rows, against if rows else None)
    if as_json:
        sparsest = [
            {"dataset": d, "model": m, "method": method,
             "simulation": None if found is None else found.level}
            for (d, m, method), found in sparsest_winning(summaries).items()
        ]  # fmt: skip
        metric = Metric.from_rows(rows)
        facts = {**facts, "task": metric.task, "metric": metric.name} if rows else facts
        result = {**facts, "summary": [s.to_dict() for s in summaries], "sparsest": sparsest}
        typer.echo(json.dumps(result))
    else:
        sweep_tables(summaries, against)
        if "computed" in facts:
            typer.echo(
                f"{facts['cells'] - facts['missing']} of {facts['cells']} cells, "
                f"{facts['computed']} computed now: {facts['folder']}/results.parquet"
            )
