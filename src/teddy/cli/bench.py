"""``teddy bench``: speed of a ticket's inference, or of training, on this machine."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument

from teddy import names
from teddy.cli.bench_serving import bench_serving
from teddy.cli.bench_ticket import bench_ticket
from teddy.cli.completion import complete, complete_list
from teddy.cli.options import Json, Load, OwnModule, check_names, load_files, option, split_list
from teddy.cli.settings_options import takes_settings
from teddy.errors import InputError
from teddy.settings import Settings

if TYPE_CHECKING:
    from teddy.methods.problem import Problem

ROUNDS = 3
MODELS, EPOCHS = "gcn,gin,gat", 20
#: Shares of edges and weights that are removed.
SPARSITY = 0.64
#: Settings that locate a ticket's graph; all others are for training.
_GRAPH_SETTINGS = ("nodes", "data_dir")


@takes_settings
def bench(
    settings: dict[str, Any],
    subject: Annotated[
        str,
        Argument(
            metavar="TICKET|DATASET",
            help="Ticket file or hub:owner/name; or a data set's name, file or folder.",
            autocompletion=complete(names.DATASETS),
        ),
    ] = "citeseer",
    graph: Annotated[
        str | None,
        Argument(
            metavar="DATASET",
            help="Graph of the ticket: a name, file or folder; default: the ticket's own.",
            autocompletion=complete(names.DATASETS),
        ),
    ] = None,
    models: Annotated[
        str | None,
        option(
            "Model",
            f"Models, separated by commas; default: {MODELS}.",
            autocompletion=complete_list(names.MODELS),
        ),
    ] = None,
    module: OwnModule = None,
    epochs: Annotated[
        int | None,
        option("Training", f"Epochs of each of three rounds; default: {EPOCHS}."),
    ] = None,
    serving: Annotated[
        bool, option("Output", "Time queries about a few nodes of a ticket's graph.", "--serving")
    ] = False,
    plot: Annotated[
        Path | None, option("Output", "Draw the latencies of --serving here, as PNG, PDF or SVG.")
    ] = None,
    json_: Json = False,
    load: Load = None,
) -> None:
    """Time a ticket's inference, or an epoch of training on a data set.

    For a ticket: one forward pass on its graph, or queries to a server, against the dense model.
    For a data set: an epoch of sparse training, with compiled kernels and in plain PyTorch. All for
    one and for all threads.

    Examples:
        teddy bench my.ticket
        teddy bench my.ticket --serving
        teddy bench citeseer --models gcn,gat --json
    """
    check_names([subject], split_list(models or ""), task=settings.get("task"), load=load)
    from teddy.ticket.file import is_ticket

    load_files(load)
    if is_ticket(subject):
        options = {"models": models, "epochs": epochs, **settings}
        for name, value in options.items():
            if value is not None and name not in _GRAPH_SETTINGS:
                flag = f"--{name.replace('_', '-')}"
                raise InputError(f"{subject} is a ticket, expected {flag} only with a data set")
        nodes, data_dir = (settings.get(name) for name in _GRAPH_SETTINGS)
        if plot is not None and not serving:
            raise InputError(f"plot is '{plot}', expected only with --serving")
        if serving:
            if plot is not None:
                from teddy.report.save import check_picture

                check_picture(plot)
            bench_serving(subject, graph, module, nodes, data_dir, plot, json_)
        else:
            bench_ticket(subject, graph, module, nodes, data_dir, json_)
        return
    if serving or plot is not None:
        raise InputError(f"{subject} is not a ticket, expected --serving and --plot with a ticket")
    if graph is not None:
        if subject not in names.DATASETS and not Path(subject).exists():
            raise InputError(f"{subject}: no such file, expected a ticket")
        raise InputError(f"{subject} is not a ticket, expected a ticket before its graph")
    if module is not None:
        raise InputError(f"module is '{module}', expected only with a ticket")
    epochs = EPOCHS if epochs is None else epochs
    _bench_training(subject, models or MODELS, {**settings, "epochs": epochs}, json_)


def _bench_training(dataset: str, models: str, settings: dict[str, Any], json_: bool) -> None:
    config = Settings.from_dict(settings)
    fewest = max(3, 1 + (config.train.evaluate_every or 1))  # two validations, to time between
    if config.train.epochs < fewest:
        raise InputError(f"epochs is {config.train.epochs}, expected a whole number from {fewest}")
    import statistics

    import torch

    from teddy.cli.printing import print_table
    from teddy.kernels import jit
    from teddy.methods.make_problem import load_data, make_problem
    from teddy.methods.plugin import check_model, read_model

    specs = split_list(models)
    for spec in specs:
        check_model(spec)  # an unknown option is an error before anything runs
    data = load_data(dataset, config)
    before, kernels = torch.get_num_threads(), jit.numba
    max_threads = config.run.threads or before
    variants = [
        (threads, backend)
        for threads in sorted({1, max_threads})
        for backend in dict.fromkeys((kernels, None))
    ]
    rows: list[dict[str, Any]] = []
    try:
        for name in specs:
            problems = {
                epochs: make_problem(data, read_model(name), config.loaded().updated(epochs=epochs))
                for epochs in (3, config.train.epochs)
            }
            times: dict[tuple[int, bool], list[float]] = {}
            for turn in range(ROUNDS + 1):  # the first warms up
                for threads, backend in variants:
                    torch.set_num_threads(threads)
                    jit.numba = backend
                    milliseconds = _epoch_times(problems[config.train.epochs if turn else 3])
                    if turn:
                        times.setdefault((threads, backend is not None), []).extend(milliseconds)
            medians = {variant: statistics.median(values) for variant, values in times.items()}
            rows.extend(
                {
                    "model": name,
                    "threads": threads,
                    "kernels_ms": medians.get((threads, True)),
                    "torch_ms": medians[threads, False],
                }
                for threads in sorted({1, max_threads})
            )
    finally:
        torch.set_num_threads(before)
        jit.numba = kernels
    if json_:
        typer.echo(json.dumps({"dataset": dataset, "torch": torch.__version__, "rows": rows}))
        return
    print_table(
        f"An epoch of sparse training on {dataset}, milliseconds",
        ("model", "threads", "compiled kernels", "plain torch", "ratio"),
        [_row(row) for row in rows],
    )
    if kernels is None:
        typer.echo(
            "no compiled kernels: install the extra [fast], and do not set TEDDY_KERNELS=off"
        )


def _epoch_times(problem: Problem) -> list[float]:
    """Milliseconds of the epochs of a sparse training, without the first.

    The teacher's logits are random, as their values do not change the time.
    """
    import torch

    from teddy.tasks.views import Choice
    from teddy.training import seeded

    ends: list[tuple[int, float]] = []  # epochs that are validated
    choice = Choice(problem.choose(SPARSITY, "teddy"), SPARSITY, "teddy")
    width, data = problem.num_outputs, problem.data
    with seeded(problem.seed, problem.device):
        if problem.loader is None:  # your own module may have more outputs
            runner = problem.runner(problem.initial_model(), data)
            width = runner.evaluation_logits().size(1)
        teacher = torch.randn(data.y.size(0), width, device=problem.device)
    problem.train(
        choice, teacher, SPARSITY,
        callbacks=(lambda epoch: ends.append((epoch.index, time.perf_counter())),),
    )  # fmt: skip
    return [1e3 * (end - start) / (last - first) for (first, start), (last, end) in pairwise(ends)]


def _row(row: dict[str, Any]) -> tuple[Any, ...]:
    ours, plain = row["kernels_ms"], row["torch_ms"]
    ratio = None if ours is None else f"{plain / ours:.1f}x"
    return (
        row["model"], row["threads"], None if ours is None else f"{ours:.1f}", f"{plain:.1f}", ratio
    )  # fmt: skip
