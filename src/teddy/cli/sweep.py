"""``teddy sweep``: many methods, models, data sets, levels and seeds."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument

from teddy import names
from teddy.cli.completion import complete, complete_list
from teddy.cli.options import (
    Jobs,
    Json,
    Load,
    Report,
    check_names,
    check_report,
    load_files,
    option,
    report_tuned,
    split_list,
)
from teddy.cli.settings_options import takes_settings
from teddy.errors import InputError
from teddy.registry import did_you_mean
from teddy.settings import Settings
from teddy.sparsity import check_count
from teddy.store.atomic import check_writable


@takes_settings
def sweep(
    settings: dict[str, Any],
    datasets: Annotated[
        list[str] | None,
        Argument(
            help="Data sets: names, files or folders; default: citeseer.",
            autocompletion=complete(names.DATASETS),
        ),
    ] = None,
    models: Annotated[
        str,
        option(
            "Model",
            "Models, separated by commas, with options after colons: gcn,gat:heads=4.",
            autocompletion=complete_list(names.MODELS),
        ),
    ] = "gin",
    methods: Annotated[
        str,
        option(
            "Pruning",
            "Methods, separated by commas, with options after colons: "
            "teddy:distill=0,ugs:weights=projection,random:only=edges.",
            autocompletion=complete_list(names.METHODS),
        ),
    ] = "teddy,random",
    levels: Annotated[
        str,
        option(
            "Pruning",
            "Levels of the paper's schedule, such as 0,1,5 or 1-20: level i removes 1 - 0.95^i.",
        ),
    ] = "0,1,5,10,15,20",
    seeds: Annotated[int, option("Training", "Number of seeds: 0, 1, ...")] = 5,
    out: Annotated[
        Path, option("Output", "Folder of the results, from which the same command resumes.")
    ] = Path("runs/sweep"),
    report: Report = None,
    json_: Json = False,
    against: Annotated[
        str | None, option("Output", "Method that the others are compared with.")
    ] = None,
    summary: Annotated[
        bool, option("Output", "Summary of the folder, without any training.", "--summary")
    ] = False,
    keep_tickets: Annotated[
        bool, option("Output", "Tickets of all cells, kept in the folder.", "--keep-tickets")
    ] = False,
    jobs: Jobs = 1,
    memory: Annotated[
        float | None,
        option("Advanced", "Memory of a process in GiB; default: an equal share of free memory."),
    ] = None,
    backend: Annotated[
        str,
        option(
            "Advanced",
            "Backend of joblib: loky (this machine), dask or ray (a cluster).",
            autocompletion=complete(["loky", "dask", "ray"]),
        ),
    ] = "loky",
    load: Load = None,
) -> None:
    """Compare methods over data sets, models, levels and seeds.

    The same command resumes an interrupted sweep.

    Examples:
        teddy sweep citeseer --models gcn --methods teddy,random --out runs/x
        teddy sweep citeseer pubmed --levels 5,10,20 --jobs 2 --report page.html
        teddy sweep --out runs/x --summary --against random
    """
    if not summary:
        sources, task = datasets or ["citeseer"], settings.get("task")
        check_names(sources, split_list(models), split_list(methods), task, load)
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
            print(f"teddy: skipped: {line.removesuffix('; delete it')}", file=sys.stderr)
        _print_failures(failures)
        against = None if against is None else str(MethodSpec.parse(against))
        metadata = {"folder": str(out), "damaged": len(damaged), "failures": _lines(failures)}
        _show(rows, against, json_, metadata)
        _write_report(out, report)
        return
    from teddy.cli.progress import cell_progress, resumable
    from teddy.sweep import Grid, run_sweep
    from teddy.sweep.grid import Cell

    check_count(seeds, "seeds")
    grid = Grid(
        sources, split_list(models), split_list(methods), parse_levels(levels), range(seeds)
    )
    if against is not None:
        against = str(MethodSpec.parse(against))
        if against not in grid.methods and not out.exists():
            hint = did_you_mean(against, grid.methods)
            methods = ", ".join(grid.methods)
            raise InputError(f"against is '{against}', expected one of: {methods}{hint}")
    config = Settings.from_dict(settings)
    if config.train.tuned:
        report_tuned(grid.datasets, grid.models)
    with resumable(out), cell_progress(len(grid.cells)) as progress:
        outcome = run_sweep(
            grid, out, config, jobs=jobs, backend=backend, memory=memory,
            keep_tickets=keep_tickets, plugins=load or (), progress=progress,
        )  # fmt: skip
    for line in outcome.repaired:
        print(f"teddy: {line.removesuffix('; delete it')}; computed again", file=sys.stderr)
    _print_failures(outcome.failures)
    report = report if outcome.rows else None
    metadata = {
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
    _show(rows, against, json_, metadata)
    _write_report(out, report)
    if outcome.missing:
        sys.exit(1)


def _write_report(run: Path, page: Path | None) -> None:
    if page is not None:
        from teddy.report import write_report

        write_report(run, page)
        print(f"teddy: report: {page}", file=sys.stderr)


def parse_levels(text: str) -> list[int]:
    """Read levels such as ``0,1,5`` or ``1-20``.

    Example:
        >>> parse_levels("0,3-5")
        [0, 3, 4, 5]
    """
    levels: list[int] = []
    for item in split_list(text):
        first, dash, last = item.partition("-")
        try:
            part = range(int(first), int(last if dash else first) + 1)
        except ValueError:
            part = range(0)
        if not part:
            raise InputError(f"unknown level '{item}', expected a number or a range such as 1-20")
        levels.extend(part)
    if not levels:
        raise InputError("got no levels, expected numbers or a range such as 1-20")
    return levels


def _lines(failures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Failures without their tracebacks, which are in the folder."""
    return [{k: v for k, v in row.items() if k != "details"} for row in failures]


def _print_failures(failures: list[dict[str, Any]]) -> None:
    from teddy.cli.printing import printable
    from teddy.sweep.run import failure_line

    for row in failures:
        print(f"teddy: failed: {printable(failure_line(row))}", file=sys.stderr)


def _show(
    rows: list[dict[str, Any]], against: str | None, as_json: bool, metadata: dict[str, Any]
) -> None:
    from teddy.cli.sweep_tables import sweep_tables
    from teddy.sweep.metric import Metric
    from teddy.sweep.summary import sparsest_winning, summarize

    summaries = summarize(rows, against if rows else None)
    if as_json:
        sparsest = [
            {"dataset": d, "model": m, "method": method,
             "simulation": None if winner is None else winner.level}
            for (d, m, method), winner in sparsest_winning(summaries).items()
        ]  # fmt: skip
        metric = Metric.from_rows(rows)
        metadata = {**metadata, "task": metric.task, "metric": metric.name} if rows else metadata
        result = {**metadata, "summary": [s.to_dict() for s in summaries], "sparsest": sparsest}
        typer.echo(json.dumps(result))
    else:
        sweep_tables(summaries, against)
        if "computed" in metadata:
            typer.echo(
                f"{metadata['cells'] - metadata['missing']} of {metadata['cells']} cells, "
                f"{metadata['computed']} computed now: {metadata['folder']}/results.parquet"
            )
