"""Run the benchmarks: ``make bench``, or ``python -m benchmarks [--threads N] [--json FILE]``.

Every ratio is one of medians measured in turn in this process. Cora is included if TEDDY_DATA names
a folder with its raw files.
"""

from __future__ import annotations

import argparse
import json
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from benchmarks import minibatch, precompute, serving
from benchmarks.methods import separation, simulations, throughput
from benchmarks.scaling import doubling, find_memory, large_graph
from benchmarks.scoring import scoring
from benchmarks.tables import tables
from benchmarks.timing import Comparison, milliseconds
from benchmarks.training import epochs, projection
from teddy.kernels import jit

PARTS = (
    "projection", "epochs", "scoring", "large", "doubling", "memory", "methods", "jobs",
    "precompute", "tables", "serving",
)  # fmt: skip
#: Slow parts, run only on request.
LONG = ("minibatch",)

KINDS = ("dense", "ticket")


def main() -> None:
    """Print a table and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1, help="threads of both sides")
    parser.add_argument("--sets", default="citeseer,cora,pubmed")
    parser.add_argument("--models", default="gcn,gin,gat")
    parser.add_argument(
        "--parts", default=",".join(PARTS), help="parts to run, of " + ", ".join(PARTS + LONG)
    )
    parser.add_argument("--json", type=Path, default=Path("bench.json"))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    models, parts = tuple(arguments.models.split(",")), arguments.parts.split(",")
    square = torch.randn(2048, 2048)
    gflops = 2 * 2048**3 / min(milliseconds(lambda: square @ square, 5)) / 1e6
    kernels = "numba" if jit.numba else "torch"
    result: dict[str, Any] = {
        "threads": arguments.threads,
        "sgemm_gflops": gflops,
        "kernels": kernels,
        "torch": torch.__version__,
        "machine": platform.machine(),
        "rows": [],
    }

    def show(row: Comparison) -> None:
        print(f"{row.work:58}{row.ours:10.1f}{row.theirs:12.1f}{row.ratio:8.1f}x", flush=True)
        result["rows"].append({**asdict(row), "ratio": row.ratio})

    print(f"threads: {arguments.threads}; sgemm: {gflops:.0f} GFLOPS; kernels: {kernels}")
    print(f"{'milliseconds':58}{'ours':>10}{'theirs':>12}{'ratio':>9}")
    if "projection" in parts:
        show(projection())
    if "epochs" in parts:
        for row in epochs(tuple(arguments.sets.split(",")), models):
            show(row)
    if "scoring" in parts:
        for row in scoring():
            show(row)
    if "large" in parts:
        result["large"] = [large_graph(10**7), large_graph(10**8)]
        for entry in result["large"]:
            print(
                f"{entry['work']}: {entry['seconds']:.2f} s, {entry['ns_per_edge']:.1f} ns an edge,"
                f" {entry['bytes_above'] / 1e9:.2f} GB above the graph's"
                f" {entry['graph_bytes'] / 1e9:.2f}",
                flush=True,
            )
    if "doubling" in parts:
        result["doubling"] = [doubling(kind) for kind in models]
        for entry in result["doubling"]:
            print(f"{entry['work']}: {entry['factor']:.2f} times as long", flush=True)
    if "memory" in parts:
        result["memory"] = find_memory()
        print(
            f"{result['memory']['work']}: {result['memory']['peak_bytes'] / 1e6:.0f} MB peak memory"
        )
    if "methods" in parts:
        show(separation())
        result["methods"] = []
        for entry in simulations(tuple(arguments.sets.split(",")), models):
            result["methods"].append(entry)
            ugs, wd_glt = entry["paper"]
            print(
                f"{entry['work']}: UGS {entry['ugs_over_teddy']:.1f} times TEDDY (paper {ugs:.1f}),"
                f" WD-GLT {entry['wd_glt_over_teddy']:.1f} (paper {wd_glt:.1f})",
                flush=True,
            )
    if "jobs" in parts:
        result["jobs"] = throughput()
        print(f"{result['jobs']['work']}: {result['jobs']['ratio']:.2f} times as fast")
    if "precompute" in parts and precompute.graph_file() is not None:
        result["precompute"] = []
        for model in precompute.MODELS:
            entry = precompute.precompute(model)
            result["precompute"].append(entry)
            took = f"{entry['seconds']:.1f} s, {entry['bytes_above'] / 1e9:.2f} GB"
            print(f"{entry['work']}: {entry.get('refused') or took}", flush=True)
    if "tables" in parts:
        result["tables"] = tables((10**7,), ("memory", "stream", "duckdb"))
    if "serving" in parts:
        result["serving"] = []
        for latency in serving.serving("pubmed", seed=0, share=0.2):
            print(serving.line(latency), flush=True)
            result["serving"].append(latency)
    if "minibatch" in parts:
        result["minibatch"] = []
        for entry in minibatch.accuracies():
            result["minibatch"].append(entry)
            dense, ticket = (f"{entry[k]['mean']:.1f} ± {entry[k]['std']:.1f}" for k in KINDS)
            print(
                f"{entry['work']}, {entry['loader']}: dense {dense}, ticket {ticket}, "
                f"{entry['ms_per_epoch']:.0f} ms an epoch",
                flush=True,
            )
        result["processes"] = minibatch.processes()
        print(f"{result['processes']['work']}: {result['processes']['ratio']:.2f} times as fast")
    arguments.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
