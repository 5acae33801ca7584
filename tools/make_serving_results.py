"""Fill the tables of docs/serving.md from stored results in docs/results.

python -m benchmarks.serving --json docs/results/bench_serving.json
python -m benchmarks.serving_choices --json docs/results/bench_serving_choices.json \
    --plot docs/images/serving.png
python tools/make_serving_results.py

The accuracies are the ``summary`` of ``teddy sweep --summary --json`` without the seconds; the page
has the command of the sweep.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from teddy.store.atomic import write_atomically

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "serving.md"
RESULTS = ROOT / "docs" / "results" / "bench_serving.json"
CHOICES = ROOT / "docs" / "results" / "bench_serving_choices.json"
ACCURACY = ROOT / "docs" / "results" / "serving_accuracy.json"
BEGIN, END = "<!-- made by tools/make_serving_results.py: {} -->", "<!-- end -->"
#: Points of accuracy that a choice of edges may lose.
WITHIN = 1.0
COLUMNS = (
    "graph", "edges", "nodes", "1 node: p50", "p99", "64 nodes: p50", "p99", "1,024 nodes: p50",
)  # fmt: skip


def main() -> None:
    write_atomically(PAGE, filled(PAGE.read_text()).encode())


def filled(text: str) -> str:
    """Return the page with its tables filled in."""
    tables = {
        "latency": latency_tables(), "accuracy": accuracy_table(), "choices": choices_table(),
    }  # fmt: skip
    for name, table in tables.items():
        begin = BEGIN.format(name)
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{table}\n{END}{rest.split(END, 1)[1]}"
    return text


def read_rows() -> list[dict[str, Any]]:
    """Return the measured rows."""
    rows: list[dict[str, Any]] = json.loads(RESULTS.read_text())["rows"]
    return rows


def latency_tables() -> str:
    """Return a table for each data set, in Markdown."""
    rows, parts = read_rows(), []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        found = {(r["graph"], r["batch"]): r for r in rows if r["dataset"] == dataset}
        lines = [COLUMNS, ["---"] * len(COLUMNS)]
        for graph in dict.fromkeys(graph for graph, _ in found):
            lines.append(table_row(graph, [found[graph, batch] for batch in (1, 64, 1024)]))
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        parts.append(f"**{dataset}**\n\n{table}")
    return "\n\n".join(parts)


def accuracy_table() -> str:
    """Return the accuracies on arxiv-surrogate, in Markdown."""
    rows: list[dict[str, Any]] = json.loads(ACCURACY.read_text())
    lines = ["| edges | test accuracy | to dense, 95% interval |", "| --- | --- | --- |"]
    lines.append(f"| dense | {rows[0]['dense']:.1f} | |")
    for row in sorted(rows, key=lambda row: (row["graph_sparsity"], -row["mean"])):
        name = f"{row['method'].partition(':')[0]} {row['graph_sparsity']:.0%}"
        low, high = (row["difference"][end] for end in ("low", "high"))
        difference = f"{row['difference']['mean']:+.1f} ({low:+.1f} to {high:+.1f})"
        lines.append(f"| {name} | {row['mean']:.1f} ± {row['deviation']:.1f} | {difference} |")
    return "\n".join(lines)


def choices_table() -> str:
    """Return the cheapest choices of edges, in Markdown."""
    rows: list[dict[str, Any]] = json.loads(CHOICES.read_text())["rows"]
    lines = [
        ["data set", "cheapest choice", "to dense", "latency", "random edges", "to dense",
         "latency"], ["---"] * 7, *choices_rows(rows),
    ]  # fmt: skip
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def choices_rows(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Return the fastest choice of edges that loses at most a point, and that of random edges.

    A row for each data set, with and without distillation.
    """
    found = []
    for teaching in ("with distillation", "without distillation"):
        for name in dict.fromkeys(row["dataset"] for row in rows):
            near = [
                row for row in rows
                if row["dataset"] == name and row[teaching]["difference"] >= -WITHIN
            ]  # fmt: skip
            random = [row for row in near if row["score"] == "random"]
            cells = [*choice_cells(near, teaching), *choice_cells(random, teaching)]
            found.append([f"{name}, {teaching}", *cells])
    return found


def choice_cells(rows: list[dict[str, Any]], teaching: str) -> list[str]:
    """Return score and sparsity of the fastest row, its accuracy, and how many times as fast."""
    if not rows:
        return ["none", "", ""]
    best = min(rows, key=lambda row: row["p50_ms"])
    found = best[teaching]
    interval = f"({found['low']:+.1f} to {found['high']:+.1f})"
    return [
        f"{best['score']} {best['graph_sparsity']:.0%}",
        f"{found['difference']:+.1f} {interval}",
        f"{best['dense_p50_ms'] / best['p50_ms']:.1f}x",
    ]


def table_row(graph: str, rows: list[dict[str, Any]]) -> list[str]:
    """Return a row: counts for 64 nodes, then milliseconds or how many times as fast as dense."""
    one, some, many = rows
    counts = [f"{some[name]:,.0f}" if name in some else "" for name in ("edges", "nodes")]
    cells = [(one, "p50"), (one, "p99"), (some, "p50"), (some, "p99"), (many, "p50")]
    return [graph, *counts, *(cell(row, name) for row, name in cells)]


def cell(row: dict[str, Any], name: str) -> str:
    """Return milliseconds, and for a pruned graph how many times as fast as dense."""
    milliseconds = f"{row[f'{name}_ms']:.3g} ms"
    if row["graph"] == "dense" or row["graph"].startswith("PyG"):
        return milliseconds
    return f"{row[f'{name}_faster']:.3g}x"


if __name__ == "__main__":
    main()
