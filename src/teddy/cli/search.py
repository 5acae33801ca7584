"""``teddy search``: the sparsest winning ticket."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from teddy.cli.options import (
    Dataset,
    Jobs,
    Json,
    Load,
    MethodName,
    ModelName,
    check_names,
    load_files,
    option,
    report_tuned,
)
from teddy.cli.settings_options import takes_settings
from teddy.errors import InputError
from teddy.settings import Settings


@takes_settings
def search(
    settings: dict[str, Any],
    dataset: Dataset = "citeseer",
    model: ModelName = "gin",
    method: MethodName = "teddy",
    max_level: Annotated[
        int, option("Pruning", "Highest level of the paper's schedule to try.")
    ] = 40,
    step: Annotated[
        int | None, option("Pruning", "Distance between levels; default: 1, with --frontier 5.")
    ] = None,
    frontier: Annotated[
        bool,
        option(
            "Pruning",
            "Frontier of graph and weight levels, in place of one level for both.",
            "--frontier",
        ),
    ] = False,
    tolerance: Annotated[
        float, option("Pruning", "Accepted loss against the dense model, in points of the metric.")
    ] = 0.5,
    confidence: Annotated[
        float, option("Pruning", "Confidence that the loss on validation is within the tolerance.")
    ] = 0.95,
    seeds: Annotated[
        int, option("Training", "Maximum number of seeds of a level; fewer where fewer decide.")
    ] = 10,
    out: Annotated[
        Path | None,
        option(
            "Output",
            "Folder of the results, from which the same command resumes; default: one under runs/.",
        ),
    ] = None,
    plot: Annotated[Path | None, option("Output", "Chart to write, as PNG or PDF.")] = None,
    ticket: Annotated[
        Path | None,
        option("Output", "Ticket file to write: the sparsest, of the best seed on validation."),
    ] = None,
    json_: Json = False,
    jobs: Jobs = 1,
    load: Load = None,
) -> None:
    """Find the sparsest winning ticket.

    A level is accepted if its validation metric is at most the tolerance below the dense model's.
    The same command resumes an interrupted search.

    Examples:
        teddy search citeseer --model gcn
        teddy search pubmed --tolerance 1 --max-level 20 --ticket my.ticket
        teddy search citeseer --model gcn --frontier --plot frontier.png
    """
    check_names([dataset], [model], [method], settings.get("task"), load)
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
    config = Settings.from_dict(settings)
    if config.train.tuned:
        report_tuned([dataset], [model])
    key = f"{method} {config.to_dict()}"
    folder = out or Path("runs") / f"search-{file_name(dataset, model, digest_only=key)}"
    with resumable(folder), work_progress() as progress:
        result = search_sparsest(
            dataset, model, folder, method=method, tolerance=tolerance, confidence=confidence,
            seeds=seeds, levels=levels, frontier=frontier, settings=config, jobs=jobs,
            plugins=load or (), ticket=ticket, progress=progress,
        )  # fmt: skip
    if plot is not None:
        save_picture(search_chart(result), plot)
    saved = None if ticket is None or result.sparsest is None else str(ticket)
    if json_:
        files = {"folder": str(folder), "plot": None if plot is None else str(plot)}
        typer.echo(json.dumps({**result.to_dict(), **files, "ticket_file": saved}))
    else:
        search_tables(result, folder, saved)
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
