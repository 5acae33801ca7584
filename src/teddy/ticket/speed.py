"""Inference time of a ticket against the dense model, with the same kernels for both."""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from teddy.ticket.compiled import CompiledTicket
from teddy.ticket.ticket import DataLike, Ticket

# Fewest and most timed passes of each variant.
_FEWEST, _MOST = 5, 300


@dataclass(frozen=True)
class Pass:
    """Time of one pass over the whole graph.

    Attributes:
        way: Variant: ``dense`` (all edges, all weights), ``sparse graph`` (the ticket's edges, all
            weights), ``sparse weights`` (the ticket, with its zeros multiplied) or ``compiled``
            (the ticket, compiled). The first two are compiled, too.
        device: Device of the pass.
        threads: Threads of the CPU.
        milliseconds: Median of passes that alternate with the other variants.
        macs: Multiply-accumulates with non-zero weights, even where a kernel multiplies zeros.
            None where they can't be counted.
        weights: Number of stored weights.
    """

    way: str
    device: str
    threads: int
    milliseconds: float
    macs: int | None
    weights: int


def measure(ticket: Ticket, data: DataLike, seconds: float = 1.0) -> list[Pass]:
    """Time a pass of the dense model and of a ticket, on the device of ``data``.

    Sparse features and the sparse graph are used for both, so that the difference is due to the
    ticket alone.

    Args:
        ticket: The ticket.
        data: Its graph or graphs.
        seconds: Approximate time to spend on each variant.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", epochs=2, hidden_channels=8)
        >>> [p.way for p in measure(ticket, data, seconds=0.0)]
        ['dense', 'sparse graph', 'sparse weights', 'compiled']
    """
    ways = compiled_variants(ticket, data)
    device, threads = str(ways["dense"].device), torch.get_num_threads()
    times = medians(list(ways.values()), seconds)
    passes = []
    for (way, made), found in zip(ways.items(), times, strict=True):
        macs = None if made.macs is None else sum(made.macs)
        passes.append(Pass(way, device, threads, found, macs, made.num_weights))
    return passes


def compiled_variants(ticket: Ticket, data: DataLike) -> dict[str, CompiledTicket]:
    """Return the compiled variants from the dense model to the ticket; see :class:`Pass`.

    Values of the dense weights do not change the time, as long as none is zero.

    Args:
        ticket: The ticket.
        data: Its graph or graphs.
    """
    dense, kept = dense_like(ticket.model), ticket.view(data)
    return {
        "dense": ticket.view(data, every_edge=True).compile(dense),
        "sparse graph": kept.compile(dense),
        "sparse weights": kept.compile(ticket.model, shrink=False),
        "compiled": ticket.compile(data),
    }


def medians(runs: list[CompiledTicket], seconds: float) -> list[float]:
    """Return the median milliseconds of each variant; passes alternate."""
    for run in runs:
        _timed(run)  # compiles what has to be
    warm = [_timed(run) for run in runs]
    turns = int(1e3 * seconds * len(runs) / sum(warm))
    turns = min(max(turns, _FEWEST if seconds > 0 else 1), _MOST)
    times = [[_timed(run) for run in runs] for _ in range(turns)]
    return [statistics.median(seen) for seen in zip(*times, strict=True)]


def dense_like(model: nn.Module) -> nn.Module:
    """Return a copy of a model without zero weights, for timing.

    Example:
        >>> dense_like(nn.Linear(2, 1, bias=False)).weight.data
        tensor([[0.0100, 0.0100]])
    """
    dense = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in dense.parameters():
            parameter.fill_(0.01)
    return dense


def _timed(run: Callable[[], torch.Tensor]) -> float:
    started = time.perf_counter()
    run().sum().item()  # waits for the device
    return 1e3 * (time.perf_counter() - started)
