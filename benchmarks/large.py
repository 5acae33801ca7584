"""Full-batch training on large graphs: seconds an epoch and memory, dense and ticket.

    TEDDY_DATA=... python -m benchmarks.large --threads 2 --json large.json

The graphs are ogbn-arxiv with surrogate features, if TEDDY_DATA has its structure, and a synthetic
one of Reddit's size (233k nodes, 23M undirected edges, 602 features) with a power law of degrees.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

import teddy
from benchmarks.precompute import graph_file
from benchmarks.scaling import memory
from teddy.sparsity import schedule_sparsity
from teddy_paper.large_scale import models

LEVEL, EPOCHS = 20, 5


def reddit_sized(
    nodes: int = 232_965, edges: int = 23_000_000, features: int = 602, classes: int = 41
) -> Data:
    """Random graph whose expected degree falls with the square root of the rank."""
    random = np.random.default_rng(0)
    keys = np.empty(0, dtype=np.int64)  # lower * nodes + upper: each edge once
    while len(keys) < edges:
        ends = np.sort((nodes * random.random((2, edges // 2)) ** 2).astype(np.int64), axis=0)
        ends = ends[:, ends[0] < ends[1]]
        keys = np.union1d(keys, ends[0] * nodes + ends[1])
    keys = random.choice(keys, edges, replace=False, shuffle=False)
    edge_index = torch.from_numpy(np.stack([keys // nodes, keys % nodes]))
    parts = torch.from_numpy(random.permutation(nodes) % 100)
    return Data(
        x=torch.randn(nodes, features, generator=torch.Generator().manual_seed(0)),
        edge_index=to_undirected(edge_index, num_nodes=nodes),
        y=torch.from_numpy(random.integers(0, classes, nodes)),
        train_mask=parts < 66,
        val_mask=(parts >= 66) & (parts < 76),
        test_mask=parts >= 76,
    )


def full_batch(name: str, model: str, threads: int) -> dict[str, Any]:
    """Run a search of a few epochs in a separate process."""
    command = [sys.executable, "-m", "benchmarks.large", "--child", name, model]
    command += ["--threads", str(threads)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _child(name: str, model: str) -> dict[str, Any]:
    data = reddit_sized() if name == "reddit-sized" else teddy.load_dataset(name)
    before = memory("VmRSS")
    sparsity = schedule_sparsity(LEVEL)
    ticket = teddy.find_ticket(data, model, sparsity, sparsity, epochs=EPOCHS, weight_decay=0.0)
    return {
        "work": f"{name} {model}, {EPOCHS} epochs, level {LEVEL}",
        "edges": ticket.info.edges.total,
        "graph_bytes": sum(data[k].numel() * data[k].itemsize for k in ("x", "edge_index")),
        "dense_seconds_per_epoch": ticket.seconds["dense"] / EPOCHS,
        "ticket_seconds_per_epoch": ticket.seconds["sparse"] / EPOCHS,
        "seconds": ticket.seconds,
        "bytes_before": before,
        "peak_bytes": memory("VmHWM"),
        "threads": torch.get_num_threads(),
    }


def main() -> None:
    """Print a line for each graph and model, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--graphs", default="arxiv-surrogate,reddit-sized")
    parser.add_argument("--json", type=Path, default=Path("bench_large.json"))
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.child:
        print(json.dumps(_child(*arguments.child)))
        return
    rows = []
    for name in arguments.graphs.split(","):
        if name == "arxiv-surrogate" and graph_file() is None:
            print("arxiv-surrogate: TEDDY_DATA has no ogbn-arxiv/arxiv-structure.npz")
            continue
        for model in models("reddit" if name == "reddit-sized" else name):
            row = full_batch(name, model, arguments.threads)
            rows.append(row)
            print(
                f"{row['work']}: {row['dense_seconds_per_epoch']:.2f} s a dense epoch, "
                f"{row['ticket_seconds_per_epoch']:.2f} s one of the ticket, "
                f"{row['peak_bytes'] / 1e9:.2f} GB peak memory",
                flush=True,
            )
    arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
