"""Latency of a ticket in a server, step by step: the same server and queries on both sides."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from teddy.serving import Server
from teddy.ticket.operations import check_operation
from teddy.ticket.speed import dense_like
from teddy.ticket.ticket import DataLike, Ticket

#: The dense model, what a ticket changes step by step, and the ticket.
WAYS = ("dense", "sparse graph", "sparse weights", "ticket")
#: Nodes of a query.
BATCHES = (1, 64, 1024)

# Queries that are timed, whatever they take, and at most.
_FEWEST, _MOST = 20, 2000
# Queries whose neighbourhoods are counted.
_COUNTED = 20


@dataclass(frozen=True)
class Latency:
    """Answers about some nodes at a time.

    Attributes:
        way: ``dense``: all edges, all weights. ``sparse graph``: the ticket's edges, all weights.
            ``sparse weights``: all edges, the ticket's network without its dead units. ``ticket``:
            both.
        threads: Threads of an answer.
        batch: Nodes of a query, drawn at random.
        p50: Median milliseconds of a query.
        p99: 99th percentile.
        nodes: Mean number of nodes whose features a query reads.
        edges: Mean number of messages that it sums.
        megabytes: Memory of the graph, the features and the weights.
    """

    way: str
    threads: int
    batch: int
    p50: float
    p99: float
    nodes: float
    edges: float
    megabytes: float


def measure_serving(
    ticket: Ticket,
    data: DataLike,
    batches: Sequence[int] = BATCHES,
    seconds: float = 2.0,
    seed: int = 0,
) -> list[Latency]:
    """Time queries to a server of the dense model and to one of a ticket.

    All ways answer the same queries, in turns.

    Args:
        ticket: The ticket.
        data: Its graph.
        batches: Nodes of a query.
        seconds: Seconds to spend on each batch size, all ways together, about.
        seed: Seed of the queries.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", epochs=2, hidden_channels=8)
        >>> rows = measure_serving(ticket, data, batches=[4], seconds=0.0)
        >>> [(row.way, row.batch) for row in rows]
        [('dense', 4), ('sparse graph', 4), ('sparse weights', 4), ('ticket', 4)]
    """
    servers = server_variants(ticket, data)
    generator, rows = np.random.default_rng(seed), []
    for batch in batches:
        rows += _latencies(servers, batch, seconds, generator)
    return rows


@dataclass(frozen=True)
class ServingCost:
    """Mean size of the neighbourhoods that queries are answered from; see ``Server.gathered``.

    Attributes:
        nodes: Nodes whose features are read, by the ticket.
        edges: Messages that are summed, by the ticket.
        dense_nodes: Nodes, by the dense model on the whole graph.
        dense_edges: Messages, by the dense model on the whole graph.
    """

    nodes: float
    edges: float
    dense_nodes: float
    dense_edges: float


def serving_cost(
    ticket: Ticket, data: DataLike, batch: int = 64, draws: int = _COUNTED, seed: int = 0
) -> ServingCost:
    """Count what a server gathers for random queries; the result is the same in every run.

    Args:
        ticket: The ticket.
        data: Its graph.
        batch: Nodes of a query.
        draws: Number of queries.
        seed: Seed of the queries.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", epochs=2, hidden_channels=8)
        >>> serving_cost(ticket, data)
        ServingCost(nodes=161.9, edges=172.05, dense_nodes=667.35, dense_edges=1174.7)
    """
    servers = server_variants(ticket, data, ("dense", "ticket"))
    generator = np.random.default_rng(seed)
    num_nodes = servers["dense"].num_nodes
    queries = [
        generator.choice(num_nodes, min(batch, num_nodes), replace=False) for _ in range(draws)
    ]

    def mean(way: str) -> tuple[float, float]:
        gathered = [servers[way].gathered(nodes) for nodes in queries]
        nodes, edges = np.mean([(one.nodes, one.edges) for one in gathered], axis=0).tolist()
        return nodes, edges

    return ServingCost(*mean("ticket"), *mean("dense"))


def server_variants(
    ticket: Ticket, data: DataLike, ways: Sequence[str] = WAYS
) -> dict[str, Server]:
    """Servers of the dense model, of what a ticket changes step by step, and of the ticket.

    Args:
        ticket: The ticket.
        data: Its graph.
        ways: Names of the servers to make, see :class:`Latency`.
    """
    check_operation("serve", ticket.info)
    dense, task = dense_like(ticket.model), ticket.task
    whole, kept = ticket.view(data, every_edge=True), ticket.view(data)
    parts = {
        "dense": (whole, dense), "sparse graph": (kept, dense),
        "sparse weights": (whole, ticket.model), "ticket": (kept, ticket.model),
    }  # fmt: skip
    return {way: parts[way][0].server(parts[way][1], task) for way in ways}


def _latencies(
    servers: dict[str, Server], batch: int, seconds: float, generator: np.random.Generator
) -> list[Latency]:
    num_nodes = next(iter(servers.values())).num_nodes
    batch = min(batch, num_nodes)

    def draw() -> np.ndarray:
        return generator.choice(num_nodes, batch, replace=False)

    for server in servers.values():  # compiles what has to be
        server.logits(draw())
    times: dict[str, list[float]] = {way: [] for way in servers}
    counts: dict[str, list[tuple[int, int]]] = {way: [] for way in servers}
    stop = time.perf_counter() + seconds
    fewest = _FEWEST if seconds > 0 else 1
    for turn in range(_MOST):
        if turn >= fewest and time.perf_counter() > stop:
            break
        nodes = draw()
        for way, server in servers.items():
            started = time.perf_counter()
            server.logits(nodes)
            times[way].append(1e3 * (time.perf_counter() - started))
            if turn < _COUNTED:
                gathered = server.gathered(nodes)
                counts[way].append((gathered.nodes, gathered.edges))
    rows = []
    for way, server in servers.items():
        p50, p99 = (float(np.percentile(times[way], share)) for share in (50, 99))
        nodes, edges = np.mean(counts[way], axis=0).tolist()
        threads, megabytes = torch.get_num_threads(), server.nbytes / 1e6
        rows.append(Latency(way, threads, batch, p50, p99, nodes, edges, megabytes))
    return rows
