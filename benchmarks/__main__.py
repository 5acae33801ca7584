"""Run the benchmarks: ``make bench``, or ``python -m benchmarks [--threads N] [--json FILE]``.

Every figure is a ratio of medians measured in turn in this process. Cora joins in where TEDDY_DATA
names a folder with its raw files.
"""

from __future__ import annotations

import argparse
import json
import platform
from dataclasses import asdict
from pathlib import Path

import torch

from benchmarks.timing import Comparison, milliseconds
from benchmarks.training import epochs, projection
from teddy import jit


def main() -> None:
    """Print a table and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1, help="of both sides")
    parser.add_argument("--sets", default="citeseer,cora,pubmed")
    parser.add_argument("--models", default="gcn,gin,gat")
    parser.add_argument("--json", type=Path, default=Path("bench.json"))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    square = torch.randn(2048, 2048)
    gflops = 2 * 2048**3 / min(milliseconds(lambda: square @ square, 5)) / 1e6
    kernels = "numba" if jit.numba else "torch"
    print(f"threads: {arguments.threads}; sgemm: {gflops:.0f} GFLOPS; kernels: {kernels}")
    print(f"{'work':40}{'ours, ms':>12}{'published style':>18}{'ratio':>8}")
    rows: list[Comparison] = []
    for row in [projection()]:
        show(row)
        rows.append(row)
    for row in epochs(tuple(arguments.sets.split(",")), tuple(arguments.models.split(","))):
        show(row)
        rows.append(row)
    result = {
        "threads": arguments.threads,
        "sgemm_gflops": gflops,
        "kernels": kernels,
        "torch": torch.__version__,
        "machine": platform.machine(),
        "rows": [{**asdict(row), "ratio": row.ratio} for row in rows],
    }
    arguments.json.write_text(json.dumps(result, indent=1) + "\n")


def show(row: Comparison) -> None:
    """Print a line of the table."""
    print(f"{row.work:40}{row.ours:12.1f}{row.theirs:18.1f}{row.ratio:7.1f}x", flush=True)


if __name__ == "__main__":
    main()
