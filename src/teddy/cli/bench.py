"""``teddy bench``: how fast is it here?"""

from __future__ import annotations

import json
import statistics
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from teddy.cli.bench_ticket import bench_ticket
from teddy.cli.options import Json, Load, OwnModule, load_files, words
from teddy.cli.settings_options import takes_settings
from teddy.errors import InputError
from teddy.settings import Settings

if TYPE_CHECKING:
    from teddy.methods.problem import Problem

ROUNDS = 3
MODELS, EPOCHS = "gcn,gin,gat", 20
#: Shares of edges and weights that are removed.
SPARSITY = 0.64
#: Settings that say where a ticket's graph is; all others are of a training.
_OF_TICKET = ("nodes", "data_dir")


@takes_settings
def bench(
    settings: dict[str, Any],
    subject: Annotated[
        str,
        Argument(
            metavar="TICKET|DATASET",
            help="A ticket file or hub:owner/name; or a data set's name, or its file or folder.",
        ),
    ] = "citeseer",
    graph: Annotated[
        str | None,
        Argument(
            metavar="DATASET",
            help="The ticket's graph: a name, file or folder; default: the one it names.",
        ),
    ] = None,
    models: Annotated[
        str | None, Option(help=f"Separated by commas, as of `teddy find`: {MODELS}.")
    ] = None,
    epochs: Annotated[
        int | None, Option(help=f"Epochs of a turn: {EPOCHS}; all take three turns.")
    ] = None,
    json_: Json = False,
    module: OwnModule = None,
    load: Load = None,
) -> None:
    """Time a ticket's inference against the dense model's; or, of a data set, an epoch.

    Of a ticket: one pass over its graph, best kernels on both sides, by what the ticket changes.
    Of a data set: an epoch of the sparse training, compiled kernels against plain torch. By
    threads, and of a ticket on the GPU, where there is one.
    """
    from teddy.data import DATASETS
    from teddy.ticket.file import is_ticket

    load_files(load)
    if is_ticket(subject):
        given = {"models": models, "epochs": epochs, **settings}
        for name, value in given.items():
            if value is not None and name not in _OF_TICKET:
                option = f"--{name.replace('_', '-')}"
                raise InputError(f"{subject} is a ticket, expected {option} with a data set only")
        nodes, data_dir = (settings.get(name) for name in _OF_TICKET)
        bench_ticket(subject, graph, module, nodes, data_dir, json_)
        return
    if graph is not None:
        if subject not in DATASETS and not Path(subject).exists():
            raise InputError(f"{subject}: no such file, expected a ticket")
        raise InputError(f"{subject} is no ticket file, expected a ticket before its graph")
    if module is not None:
        raise InputError(f"module is '{module}', expected only with a ticket")
    epochs = EPOCHS if epochs is None else epochs
    _bench_training(subject, models or MODELS, {**settings, "epochs": epochs}, json_)


def _bench_training(dataset: str, models: str, settings: dict[str, Any], json_: bool) -> None:
    asked = Settings.from_dict(settings)
    fewest = max(3, 1 + (asked.train.evaluate_every or 1))  # two validations, to time between
    if asked.train.epochs < fewest:
        raise InputError(f"epochs is {asked.train.epochs}, expected a whole number from {fewest}")
    import torch

    from teddy.cli.printing import print_table
    from teddy.kernels import jit
    from teddy.methods.make_problem import load_data, make_problem
    from teddy.methods.plugin import check_model, read_model

    names = words(models)
    for name in names:
        check_model(name)  # an unknown name is an error before anything runs
    data = load_data(dataset, asked)
    before, kernels = torch.get_num_threads(), jit.numba
    most = asked.run.threads or before
    ways = [
        (threads, way) for threads in sorted({1, most}) for way in dict.fromkeys((kernels, None))
    ]
    rows: list[dict[str, Any]] = []
    try:
        for name in names:
            problems = {
                epochs: make_problem(data, read_model(name), asked.loaded().updated(epochs=epochs))
                for epochs in (3, asked.train.epochs)
            }
            times: dict[tuple[int, bool], list[float]] = {}
            for turn in range(ROUNDS + 1):  # the first is to warm up
                for threads, way in ways:
                    torch.set_num_threads(threads)
                    jit.numba = way
                    seen = _epoch_times(problems[asked.train.epochs if turn else 3])
                    if turn:
                        times.setdefault((threads, way is not None), []).extend(seen)
            medians = {way: statistics.median(seen) for way, seen in times.items()}
            rows.extend(
                {
                    "model": name,
                    "threads": threads,
                    "kernels_ms": medians.get((threads, True)),
                    "torch_ms": medians[threads, False],
                }
                for threads in sorted({1, most})
            )
    finally:
        torch.set_num_threads(before)
        jit.numba = kernels
    if json_:
        typer.echo(json.dumps({"dataset": dataset, "torch": torch.__version__, "rows": rows}))
        return
    print_table(
        f"An epoch of the sparse training on {dataset}, milliseconds",
        ("model", "threads", "compiled kernels", "plain torch", "ratio"),
        [_row(row) for row in rows],
    )
    if kernels is None:
        typer.echo("no kernels: numba isn't installed (the extra [fast]), or TEDDY_KERNELS is off")


def _epoch_times(problem: Problem) -> list[float]:
    """Train on a sparse graph with a teacher; return the milliseconds of epochs but the first.

    The teacher's logits are drawn: what they are doesn't change the time.
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
