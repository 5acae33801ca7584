"""``teddy bench``: how fast is it here?"""

from __future__ import annotations

import json
import statistics
import time
from itertools import pairwise
from typing import Annotated, Any

import typer

from teddy.cli.options import DataDir, Dataset, Json
from teddy.errors import InputError
from teddy.numbers import check_count

ROUNDS = 3


def bench(
    dataset: Dataset = "citeseer",
    models: Annotated[str, typer.Option(help="Names, separated by commas.")] = "gcn,gin,gat",
    epochs: Annotated[int, typer.Option(help="Epochs of a turn; all take three turns.")] = 20,
    json_: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Time an epoch of the sparse training: compiled kernels against plain torch, by threads."""
    if check_count(epochs, "epochs") < 3:
        raise InputError(f"epochs is {epochs}, expected a whole number from 3")
    import torch

    from teddy import jit
    from teddy.cli.tables import print_table
    from teddy.data import load_dataset
    from teddy.edges import SparsifyEdges
    from teddy.models import parse_model

    names = [name.strip() for name in models.split(",")]
    for name in names:
        parse_model(name)  # an unknown name is an error before anything runs
    data = SparsifyEdges(0.64)(load_dataset(dataset, data_dir=data_dir))
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
