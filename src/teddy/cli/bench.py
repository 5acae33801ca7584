"""``teddy bench``: how fast is it here?"""

from __future__ import annotations

import json
import statistics
import time
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from teddy.cli.bench_ticket import bench_ticket
from teddy.cli.options import DataDir, Json, Nodes, OwnModule
from teddy.errors import InputError
from teddy.numbers import check_count

ROUNDS = 3
MODELS, EPOCHS = "gcn,gin,gat", 20


def bench(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="TICKET|DATASET",
            help="A ticket file or hub:owner/name; or a data set's name, or its file or folder.",
        ),
    ] = "citeseer",
    graph: Annotated[
        str | None,
        typer.Argument(
            metavar="DATASET",
            help="The ticket's graph: a name, file or folder; default: the one it names.",
            show_default=False,
        ),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(help=f"Names, separated by commas: {MODELS}.", show_default=False),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(help=f"Epochs of a turn: {EPOCHS}; all take three turns.", show_default=False),
    ] = None,
    json_: Json = False,
    module: OwnModule = None,
    nodes: Nodes = None,
    data_dir: DataDir = None,
) -> None:
    """Time a ticket's inference against the dense model's; or, of a data set, an epoch.

    Of a ticket: one pass over its graph, best kernels on both sides, by what the ticket changes.
    Of a data set: an epoch of the sparse training, compiled kernels against plain torch. By
    threads, and of a ticket on the GPU, where there is one.
    """
    from teddy.data import DATASETS
    from teddy.ticket.file import is_ticket

    if is_ticket(subject):
        if models is not None or epochs is not None:
            raise InputError(f"{subject} is a ticket, expected --models, --epochs with a data set")
        bench_ticket(subject, graph, module, nodes, data_dir, json_)
        return
    if graph is not None:
        if subject not in DATASETS and not Path(subject).exists():
            raise InputError(f"{subject}: no such file, expected a ticket")
        raise InputError(f"{subject} is no ticket file, expected a ticket before its graph")
    if module is not None:
        raise InputError(f"module is '{module}', expected only with a ticket")
    _bench_training(subject, models or MODELS, EPOCHS if epochs is None else epochs, json_,
                    nodes, data_dir)  # fmt: skip


def _bench_training(
    dataset: str, models: str, epochs: int, json_: bool, nodes: Path | None, data_dir: Path | None
) -> None:
    if check_count(epochs, "epochs") < 3:
        raise InputError(f"epochs is {epochs}, expected a whole number from 3")
    import torch

    from teddy import jit
    from teddy.cli.tables import print_table
    from teddy.data import check_data, load_dataset
    from teddy.data.splits import one_split
    from teddy.edges import SparsifyEdges
    from teddy.models import parse_model

    names = [name.strip() for name in models.split(",")]
    for name in names:
        parse_model(name)  # an unknown name is an error before anything runs
    data = one_split(check_data(load_dataset(dataset, data_dir=data_dir, nodes=nodes), dataset))
    data = SparsifyEdges(0.64)(data)
    most, kernels = torch.get_num_threads(), jit.numba
    ways = [
        (threads, way) for threads in sorted({1, most}) for way in dict.fromkeys((kernels, None))
    ]
    rows: list[dict[str, Any]] = []
    try:
        for name in names:
            times: dict[tuple[int, bool], list[float]] = {}
            for turn in range(ROUNDS + 1):  # the first is to warm up
                for threads, way in ways:
                    torch.set_num_threads(threads)
                    jit.numba = way
                    seen = _epoch_times(name, data, epochs if turn else 3)
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
        torch.set_num_threads(most)
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


def _epoch_times(name: str, data: Any, epochs: int) -> list[float]:
    """Train; return the milliseconds of all epochs but the first."""
    import torch

    from teddy.models import build_model
    from teddy.training import TrainConfig, seeded, train

    ends: list[float] = []
    classes = int(data.y.max()) + 1
    with seeded(0):
        train(
            build_model(name, data.x.size(1), classes),
            data,
            TrainConfig(epochs=epochs),
            teacher=torch.randn(data.num_nodes, classes),
            weight_sparsity=0.64,
            callbacks=[lambda _: ends.append(time.perf_counter())],
        )
    return [1e3 * (after - before) for before, after in pairwise(ends)]


def _row(row: dict[str, Any]) -> tuple[Any, ...]:
    ours, plain = row["kernels_ms"], row["torch_ms"]
    ratio = None if ours is None else f"{plain / ours:.1f}x"
    return (
        row["model"], row["threads"], None if ours is None else f"{ours:.1f}", f"{plain:.1f}", ratio
    )  # fmt: skip
