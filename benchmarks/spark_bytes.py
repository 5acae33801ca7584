"""Bytes that Spark reads, shuffles and writes an edge: ``python -m benchmarks.spark_bytes``.

Runs Spark locally on names with a scheme, and sums its event log.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.make_edges import make_edges
from teddy.scale import sparsify_table

#: Metrics of a task: group in the log, entry, our name.
METRICS = (
    ("Input Metrics", "Bytes Read", "read"),
    ("Shuffle Write Metrics", "Shuffle Bytes Written", "shuffled"),
    ("Output Metrics", "Bytes Written", "written"),
)


def measure(edges: int, nodes: int, partitions: int = 8) -> dict[str, Any]:
    """Bytes an edge of each kind, stages and jobs of one run."""
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory() as place:
        make_edges(Path(place) / "edges.parquet", edges, nodes)
        (Path(place) / "events").mkdir()
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.eventLog.enabled", "true")
            .config("spark.eventLog.dir", f"file://{place}/events")
            .config("spark.eventLog.compress", "false")
            .config("spark.eventLog.rolling.enabled", "false")
            .config("spark.sql.shuffle.partitions", str(partitions))
            # As for large graphs, whose nodes cannot be broadcast.
            .config("spark.sql.autoBroadcastJoinThreshold", "-1")
            .config("spark.sql.adaptive.autoBroadcastJoinThreshold", "-1")
            .config("spark.driver.memory", "4g")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.log.level", "ERROR")
            .getOrCreate()
        )
        started = time.perf_counter()
        sparsify_table(f"file://{place}/edges.parquet", f"file://{place}/few", 0.64)
        seconds = time.perf_counter() - started
        session.stop()
        (log,) = (Path(place) / "events").iterdir()
        with log.open() as lines:
            totals, stages, jobs = add_up(map(json.loads, lines))
    return {
        "edges": edges, "nodes": nodes, "seconds": seconds, "stages": stages, "jobs": jobs,
        "bytes_per_edge": {name: count / edges for name, count in totals.items()},
    }  # fmt: skip


def add_up(events: Iterable[dict[str, Any]]) -> tuple[Counter[str], int, int]:
    """Sum bytes over all tasks, and count stages and jobs."""
    totals: Counter[str] = Counter()
    stages, jobs = 0, 0
    for event in events:
        kind = event["Event"]
        stages += kind == "SparkListenerStageCompleted"
        jobs += kind == "SparkListenerJobStart"
        if kind == "SparkListenerTaskEnd":
            metrics = event.get("Task Metrics") or {}
            for group, entry, name in METRICS:
                totals[name] += metrics.get(group, {}).get(entry, 0)
    return totals, stages, jobs


def main() -> None:
    """Print the bytes of an edge, for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", default="2000000,8000000")
    parser.add_argument("--json", type=Path, default=Path("bench_spark.json"))
    arguments = parser.parse_args()
    rows = []
    for edges in map(int, arguments.edges.split(",")):
        row = measure(edges, edges // 10)
        rows.append(row)
        sizes = ", ".join(f"{size:.0f} {name}" for name, size in row["bytes_per_edge"].items())
        print(
            f"{edges:,} edges in {row['seconds']:.0f} s, {row['jobs']} jobs of "
            f"{row['stages']} stages; bytes an edge: {sizes}",
            flush=True,
        )
    arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
