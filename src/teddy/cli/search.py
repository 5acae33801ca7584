"""``teddy search``: the sparsest winning ticket."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from teddy import names
from teddy.cli.completion import complete
from teddy.cli.options import (
    Dataset,
    Jobs,
    Json,
    Load,
    ModelName,
    check_names,
    load_files,
    option,
    report_tuned,
    split_list,
)
from teddy.cli.settings_options import takes_settings
from teddy.errors import InputError
from teddy.registry import unknown_name
from teddy.settings import Settings
from teddy.sparsity import check_count

_GOALS = ("sparsity", "serving")


@takes_settings
def search(
    settings: dict[str, Any],
    dataset: Dataset = "citeseer",
    model: ModelName = "gin",
    method: Annotated[
        str | None,
        option(
            "Pruning",
            "Method, as in `teddy find`; default: teddy. With --minimise serving several, "
            "separated by commas; default: five choices of edges.",
            autocompletion=complete(names.METHODS),
        ),
    ] = None,
    minimise: Annotated[
        str,
        option(
            "Pruning",
            "sparsity: the sparsest ticket. serving: the ticket whose server sums the fewest "
            "messages for a query.",
            autocompletion=complete(_GOALS),
        ),
    ] = "sparsity",
    query_nodes: Annotated[
        int | None,
        option("Advanced", "Nodes of a query, with --minimise serving; default: 64."),
    ] = None,
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
    """Find the sparsest winning ticket, or the one that is cheapest to serve.

    A level is accepted if its validation metric is at most the tolerance below the dense model's.
    The same command resumes an interrupted search.

    Examples:
        teddy search pubmed --tolerance 1 --max-level 20 --ticket my.ticket
        teddy search citeseer --model gcn --frontier --plot frontier.png
        teddy search pubmed --model gcn --minimise serving --step 5 --ticket my.ticket
    """
    methods = None if method is None else split_list(method)
    check_names([dataset], [model], methods or [], settings.get("task"), load)
    if minimise not in _GOALS:
        raise unknown_name("goal of --minimise", minimise, _GOALS)
    serving = minimise == "serving"
    if serving and frontier:
        raise InputError("frontier is not supported with --minimise serving, expected one of them")
    if methods == [] or (not serving and len(methods or [""]) != 1):
        raise InputError(f"method is {method}, expected one method, or --minimise serving")
    if not serving and query_nodes is not None:
        raise InputError("query-nodes has no effect, expected it with --minimise serving only")
    check_count(64 if query_nodes is None else query_nodes, "query-nodes")
    from teddy.cli.progress import resumable, work_progress
    from teddy.cli.sweep_tables import search_tables, serving_tables
    from teddy.report import save_picture, search_chart
    from teddy.report.save import check_picture
    from teddy.sweep import SearchResult, search_serving, search_sparsest
    from teddy.sweep.cheapest import METHODS
    from teddy.sweep.grid import file_name

    load_files(load)
    if plot is not None:
        check_picture(plot)
    default_step = 5 if frontier else 1
    levels = _levels(max_level, default_step if step is None else step)
    config = Settings.from_dict(settings)
    if config.train.tuned:
        report_tuned([dataset], [model])
    tried = methods or (METHODS if serving else ["teddy"])
    key = f"{','.join(tried)} {config.to_dict()}"
    folder = out or Path("runs") / f"search-{file_name(dataset, model, digest_only=key)}"
    options: dict[str, Any] = {
        "tolerance": tolerance, "confidence": confidence, "seeds": seeds, "levels": levels,
        "frontier": frontier, "settings": config, "jobs": jobs, "plugins": load or (),
        "ticket": ticket,
    }  # fmt: skip
    result: Any
    with resumable(folder), work_progress() as progress:
        options["progress"] = progress
        if serving:
            result = search_serving(
                dataset, model, folder, methods=tried, batch=query_nodes or 64, **options
            )
        else:
            result = search_sparsest(dataset, model, folder, method=tried[0], **options)
    one = isinstance(result, SearchResult)
    if plot is not None:
        save_picture(search_chart(*([result] if one else result.searches)), plot)
    best = result.sparsest if one else result.cheapest
    saved = None if ticket is None or best is None else str(ticket)
    if json_:
        files = {"folder": str(folder), "plot": None if plot is None else str(plot)}
        typer.echo(json.dumps({**result.to_dict(), **files, "ticket_file": saved}))
    else:
        (search_tables if one else serving_tables)(result, folder, saved)
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
