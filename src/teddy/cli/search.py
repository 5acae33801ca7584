"""``teddy search``: how many edges and weights can be removed before the metric drops?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from teddy.cli.options import Dataset, Json, Load, ModelName, load_files, report_tuned
from teddy.cli.settings_options import takes_settings
from teddy.errors import InputError
from teddy.settings import Settings


@takes_settings
def search(
    settings: dict[str, Any],
    dataset: Dataset = "citeseer",
    model: ModelName = "gin",
    method: Annotated[str, Option(help="With options, as of `teddy sweep`.")] = "teddy",
    tolerance: Annotated[
        float, Option(help="Points of the metric that a ticket may be below dense.")
    ] = 0.5,
    confidence: Annotated[
        float, Option(help="That no answer is below by more, on validation.")
    ] = 0.95,
    seeds: Annotated[
        int, Option(help="Seeds of a level at most; fewer where fewer are enough.")
    ] = 10,
    frontier: Annotated[
        bool,
        Option(
            "--frontier",
            help="Edges and weights apart: all pairs of levels none of which beats another.",
        ),
    ] = False,
    max_level: Annotated[int, Option(help="Highest level of the paper's schedule.")] = 40,
    step: Annotated[int | None, Option(help="From level to level: 1, with --frontier 5.")] = None,
    jobs: Annotated[int, Option(help="Processes: seeds side by side.")] = 1,
    out: Annotated[
        Path | None,
        Option(help="Folder, as of a sweep; the same again goes on. Default: one under runs/."),
    ] = None,
    plot: Annotated[Path | None, Option(help="Draw it here, as PNG or PDF.")] = None,
    ticket: Annotated[
        Path | None,
        Option(help="Save the answer's ticket here, the best of its seeds on validation."),
    ] = None,
    json_: Json = False,
    load: Load = None,
) -> None:
    """Find the sparsest winning ticket; the same command again goes on."""
    from teddy.cli.progress import resumable, work_progress
    from teddy.cli.sweep_tables import search_tables
    from teddy.report import save_picture, search_chart
    from teddy.report.save import check_picture
    from teddy.sweep import search_sparsest
    from teddy.sweep.grid import file_name

    load_files(load)
    if plot is not None:
        check_picture(plot)
    if step is None:
        step = 5 if frontier else 1
    levels = _levels(max_level, step)
    asked = Settings.from_dict(settings)
    if asked.train.tuned:
        report_tuned([dataset], [model])
    which = f"{method} {asked.to_dict()}"
    folder = out or Path("runs") / f"search-{file_name(dataset, model, digest_only=which)}"
    with resumable(folder), work_progress() as progress:
        found = search_sparsest(
            dataset, model, folder, method=method, tolerance=tolerance, confidence=confidence,
            seeds=seeds, levels=levels, frontier=frontier, settings=asked, jobs=jobs,
            plugins=load or (), ticket=ticket, progress=progress,
        )  # fmt: skip
    if plot is not None:
        save_picture(search_chart(found), plot)
    saved = None if ticket is None or found.sparsest is None else str(ticket)
    if json_:
        facts = {"folder": str(folder), "plot": None if plot is None else str(plot)}
        typer.echo(json.dumps({**found.to_dict(), **facts, "ticket_file": saved}))
    else:
        search_tables(found, folder, saved)
    if ticket is not None and saved is None:
        print("teddy: no level was accepted, so there is no ticket to save", file=sys.stderr)
        sys.exit(1)


def _levels(max_level: int, step: int) -> list[int]:
    """Levels from step to the highest, which is always one of them.

    Example:
        >>> _levels(12, 5)
        [5, 10, 12]
    """
    if max_level < 1 or not 1 <= step <= max_level:
        raise InputError(
            f"got max_level={max_level} and step={step}, expected whole numbers from 1, and step "
            "not above max_level"
        )
    return sorted({*range(step, max_level + 1, step), max_level})
