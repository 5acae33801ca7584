"""Growth of an epoch with the graph, and memory of a run and of a large graph."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch_geometric.data import Data

import teddy
from benchmarks.scoring import random_graph
from benchmarks.training import SPARSITY, our_epochs
from teddy.models import build_model

FIND = ["find", "citeseer", "--model", "gin"]


def doubling(kind: str, num_nodes: int = 4000, rounds: int = 4) -> dict[str, Any]:
    """Time an epoch on a random graph, and on one of twice the nodes, edges and features."""
    runs = []
    for size in (num_nodes, 2 * num_nodes):
        data = _random_data(size)
        torch.manual_seed(0)
        model = build_model(kind, size, 6)
        runs.append((model, data, torch.randn(size, 6)))
    times: list[list[float]] = [[], []]
    for turn in range(rounds):
        for run, seen in zip(runs, times, strict=True):
            measured = our_epochs(*run, count=22)
            if turn:
                seen.extend(measured)
    once, twice = (statistics.median(seen) for seen in times)
    return {"work": f"{kind} epoch, everything doubled", "once": once, "twice": twice,
            "factor": twice / once}  # fmt: skip


def _random_data(num_nodes: int, words: int = 32) -> Data:
    """Random data with as many features as nodes, and five neighbours a node."""
    generator = torch.Generator().manual_seed(0)
    row = torch.arange(num_nodes).repeat_interleave(words)
    col = torch.randint(0, num_nodes, (num_nodes * words,), generator=generator)
    x = torch.sparse_coo_tensor(torch.stack([row, col]), torch.ones(row.numel()))
    masks = {name: torch.arange(num_nodes) % 3 == part
             for part, name in enumerate(("train_mask", "val_mask", "test_mask"))}  # fmt: skip
    return Data(
        x=x.coalesce().to_sparse_csr(),
        edge_index=random_graph(5 * num_nodes, num_nodes),
        y=torch.randint(0, 6, (num_nodes,), generator=generator),
        **masks,
    )


def find_memory() -> dict[str, Any]:
    """Peak resident memory of ``teddy find citeseer --model gin``."""
    return {"work": "teddy find citeseer --model gin", **_child("find")}


def large_graph(num_columns: int) -> dict[str, Any]:
    """Time and memory of scores and selection of a large graph."""
    return _child("prune", str(num_columns), str(torch.get_num_threads()))


def _child(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scaling", *arguments]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: dict[str, Any] = json.loads(output.splitlines()[-1])
    return result


def memory(field: str) -> int:
    """Return a field of the process's status in bytes."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split(f"{field}:")[1].split()[0])


def _main(what: str, *arguments: str) -> None:
    if what == "find":
        from teddy.cli import main

        try:
            main(FIND)
        except SystemExit as end:
            if end.code:
                raise
        print(json.dumps({"peak_bytes": memory("VmHWM")}))
        return
    num_columns, threads = map(int, arguments)
    torch.set_num_threads(threads)
    num_nodes = num_columns // 10
    edge_index = random_graph(num_columns, num_nodes)
    small = random_graph(1000, 100)
    teddy.prune_edges(small, SPARSITY, num_nodes=100)  # loads the kernels
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    times = []
    for _ in range(3):
        started = time.perf_counter()
        keep = teddy.prune_edges(edge_index, SPARSITY, num_nodes=num_nodes)
        times.append(time.perf_counter() - started)
    print(
        json.dumps(
            {
                "work": f"scores and selection, {num_columns // 10**6}M directed edges",
                "seconds": statistics.median(times),
                "ns_per_edge": 1e9 * statistics.median(times) / edge_index.size(1),
                "graph_bytes": edge_index.numel() * edge_index.itemsize,
                "bytes_above": memory("VmHWM") - before,
                "kept": int(keep.sum()),
            }
        )
    )


if __name__ == "__main__":
    _main(*sys.argv[1:])
