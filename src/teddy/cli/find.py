"""``teddy find``: find a ticket."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from teddy.cli.options import (
    CheckpointFolder,
    CheckpointSeconds,
    Dataset,
    Json,
    Load,
    ModelName,
    Report,
    Track,
    check_report,
    load_files,
    report_tuned,
)
from teddy.cli.settings_options import takes_settings
from teddy.settings import Settings
from teddy.settings.tree import LOADING
from teddy.sparsity import check_count, check_seed
from teddy.store.atomic import check_writable


@takes_settings
def find(
    settings: dict[str, Any],
    dataset: Dataset = "citeseer",
    model: ModelName = "gin",
    graph_sparsity: Annotated[float, Option(help="Share of edges to remove.")] = 0.64,
    weight_sparsity: Annotated[float, Option(help="Share of weights to remove.")] = 0.64,
    seeds: Annotated[int, Option(help="Number of seeds, from --seed on.")] = 1,
    out: Annotated[
        Path | None, Option(help="Write the ticket here; of several seeds, the best on validation.")
    ] = None,
    report: Report = None,
    json_: Json = False,
    method: Annotated[
        str,
        Option(
            help="teddy, ugs, wd-glt, random, degree-high, ...; options after colons, "
            "as in ugs:weights=projection."
        ),
    ] = "teddy",
    structure: Annotated[
        str | None,
        Option(help="neurons: remove whole hidden units, for speed; an option of the method."),
    ] = None,
    teacher: Annotated[
        Path | None,
        Option(
            help="A ticket whose network teaches, on the whole graph, in place of the dense "
            "training; such as one of sparsities 0."
        ),
    ] = None,
    load: Load = None,
    checkpoint: CheckpointFolder = None,
    checkpoint_seconds: CheckpointSeconds = 30.0,
    track: Track = None,
    seed: Annotated[
        int, Option(help="The seed, or the first of several; picks one of several splits.")
    ] = 0,
) -> None:
    """Find a ticket and compare it with the dense model."""
    check_count(seeds, "seeds")
    check_seed(seed)
    for path in (out, report):
        if path is not None:
            check_writable(path)
    check_report(report)
    from teddy.cli.progress import resumable, seed_progress
    from teddy.cli.ticket_tables import find_tables
    from teddy.methods.make_problem import load_data
    from teddy.methods.plugin import read_model
    from teddy.methods.resume import SearchFolder
    from teddy.methods.spec import MethodSpec
    from teddy.sweep import find_over_seeds
    from teddy.ticket import Ticket
    from teddy.tracking import as_trackers
    from teddy.training import as_loader, connected

    asked = Settings.from_dict(settings)
    load_files(load)
    chosen = MethodSpec.parse(method if structure is None else f"{method}:structure={structure}")
    if asked.train.tuned:
        report_tuned([dataset], [model])
    loader = as_loader(asked.train.loader)
    data = load_data(dataset, asked)
    with (
        resumable(checkpoint),
        connected(asked.run.device) as world,
        seed_progress(seeds, not world.is_rank_zero, seed) as progress,
    ):
        study = find_over_seeds(
            data, seeds=range(seed, seed + seeds), progress=progress,
            checkpoint=None if checkpoint is None
            else SearchFolder(checkpoint, checkpoint_seconds),
            model=read_model(model), graph_sparsity=graph_sparsity,
            weight_sparsity=weight_sparsity, method=chosen,
            teacher=None if teacher is None else Ticket.load(teacher),
            track=as_trackers(track),
            **{k: v for k, v in settings.items() if k not in LOADING} | {"loader": loader},
        )  # fmt: skip
    if not world.is_rank_zero:
        return
    if out is not None:
        study.best.save(out)
    if report is not None:
        from teddy.report import write_page

        facts = {"settings": study.best.info.config}
        write_page(study.rows(data, str(chosen)), facts, report)
    result = {
        **study.to_dict(),
        "spec": str(chosen),
        "ticket_file": None if out is None else str(out),
        "report": None if report is None else str(report),
    }
    if json_:
        typer.echo(json.dumps(result))
    else:
        find_tables(study, result)
