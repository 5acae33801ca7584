"""Edge tables of any size with every engine: seconds, bytes and cost of an edge.

``python -m benchmarks.tables --edges 100000000,1000000000 --engines stream,duckdb``. Each run is a
separate ``teddy sparsify`` with a memory limit; a graph has ten edges a node.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.make_edges import make_edges

SPARSITY = 0.64
MEMORY = {"memory": "20GB", "stream": "6GB", "duckdb": "4GB", "spark": "6GB"}
#: Size of the largest table for engines other than stream.
LARGEST = 10**8


def tables(
    sizes: tuple[int, ...], engines: tuple[str, ...], folder: Path | None = None
) -> list[dict[str, Any]]:
    """Run every engine on every size; the tables are removed afterwards."""
    entries = []
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for size in sizes:
            table = Path(place) / f"{size}.parquet"
            make_edges(table, size, size // 10)
            for engine in engines:
                if engine != "stream" and size > LARGEST:
                    continue
                entry = _run(engine, table, Path(place) / "out.parquet", size)
                entries.append(entry)
                print(describe(entry), flush=True)
            table.unlink()
    return entries


def describe(entry: dict[str, Any]) -> str:
    """Return a line that describes a run."""
    return (
        f"{entry['engine']}, {entry['edges']:,} edges, {entry['nodes']:,} nodes: "
        f"{entry['seconds']:.1f} s, {entry['ns_per_edge']:.0f} ns an edge, "
        f"{entry['peak_bytes'] / 1e9:.2f} GB peak memory"
    )


def _run(engine: str, table: Path, out: Path, size: int) -> dict[str, Any]:
    command = [
        sys.executable, "-m", "teddy", "sparsify", str(table), str(out), "--engine", engine,
        "--sparsity", str(SPARSITY), "--memory", MEMORY[engine], "--json",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    done = json.loads(output)
    read, written = table.stat().st_size, out.stat().st_size
    out.unlink()
    return {
        "engine": engine, "edges": size, "nodes": size // 10, "threads": os.cpu_count(),
        "memory": MEMORY[engine], "seconds": done["seconds"]["total"], "steps": done["seconds"],
        "ns_per_edge": 1e9 * done["seconds"]["total"] / size,
        "peak_bytes": 1024 * usage.ru_maxrss, "bytes_read": read, "bytes_written": written,
    }  # fmt: skip


def main() -> None:
    """Print a line for each run and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", default="10000000")
    parser.add_argument("--engines", default="memory,stream,duckdb")
    parser.add_argument(
        "--folder", type=Path, help="folder for the tables; default: a temporary one"
    )
    parser.add_argument("--json", type=Path, default=Path("bench_tables.json"))
    arguments = parser.parse_args()
    sizes = tuple(int(size) for size in arguments.edges.split(","))
    rows = tables(sizes, tuple(arguments.engines.split(",")), arguments.folder)
    arguments.json.write_text(json.dumps({"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
