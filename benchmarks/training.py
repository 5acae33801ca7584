"""An epoch of the sparse training and a projection against the published style."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

import teddy
from benchmarks.published import PUBLISHED, PublishedTraining, project_topk
from benchmarks.timing import Comparison, compare, milliseconds
from teddy.models import build_model
from teddy.training import TrainConfig, train
from teddy.weights import L0Projection

SPARSITY = 0.6415


def data_sets(names: tuple[str, ...]) -> Iterator[tuple[str, Data]]:
    """Yield the data sets that can be loaded."""
    for name in names:
        try:
            yield name, teddy.load_dataset(name, data_dir=os.environ.get("TEDDY_DATA"))
        except teddy.InputError as error:
            print(f"skipped: {error}")


def epochs(names: tuple[str, ...], models: tuple[str, ...]) -> Iterator[Comparison]:
    """Compare epochs on every data set that can be loaded."""
    for name, data in data_sets(names):
        sparse = teddy.SparsifyEdges(SPARSITY)(data)
        classes = int(data.y.max()) + 1
        for kind in models:
            torch.manual_seed(0)
            model = build_model(kind, data.x.size(1), classes)
            teacher = torch.randn(data.num_nodes, classes)
            baseline = PublishedTraining(PUBLISHED[kind](model, sparse), sparse, teacher, SPARSITY)
            yield compare(
                f"{name} {kind} epoch",
                lambda m=model, d=sparse, t=teacher: our_epochs(m, d, t),  # type: ignore[misc]
                lambda o=baseline: milliseconds(o.epoch, 3),  # type: ignore[misc]
            )


def our_epochs(model: nn.Module, data: Data, teacher: Tensor, count: int = 42) -> list[float]:
    """Train some epochs; return the times of all but the first two."""
    ends: list[float] = []
    train(
        model,
        data,
        TrainConfig(epochs=count),
        teacher=teacher,
        weight_sparsity=SPARSITY,
        callbacks=[lambda _: ends.append(time.perf_counter())],
    )
    return [1e3 * (b - a) for a, b in pairwise(ends[1:])]


def projection(size: int = 1_900_000) -> Comparison:
    """Compare projections of a vector that moves a little between calls, as in training."""
    ours, theirs = torch.randn(size), torch.randn(size)
    noise = 1e-3 * torch.randn(size)
    project = L0Projection([ours], SPARSITY)

    def our_step() -> list[float]:
        ours.add_(noise)
        return milliseconds(project)

    def their_step() -> list[float]:
        theirs.add_(noise)
        return milliseconds(lambda: project_topk([theirs], SPARSITY))

    return compare(f"projection of {size:,} weights", our_step, their_step, rounds=12)
