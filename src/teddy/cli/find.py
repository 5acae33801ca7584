"""``teddy find``: find a ticket."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from teddy.atomic import check_writable
from teddy.cli.options import (
    CheckpointFolder,
    CheckpointSeconds,
    DataDir,
    Dataset,
    Device,
    Directed,
    Divergence,
    DropoutShare,
    Epochs,
    EvaluateEvery,
    Heads,
    Hidden,
    Inductive,
    Json,
    Layers,
    Load,
    LoaderWord,
    Nodes,
    Patience,
    Report,
    Split,
    SplitSeed,
    TaskName,
    Temperature,
    Track,
    Tuned,
    WeightExclude,
    WeightRamp,
    WeightSchedule,
    WeightScope,
    check_report,
    report_tuned,
)
from teddy.errors import InputError
from teddy.numbers import check_count, check_seed


def find(
    dataset: Dataset = "citeseer",
    model: Annotated[
        str,
        typer.Option(help="One of {models}; options after colons, as in nagphormer:hops=3."),
    ] = "gin",
    graph_sparsity: Annotated[float, typer.Option(help="Share of edges to remove.")] = 0.64,
    weight_sparsity: Annotated[float, typer.Option(help="Share of weights to remove.")] = 0.64,
    seeds: Annotated[int, typer.Option(help="How many seeds, from --seed on.")] = 1,
    distill: Annotated[
        float | None,
        typer.Option(help="Strength lambda of the distillation: {distill}.", show_default=False),
    ] = None,
    epochs: Epochs = 200,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the ticket here; of several seeds, the best on validation.",
            show_default=False,
        ),
    ] = None,
    report: Report = None,
    json_: Json = False,
    method: Annotated[
        str,
        typer.Option(
            help="teddy, ugs, wd-glt, random, degree-high, ...; options after colons, "
            "as in ugs:weights=projection."
        ),
    ] = "teddy",
    structure: Annotated[
        str | None,
        typer.Option(
            help="neurons: remove whole hidden units, for speed; as an option of the method.",
            show_default=False,
        ),
    ] = None,
    teacher: Annotated[
        Path | None,
        typer.Option(
            help="A ticket whose network teaches, on the whole graph, in place of the dense "
            "training; such as one of sparsities 0.",
            show_default=False,
        ),
    ] = None,
    task: TaskName = "classification",
    class_weight: Annotated[
        str | None,
        typer.Option(
            help="balanced: classes count alike in the loss, however many nodes they have.",
            show_default=False,
        ),
    ] = None,
    directed: Directed = False,
    weight_scope: WeightScope = None,
    weight_exclude: WeightExclude = None,
    weight_schedule: WeightSchedule = None,
    weight_ramp: WeightRamp = None,
    load: Load = None,
    tuned: Tuned = False,
    split: Split = None,
    split_seed: SplitSeed = 0,
    inductive: Inductive = False,
    nodes: Nodes = None,
    data_dir: DataDir = None,
    device: Device = "cpu",
    threads: Annotated[
        int | None, typer.Option(help="Of the CPU; default: as torch finds.", show_default=False)
    ] = None,
    hidden: Hidden = None,
    layers: Layers = None,
    heads: Heads = None,
    dropout: DropoutShare = None,
    dimensions: Annotated[
        int | None,
        typer.Option(
            help="Outputs of a node, for link prediction: {dimensions}.", show_default=False
        ),
    ] = None,
    hits_at: Annotated[
        int | None,
        typer.Option(help="k of hits@k, for link prediction: {hits_at}.", show_default=False),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Of edges, for graphs: graph (of each by itself) or all (of a part of the split "
            "together).",
            show_default=False,
        ),
    ] = None,
    readout: Annotated[
        str | None,
        typer.Option(help="Of nodes' outputs, for graphs: mean, sum or max.", show_default=False),
    ] = None,
    lr: Annotated[
        float | None,
        typer.Option(
            help="Learning rate: {lr}; for link prediction {link_lr}, the others as before.",
            show_default=False,
        ),
    ] = None,
    weight_decay: Annotated[
        float | None,
        typer.Option(help="L2 penalty: {weight_decay}; for link prediction 0.", show_default=False),
    ] = None,
    temperature: Temperature = 1.0,
    divergence: Divergence = "dense-sparse",
    patience: Patience = None,
    loader: LoaderWord = None,
    evaluate_every: EvaluateEvery = None,
    checkpoint: CheckpointFolder = None,
    checkpoint_seconds: CheckpointSeconds = 30.0,
    track: Track = None,
    seed: Annotated[
        int, typer.Option(help="The seed, or the first of several; picks one of several splits.")
    ] = 0,
) -> None:
    """Find a ticket and compare it with the dense model."""
    if seeds < 1:
        raise InputError(f"seeds is {seeds}, expected a whole number from 1")
    check_seed(seed)
    for path in (out, report):
        if path is not None:
            check_writable(path)
    check_report(report)
    if report is not None and task != "classification":
        raise InputError(f"a report is of accuracies, expected no --report with --task {task}")
    import torch

    from teddy.cli.progress import seed_progress
    from teddy.cli.tables import find_tables
    from teddy.data import load_dataset
    from teddy.methods import Level
    from teddy.methods.plugin import load_file
    from teddy.methods.spec import MethodSpec
    from teddy.sweep import find_over_seeds
    from teddy.sweep.tuned import tuned_settings
    from teddy.ticket import Ticket
    from teddy.tracking import as_trackers
    from teddy.training import as_loader, connected

    if threads is not None:
        torch.set_num_threads(check_count(threads, "threads"))
    for path in load or []:
        load_file(path)
    chosen = MethodSpec.parse(method if structure is None else f"{method}:structure={structure}")
    if None not in (distill, chosen.distill):
        raise InputError(f"distill is {distill}, and {chosen.distill:g} in {method}; expected one")
    if distill is None and tuned and chosen.method.distill > 0:
        report_tuned([dataset], [model])
        distill = tuned_settings(dataset, model).get("distill")
    level = chosen.level(Level(graph_sparsity, weight_sparsity))
    data = load_dataset(
        dataset, split=split, seed=split_seed, data_dir=data_dir, nodes=nodes, task=task,
        directed=directed,
    )  # fmt: skip
    if split_seed and "split_seed" not in data:
        raise InputError(
            f"split-seed is {split_seed}, and the split came with {dataset}; expected --split, too"
        )
    options = {
        "hidden": hidden, "layers": layers, "heads": heads, "dropout": dropout,
        "dimensions": dimensions, "hits_at": hits_at, "budget": budget, "readout": readout,
    }  # fmt: skip
    weight_budget = {
        "weight_scope": weight_scope, "weight_exclude": weight_exclude,
        "weight_schedule": weight_schedule, "weight_ramp": weight_ramp,
    }  # fmt: skip
    weight_budget = {name: value for name, value in weight_budget.items() if value is not None}
    for name in weight_budget:
        if name in chosen.budget_settings():
            raise InputError(f"--{name.replace('_', '-')} came with {method}, expected one of both")
    settings: dict[str, Any] = {
        "model": model, "graph_sparsity": level.graph_sparsity,
        "weight_sparsity": level.weight_sparsity, "epochs": epochs, "lr": lr,
        "distill": distill if chosen.distill is None else chosen.distill,
        "method": chosen.name, **dict(chosen.options),
        "teacher": None if teacher is None else Ticket.load(teacher),
        "task": task, "class_weight": class_weight, "directed": directed,
        "weight_decay": weight_decay, "temperature": temperature, "divergence": divergence,
        "distill_nodes": chosen.distill_nodes or "all", "patience": patience, "device": device,
        "inductive": inductive, "inference": chosen.inference or "scored",
        **chosen.budget_settings(), **weight_budget,
        "loader": as_loader(loader), "evaluate_every": evaluate_every,
        "checkpoint": checkpoint, "checkpoint_seconds": checkpoint_seconds,
        "track": as_trackers(track),
        **{name: value for name, value in options.items() if value is not None},
    }  # fmt: skip
    try:
        with connected(device) as world, seed_progress(seeds, not world.first, seed) as progress:
            every = range(seed, seed + seeds)
            study = find_over_seeds(data, seeds=every, progress=progress, **settings)
    except KeyboardInterrupt:
        if checkpoint is None:
            raise
        print(f"teddy: interrupted; the same command goes on in {checkpoint}", file=sys.stderr)
        sys.exit(130)
    if not world.first:
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
