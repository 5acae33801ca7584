"""Latency of queries about a few nodes: pruned graphs against the whole one, and against PyG.

    python -m benchmarks.serving --json docs/results/bench_serving.json

A GCN of two layers answers the same queries on every graph, in turns, in one process and one
thread. PyG runs the same network on ``k_hop_subgraph``, and a full pass answers for all nodes.
Weights are random, since their values do not change the time; half of the rows have as many hidden
units as ``structure=neurons`` leaves at that sparsity.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric import nn as pyg
from torch_geometric.utils import k_hop_subgraph

import teddy
from teddy.graph import Edges
from teddy.models import build_model
from teddy.prune import choose_edges
from teddy.serving import Server

#: Score and sparsity of the pruned graphs.
CHOICES = (
    ("teddy", 0.40), ("teddy", 0.64), ("random", 0.64), ("k-neighbor", 0.64),
    ("degree-high", 0.64), ("teddy", 0.87),
)  # fmt: skip
BATCHES = {1: 1000, 64: 200, 1024: 20}
HIDDEN = {"arxiv-surrogate": 256}
#: Queries that PyG and the full pass answer: they are slow.
SLOW = 5


def main() -> None:
    """Print a row for each graph and batch, and write JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", default="pubmed,arxiv-surrogate")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--queries", type=float, default=1.0, help="share of the usual queries")
    parser.add_argument("--json", type=Path, default=Path("bench_serving.json"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for name in options.sets.split(","):
        for row in serving(name, options.seed, options.queries):
            print(line(row), flush=True)
            rows.append(row)
    result = {"torch": torch.__version__, "machine": platform.machine(), "rows": rows}
    options.json.write_text(json.dumps(result, indent=1) + "\n")


def serving(name: str, seed: int, share: float = 1.0) -> list[dict[str, Any]]:
    """Latencies on one data set.

    Args:
        name: The data set.
        seed: Seed of weights and queries.
        share: Share of the usual number of queries.
    """
    torch.manual_seed(seed)
    data = teddy.load_dataset(name)
    edges = Edges.from_data(data)
    servers = make_servers(data, edges, HIDDEN.get(name, 512))
    generator, rows = np.random.default_rng(seed), []
    for batch, count in BATCHES.items():
        count = max(3, int(count * share))
        queries = [generator.choice(edges.num_nodes, batch, replace=False) for _ in range(count)]
        ways: dict[str, Callable[[np.ndarray], Tensor]] = {
            label: server.logits for label, server in servers.items()
        }
        times = in_turns(ways, queries)
        opponents = pyg_ways(data, edges, servers["dense"], HIDDEN.get(name, 512))
        times |= in_turns(opponents, queries[: max(3, int(SLOW * share))])
        dense = times["dense"]
        for label, seen in times.items():
            p50, p99 = (float(np.percentile(seen, q)) for q in (50, 99))
            row = {
                "dataset": name, "graph": label, "batch": batch, "queries": len(seen),
                "p50_ms": p50, "p99_ms": p99, "p50_faster": float(np.median(dense)) / p50,
                "p99_faster": float(np.percentile(dense, 99)) / p99,
            }  # fmt: skip
            if label in servers:
                counted = [servers[label].gathered(nodes) for nodes in queries[:20]]
                row["nodes"] = float(np.mean([found.nodes for found in counted]))
                row["edges"] = float(np.mean([found.edges for found in counted]))
                row["megabytes"] = servers[label].nbytes / 1e6
            rows.append(row)
    return rows


def make_servers(data: Any, edges: Edges, hidden: int) -> dict[str, Server]:
    """A server of the dense pair, and of each pruned graph with dense weights and whole units."""
    labels = int(data.y.max()) + 1
    features, x = data.x.size(1), data.x

    def model(width: int) -> Any:
        return build_model("gcn", features, labels, hidden_channels=width)

    dense = model(hidden)
    servers = {"dense": Server(dense, x, edges.edge_index)}
    for score, sparsity in CHOICES:
        keep = choose_edges(edges, sparsity, score)
        edge_index = edges.subset(keep).edge_index
        label = f"{score} {sparsity:.0%}"
        servers[label] = Server(dense, x, edge_index)
        if score == "teddy":
            narrow = model(round(hidden * (1 - sparsity)))
            servers[f"{label}, units"] = Server(narrow, x, edge_index)
    return servers


def pyg_ways(data: Any, edges: Edges, server: Server, hidden: int) -> dict[str, Any]:
    """The same network in PyG, on the subgraph of a query and on the whole graph."""
    x = data.x.to_dense() if data.x.layout != torch.strided else data.x
    network = pyg.GCN(x.size(1), hidden, 2, server.num_outputs, bias=False).eval()
    weights: Any = server.model
    with torch.no_grad():
        for conv, weight in zip(network.convs, weights.weights, strict=True):
            conv.lin.weight.copy_(weight.t())
    edge_index = edges.edge_index

    @torch.no_grad()
    def subgraph(nodes: np.ndarray) -> Tensor:
        # One hop more than layers, so that degrees of all nodes in reach are right.
        part, local, place, _ = k_hop_subgraph(
            torch.from_numpy(nodes), 3, edge_index, relabel_nodes=True, num_nodes=x.size(0)
        )
        outputs: Tensor = network(x[part], local)[place]
        return outputs

    @torch.no_grad()
    def full(nodes: np.ndarray) -> Tensor:
        outputs: Tensor = network(x, edge_index)[torch.from_numpy(nodes)]
        return outputs

    return {"PyG, k_hop_subgraph": subgraph, "PyG, full pass": full}


def in_turns(ways: dict[str, Any], queries: list[np.ndarray]) -> dict[str, list[float]]:
    """Milliseconds of each query in each way; the first query warms up."""
    times: dict[str, list[float]] = {label: [] for label in ways}
    for way in ways.values():
        way(queries[0])
    for nodes in queries:
        for label, way in ways.items():
            started = time.perf_counter()
            way(nodes)
            times[label].append(1e3 * (time.perf_counter() - started))
    return times


def line(row: dict[str, Any]) -> str:
    """A row as text."""
    counts = f"{row['edges']:>12,.0f}{row['nodes']:>10,.0f}" if "edges" in row else " " * 22
    return (
        f"{row['dataset']:16}{row['batch']:>5}  {row['graph']:22}{counts}"
        f"{row['p50_ms']:>10.3f} ms ({row['p50_faster']:6.2f}x)"
        f"{row['p99_ms']:>10.3f} ms ({row['p99_faster']:6.2f}x)"
    )


if __name__ == "__main__":
    main()
