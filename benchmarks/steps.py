"""Time saved by each optimisation, and the remaining cost: ``python -m benchmarks.steps``.

First, an epoch with one step undone at a time, in turn with the full epoch. Then the time of
each part of an epoch beside the time that moving its bytes would take at the speed of a copy.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch_geometric.data import Data

import teddy
from benchmarks import training
from benchmarks.timing import milliseconds
from benchmarks.training import SPARSITY, our_epochs
from teddy.kernels import hidden, jit, products
from teddy.kernels.sparse import SparseMatrix, shifted_product
from teddy.models import base, build_model, layered
from teddy.tasks.objective import Objective
from teddy.training import adapters, loop
from teddy.weights import l0


def _two_products(matrix: Any, shift: Tensor | None, features: Any, weight: Tensor) -> Tensor:
    product = features @ weight
    return matrix @ product if shift is None else shifted_product(matrix, shift, product)


def _training_outputs(self: Any, nodes: Tensor | None = None) -> Tensor:
    stem = self.network.stem(self.x, self.structure)
    outputs: Tensor = self.network.train().head(stem, self.structure)
    return outputs


UNDONE: dict[str, Callable[[], Any]] = {
    "all steps": nullcontext,
    "dense features": lambda: mock.patch.object(base, "SparseMatrix", _NeverSparse),
    "no compiled kernels": lambda: mock.patch.object(jit, "numba", None),
    "products without tiles": lambda: mock.patch.object(products, "_TILE_BYTES", 1 << 62),
    "A (X W) as two products": lambda: mock.patch.object(layered, "chain_product", _two_products),
    "activation, dropout, product separate": lambda: mock.patch.object(hidden, "_FEW", 0),
    "separate forward for evaluation": lambda: mock.patch.object(
        adapters.BuiltInAdapter, "training_outputs", _training_outputs
    ),
    "no band around the last threshold": lambda: mock.patch.object(l0, "_WIDEST", -1.0),
    "memory freed at every step": lambda: mock.patch.object(
        training,
        "train",
        loop.train.__wrapped__.__wrapped__,  # type: ignore[attr-defined]
    ),
}


class _NeverSparse(SparseMatrix):
    """Keep features dense."""

    @staticmethod
    def of(matrix: Tensor) -> Any:
        return matrix.to_dense()


def steps(data: Data, kind: str, rounds: int = 4) -> dict[str, float]:
    """Median milliseconds of an epoch with each step undone."""
    classes = int(data.y.max()) + 1
    teacher = torch.randn(data.num_nodes, classes)
    times: dict[str, list[float]] = defaultdict(list)
    for turn in range(rounds):
        for name, undo in UNDONE.items():
            torch.manual_seed(0)
            model = build_model(kind, data.x.size(1), classes)
            with undo():
                seen = our_epochs(model, data, teacher, 12 if turn else 4)
            if turn:
                times[name].extend(seen)
    return {name: statistics.median(seen) for name, seen in times.items()}


def parts(data: Data, kind: str) -> list[tuple[str, float, float]]:
    """Parts of an epoch: name, milliseconds, megabytes of large arrays read and written."""
    classes = int(data.y.max()) + 1
    model = build_model(kind, data.x.size(1), classes)
    assert isinstance(model, layered.LayeredGNN)
    weights = 4 * sum(p.numel() for p in model.parameters()) / 1e6
    layer = 4 * data.num_nodes * model.channels[1] / 1e6
    # A write to memory that isn't in the cache reads it first.
    watched: dict[str, tuple[Any, str, float]] = {
        "products, forward": (layered.LayeredGNN, "stem", weights + 2 * layer),
        "activation to logits, forward": (hidden._Product, "forward", layer),
        "activation to logits, backward": (hidden._Product, "backward", 3 * layer),
        "Adam": (torch.optim.Adam, "step", 7 * weights),
        "projection": (l0.L0Projection, "__call__", 3 * weights),
        "loss": (Objective, "__call__", 0.0),
        "backward, total": (torch.Tensor, "backward", 5 * layer + 2 * weights),
    }
    times: dict[str, list[float]] = defaultdict(list)
    with ExitStack() as stack:
        for name, (owner, attribute, _) in watched.items():
            stack.enter_context(_timed(owner, attribute, times[name]))
        our_epochs(model, data, torch.randn(data.num_nodes, classes), 30)
    return [
        (name, statistics.median(times[name]), size)
        for name, (_, _, size) in watched.items()
        if times[name]
    ]


@contextmanager
def _timed(owner: Any, attribute: str, seen: list[float]) -> Iterator[None]:
    function = getattr(owner, attribute)

    def timed(*args: Any, **options: Any) -> Any:
        started = time.perf_counter()
        result = function(*args, **options)
        seen.append(1e3 * (time.perf_counter() - started))
        return result

    static = isinstance(owner.__dict__.get(attribute), staticmethod)
    with mock.patch.object(owner, attribute, staticmethod(timed) if static else timed):
        yield


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="citeseer")
    parser.add_argument("--models", default="gcn,gin")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    data = teddy.SparsifyEdges(SPARSITY)(teddy.load_dataset(arguments.set))
    source = torch.randn(8_000_000)
    target = torch.empty_like(source)
    copy = min(milliseconds(lambda: target.copy_(source), 9))
    speed = 2 * source.nbytes / copy / 1e6  # gigabytes a second, read and written
    print(f"{arguments.set}, threads: {arguments.threads}; copy: {speed:.1f} GB/s")
    for kind in arguments.models.split(","):
        result = steps(data, kind)
        for name, milliseconds_ in result.items():
            factor = milliseconds_ / result["all steps"]
            print(f"{kind:5}{name:40}{milliseconds_:8.1f} ms{factor:7.2f}x", flush=True)
    for kind in arguments.models.split(","):
        for name, milliseconds_, megabytes in parts(data, kind):
            floor = megabytes / speed
            print(f"{kind:5}{name:40}{milliseconds_:8.2f} ms{megabytes:7.0f} MB{floor:7.2f} ms")


if __name__ == "__main__":
    main()
