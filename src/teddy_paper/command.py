"""Command ``teddy reproduce``: tables and figures of the paper, beside its numbers."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument

from teddy.cli.options import Jobs, Json, option, split_list
from teddy.cli.settings_options import takes_settings
from teddy.errors import InputError
from teddy.sparsity import check_count

if TYPE_CHECKING:
    from teddy_paper.compute import Selection
    from teddy_paper.reproduction import Reproduction, Scope


@takes_settings
def reproduce(
    settings: dict[str, Any],
    names: Annotated[
        list[str] | None,
        Argument(
            help="Names such as extreme, table1, figure2 or all; without a name they are listed."
        ),
    ] = None,
    datasets: Annotated[
        str | None,
        option(
            "Data",
            "Data sets, separated by commas; default: cora,citeseer,pubmed, with --quick the "
            "first two, and for large-scale arxiv,arxiv-surrogate,reddit.",
        ),
    ] = None,
    models: Annotated[
        str | None, option("Model", "Models to compute, separated by commas; default: all.")
    ] = None,
    methods: Annotated[
        str | None, option("Pruning", "Methods to compute, separated by commas; default: all.")
    ] = None,
    levels: Annotated[
        str | None,
        option("Pruning", "Levels of the figures; default: 1,5,10,15,20, with --quick 1,5."),
    ] = None,
    seeds: Annotated[
        int | None,
        option(
            "Training",
            "Number of seeds; default: 5, and 3 of iterative methods; with --quick 2 and 1.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        option(
            "Training", "Coarse version in minutes: few seeds, levels, epochs and units.", "--quick"
        ),
    ] = False,
    out: Annotated[
        Path | None,
        option(
            "Output",
            "Folder of the results, from which the same command resumes; default: runs/paper, "
            "with --quick runs/paper-quick.",
        ),
    ] = None,
    artefacts: Annotated[
        Path | None, option("Output", "Folder for tables and figures; default: OUT.")
    ] = None,
    no_run: Annotated[
        bool, option("Output", "Tables and figures of existing results only.", "--no-run")
    ] = False,
    dry_run: Annotated[
        bool, option("Output", "Number of trainings to compute, without any training.", "--dry-run")
    ] = False,
    json_: Json = False,
    jobs: Jobs = 1,
) -> None:
    """Reproduce the paper's tables and figures, beside the published numbers.

    Examples:
        teddy reproduce
        teddy reproduce table1 --quick
        teddy reproduce all --jobs 2 --out runs/paper
    """
    from teddy.cli.printing import print_text
    from teddy_paper.compute import REPRODUCTIONS, Selection, resolve_names
    from teddy_paper.write import write_index

    if not names:
        _list()
        return
    chosen = resolve_names(names)
    part = Selection(*(None if text is None else split_list(text) for text in (models, methods)))
    check_count(jobs, "jobs")
    entries = [REPRODUCTIONS[name] for name in chosen]
    whole = _scope(quick, out, seeds, levels, settings)
    scopes = _with_datasets(entries, whole, datasets)
    if len(entries) > 1:  # without those that have none of the requested models and methods
        entries = [
            entry
            for entry in entries
            if not entry.grids(scopes[entry.name]) or part.grids_of(entry, scopes[entry.name])
        ]
    if not no_run:
        scopes |= _readable([e for e in entries if e.work or e.grids(scopes[e.name])], scopes)
    if dry_run:
        _plan(entries, scopes, part, json_)
        return
    made, failed = [], False
    try:
        for entry in entries:
            scope = scopes[entry.name]
            if not no_run:
                failed |= _compute(entry, scope, part, jobs)
            try:
                made.append(_make(entry, scope, artefacts or whole.folder, show=not json_))
            except InputError as error:  # continue with the others
                if len(entries) == 1:
                    raise
                print(f"teddy: without {entry.name}: {error}", file=sys.stderr)
                failed |= not no_run
    except KeyboardInterrupt:
        print(f"teddy: interrupted; the same command resumes from {whole.folder}", file=sys.stderr)
        sys.exit(130)
    if not made:
        sys.exit(1)
    index = write_index(artefacts or whole.folder)
    if json_:
        answer = {"folder": str(index.parent), "index": str(index), "made": made}
        typer.echo(json.dumps(answer))
    elif len(made) > 1:
        print_text(f"All claims: {index}")
    if failed:
        sys.exit(1)


def _list() -> None:
    from teddy.cli.printing import print_table
    from teddy_paper.compute import REPRODUCTIONS

    entries = [REPRODUCTIONS[name] for name in REPRODUCTIONS]
    rows = [(entry.name, ", ".join(entry.places) or "ours", entry.title) for entry in entries]
    print_table("teddy reproduce NAME, or all", ("name", "place", "content"), rows, texts=3)


def _scope(
    quick: bool, out: Path | None, seeds: int | None, levels: str | None, settings: dict[str, Any]
) -> Scope:
    from teddy.cli.sweep import parse_levels
    from teddy_paper.reproduction import Scope

    if settings.get("task", "classification") != "classification":
        raise InputError(f"task is '{settings['task']}', expected classification, as in the paper")
    changes: dict[str, Any] = {
        "changes": settings,
        "folder": out or Path("runs/paper-quick" if quick else "runs/paper"),
    }
    if seeds is not None:
        check_count(seeds, "seeds")
        changes |= {"seeds": seeds, "iterative_seeds": seeds}
    if levels is not None:
        changes["levels"] = tuple(sorted({i for i in parse_levels(levels) if i > 0}))
        if not changes["levels"]:
            raise InputError(f"levels is '{levels}', expected at least one above 0")
    return Scope.quick_scope(**changes) if quick else Scope(**changes)


def _with_datasets(
    entries: list[Reproduction], scope: Scope, datasets: str | None
) -> dict[str, Scope]:
    """Scope of each entry, with the requested ones of its data sets."""
    from teddy_paper.reproduction import CITATION

    wanted = None if datasets is None else [name.lower() for name in split_list(datasets)]
    known = list(dict.fromkeys(name for entry in entries for name in entry.datasets))
    wrong = next((name for name in wanted or [] if name not in known), None)
    if wrong is not None:
        raise InputError(f"datasets has '{wrong}', expected some of: {', '.join(known)}")
    if wanted == []:
        raise InputError(f"datasets is '{datasets}', expected some of: {', '.join(known)}")
    scopes = {}
    for entry in entries:
        usual = scope.datasets if entry.datasets == CITATION else entry.datasets
        chosen = usual if wanted is None else tuple(n for n in wanted if n in entry.datasets)
        if chosen:
            scopes[entry.name] = replace(scope, datasets=chosen)
    entries[:] = [entry for entry in entries if entry.name in scopes]
    return scopes


def _readable(entries: list[Reproduction], scopes: dict[str, Scope]) -> dict[str, Scope]:
    """Scopes without data sets that are not available, which are printed once."""
    from teddy_paper.compute import available

    present: dict[tuple[str, ...], tuple[str, ...]] = {}
    for entry in entries:
        scope = scopes[entry.name]
        if scope.datasets not in present:
            present[scope.datasets], lines = available(scope.datasets, scope.data_dir)
            for line in lines:
                print(f"teddy: {line}", file=sys.stderr)
    return {
        entry.name: replace(scopes[entry.name], datasets=present[scopes[entry.name].datasets])
        for entry in entries
    }


def _plan(
    entries: list[Reproduction], scopes: dict[str, Scope], part: Selection, json_: bool
) -> None:
    """Print the number of cells of each entry and of missing ones, each counted once."""
    from teddy.cli.printing import print_table
    from teddy_paper.compute import missing_cells

    seen: set[Path] = set()
    rows = []
    for entry in entries:
        cells, missing = missing_cells(entry, scopes[entry.name], part)
        rows.append((entry.name, cells, len(missing - seen)))
        seen |= missing
    folder = next(iter(scopes.values())).folder
    if json_:
        plan = [dict(zip(("name", "cells", "to_compute"), row, strict=True)) for row in rows]
        typer.echo(json.dumps({"folder": str(folder), "plan": plan}))
        return
    total = ("all", sum(row[1] for row in rows), len(seen))
    print_table(f"Cells, in {folder}", ("name", "cells", "to compute"), [*rows, total])


def _compute(entry: Reproduction, scope: Scope, part: Selection, jobs: int) -> bool:
    """Compute an entry; return True if a cell failed."""
    from teddy.cli.progress import work_progress
    from teddy_paper.compute import compute

    with work_progress() as progress:
        failures = compute(entry, scope, part, jobs=jobs, progress=progress)
    for line in failures:
        print(f"teddy: failed: {line}", file=sys.stderr)
    return bool(failures)


def _make(entry: Reproduction, scope: Scope, folder: Path, *, show: bool) -> dict[str, Any]:
    """Write the tables and figures of an entry, and print them."""
    from teddy.report import save_chart
    from teddy_paper.compute import make
    from teddy_paper.printing import print_result
    from teddy_paper.write import write_result

    result = make(entry, scope)
    place = folder / entry.name
    place.mkdir(parents=True, exist_ok=True)
    images = [path for chart in result.charts for path in save_chart(chart, place)]
    page = write_result(entry, result, place, images)
    if show:
        print_result(entry, result, page)
    return {
        "name": entry.name,
        "page": str(page),
        "findings": {finding.claim: finding.holds for finding in result.findings},
    }
