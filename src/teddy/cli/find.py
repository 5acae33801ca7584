"""``teddy find``: find a ticket and compare it with the dense model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from teddy.cli.completion import complete
from teddy.cli.options import (
    CheckpointFolder,
    CheckpointSeconds,
    Dataset,
    Json,
    Load,
    MethodName,
    ModelName,
    Report,
    Track,
    check_names,
    check_report,
    load_files,
    option,
    report_tuned,
)
from teddy.cli.settings_options import takes_settings
from teddy.settings import Settings
from teddy.settings.tree import LOADING
from teddy.sparsity import check_count, check_seed, check_sparsity
from teddy.store.atomic import check_writable


@takes_settings
def find(
    settings: dict[str, Any],
    dataset: Dataset = "citeseer",
    model: ModelName = "gin",
    method: MethodName = "teddy",
    graph_sparsity: Annotated[
        float, option("Pruning", "Share of the edges to remove, from 0 to 1.")
    ] = 0.64,
    weight_sparsity: Annotated[
        float, option("Pruning", "Share of the weights to remove, from 0 to 1.")
    ] = 0.64,
    structure: Annotated[
        str | None,
        option(
            "Pruning",
            "Structured pruning of the weights: neurons removes whole hidden units.",
            autocompletion=complete(["none", "neurons"]),
        ),
    ] = None,
    seed: Annotated[
        int, option("Training", "First seed, which also picks one of several splits.")
    ] = 0,
    seeds: Annotated[int, option("Training", "Number of seeds.")] = 1,
    teacher: Annotated[
        Path | None,
        option("Training", "Ticket whose network is the teacher, in place of a dense training."),
    ] = None,
    out: Annotated[
        Path | None,
        option("Output", "Ticket file to write: of several seeds, the best on validation."),
    ] = None,
    report: Report = None,
    json_: Json = False,
    track: Track = None,
    load: Load = None,
    checkpoint: CheckpointFolder = None,
    checkpoint_seconds: CheckpointSeconds = 30.0,
) -> None:
    """Find a ticket and compare it with the dense model.

    Trains the dense model, prunes edges and weights, and trains the sparse ticket with the dense
    model as its teacher.

    Examples:
        teddy find citeseer --out citeseer.ticket
        teddy find pubmed --model gcn --graph-sparsity 0.8 --seeds 5
        teddy find my-graph/ --method ugs:stride=5 --report page.html
    """
    check_count(seeds, "seeds")
    check_seed(seed)
    for path in (out, report):
        if path is not None:
            check_writable(path)
    check_report(report)
    check_names([dataset], [model], [method], settings.get("task"), load)
    check_sparsity(graph_sparsity, "graph_sparsity")
    check_sparsity(weight_sparsity, "weight_sparsity")
    from teddy.cli.printing import print_text
    from teddy.cli.progress import resumable, seed_progress
    from teddy.cli.ticket_tables import find_tables
    from teddy.layers import layer_text
    from teddy.methods.make_problem import load_data
    from teddy.methods.plugin import read_model
    from teddy.methods.resume import SearchFolder
    from teddy.methods.spec import MethodSpec
    from teddy.sweep import find_over_seeds
    from teddy.ticket import Ticket
    from teddy.tracking import as_trackers
    from teddy.training import as_loader, connected

    config = Settings.from_dict(settings)
    load_files(load)
    chosen = MethodSpec.parse(method if structure is None else f"{method}:structure={structure}")
    if config.train.tuned:
        report_tuned([dataset], [model])
    loader = as_loader(config.train.loader)
    data = load_data(dataset, config)
    with (
        resumable(checkpoint),
        connected(config.run.device) as world,
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
        from teddy.report.commands import command_line

        info = study.best.info
        options = info.model.get("options", {})
        metadata: dict[str, Any] = {"settings": {**info.config, "model_options": options}}
        metadata["command"] = command_line("find", [dataset], {
            "model": model, "method": str(chosen), "graph_sparsity": graph_sparsity,
            "weight_sparsity": weight_sparsity, "seed": seed or None, "seeds": seeds,
            "teacher": teacher, "load": load, **settings,
        })  # fmt: skip
        write_page(study.rows(data, str(chosen)), metadata, report)
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
        layers = study.best.info.config.get("pyg_layers")
        if layers is not None:
            print_text(layer_text(layers))
