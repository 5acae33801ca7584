"""Accuracy against the latency of a server, for several choices of edges, from a sweep's tickets.

    python -m benchmarks.serving_choices --train --sweeps runs/serving,runs/serving-arxiv
    python -m benchmarks.serving_choices --sweeps runs/serving,runs/serving-arxiv

The first command trains the tickets, for hours; it resumes. The second one counts what their
servers gather for random queries about 64 nodes, times the tickets of seed 0 on the same queries in
turns, in one thread, and writes a JSON file and a figure.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import torch

import teddy
from benchmarks.serving import in_turns
from teddy.report import save_picture
from teddy.report.chart import Chart, Line, Panel
from teddy.settings import Settings
from teddy.sweep import Grid, read_table, run_sweep, summarize
from teddy.sweep.folder import Folder
from teddy.sweep.summary import Summary
from teddy.ticket import Ticket
from teddy.ticket.serving_speed import server_variants, serving_cost

SCORES = ("teddy", "random", "degree-high", "k-neighbor", "gain", "serving")
LEVELS = (5, 10, 20, 30, 40)
#: With distillation, as in the paper, and without.
TEACHING = {"with distillation": ":only=edges", "without distillation": ":distill=0:only=edges"}
#: Data sets, levels, seeds and epochs of each sweep.
SWEEPS = (
    (("pubmed", "photo", "cs"), LEVELS, 5, 200),
    (("arxiv-surrogate",), LEVELS[1:4], 3, 40),
)
HIDDEN_CHANNELS = 128
BATCH, QUERIES = 64, 100


def main() -> None:
    """Train tickets, or measure them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sweeps", default="runs/serving,runs/serving-arxiv")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--json", type=Path, default=Path("bench_serving_choices.json"))
    parser.add_argument("--plot", type=Path, default=Path("serving.png"))
    options = parser.parse_args()
    folders = [Path(folder) for folder in options.sweeps.split(",")]
    if options.train:
        for folder, (names, levels, seeds, epochs) in zip(folders, SWEEPS, strict=True):
            train(folder, names, levels, seeds, epochs)
        return
    torch.set_num_threads(1)
    rows = [row for folder in folders for row in measured(folder)]
    result = {"torch": torch.__version__, "machine": platform.machine(), "rows": rows}
    options.json.write_text(json.dumps(result, indent=1) + "\n")
    save_picture(chart(rows), options.plot)


def train(
    folder: Path, names: tuple[str, ...], levels: tuple[int, ...], seeds: int, epochs: int
) -> None:
    """Train a ticket of every score, level and seed, with and without distillation."""
    methods = [score + how for score in SCORES for how in TEACHING.values()]
    settings = Settings.from_dict({"epochs": epochs, "hidden_channels": HIDDEN_CHANNELS})
    grid = Grid(names, ["gcn"], methods, levels, range(seeds))
    run_sweep(grid, folder, settings, keep_tickets=True, progress=show)


def show(done: int, total: int) -> None:
    """Print a line now and then."""
    if done % 10 == 0 or done == total:
        print(f"{done} of {total}", flush=True)


def measured(folder: Path) -> list[dict[str, Any]]:
    """A row for each data set, score, level and teaching: accuracy, counts and latency."""
    by_name: dict[str, list[Summary]] = defaultdict(list)
    for summary in summarize(read_table(folder)):
        by_name[summary.dataset].append(summary)
    rows = []
    for name, summaries in by_name.items():
        levels = next(levels for names, levels, _, _ in SWEEPS if name in names)
        data, ticket_of = teddy.load_dataset(name), tickets(folder, name)
        servers: dict[str, Any] = {}
        for score in SCORES:
            for level in levels:
                variants = server_variants(ticket_of(score, level, 0), data)
                servers.setdefault("dense", variants["dense"])
                servers[f"{score} {level}"] = variants["sparse graph"]
        generator = np.random.default_rng(0)
        num_nodes = servers["dense"].num_nodes
        queries = [generator.choice(num_nodes, BATCH, replace=False) for _ in range(QUERIES)]
        times = in_turns({label: server.logits for label, server in servers.items()}, queries)
        for score in SCORES:
            for level in levels:
                of_level = [s for s in summaries if s.level == level]
                seeds = of_level[0].seeds
                costs = [serving_cost(ticket_of(score, level, seed), data) for seed in range(seeds)]
                row: dict[str, Any] = {
                    "dataset": name, "score": score, "level": level, "seeds": seeds,
                    "p50_ms": float(np.median(times[f"{score} {level}"])),
                    "dense_p50_ms": float(np.median(times["dense"])),
                    "edges": mean(cost.edges for cost in costs),
                    "dense_edges": mean(cost.dense_edges for cost in costs),
                }  # fmt: skip
                for teaching, options in TEACHING.items():
                    (summary,) = (s for s in of_level if s.method == score + options)
                    row["graph_sparsity"], row["dense"] = summary.graph_sparsity, summary.dense
                    row[teaching] = {
                        "test": summary.mean, "deviation": summary.deviation,
                        "difference": summary.difference.mean, "low": summary.difference.low,
                        "high": summary.difference.high,
                    }  # fmt: skip
                rows.append(row)
                print(line(row), flush=True)
    return rows


def tickets(folder: Path, name: str) -> Any:
    """A function from score, level and seed to the ticket with distillation, read once.

    Without distillation the same edges are chosen, by the same dense model.
    """
    grid = Grid([name], ["gcn"], [s + ":only=edges" for s in SCORES], LEVELS, range(5))
    cells = {(cell.method.partition(":")[0], cell.level, cell.seed): cell for cell in grid.cells}

    @cache
    def ticket_of(score: str, level: int, seed: int) -> Ticket:
        return Ticket.load(Folder(folder).ticket_path(cells[score, level, seed]))

    return ticket_of


def line(row: dict[str, Any]) -> str:
    """A row as text."""
    both = "  ".join(
        f"{row[teaching]['test']:5.1f} ({row[teaching]['difference']:+.1f})"
        for teaching in TEACHING
    )
    return (
        f"{row['dataset']:16}{row['score']:12}{row['graph_sparsity']:5.0%}  {both}  "
        f"{row['edges']:>9,.0f} messages ({row['dense_edges'] / row['edges']:5.1f}x fewer) "
        f"{row['p50_ms']:7.3f} ms ({row['dense_p50_ms'] / row['p50_ms']:4.1f}x)"
    )


def chart(rows: list[dict[str, Any]]) -> Chart:
    """Accuracy against latency, a panel for each data set and teaching."""
    panels = []
    for name in dict.fromkeys(row["dataset"] for row in rows):
        own = [row for row in rows if row["dataset"] == name]
        for teaching in TEACHING:
            marks = []
            for score in SCORES:
                points = sorted((r for r in own if r["score"] == score), key=lambda r: r["p50_ms"])
                marks.append(Line(
                    score,
                    [row["p50_ms"] for row in points],
                    [row[teaching]["test"] for row in points],
                    [row[teaching]["deviation"] for row in points],
                ))  # fmt: skip
            xlabel = f"ms for {BATCH} nodes (dense: {own[0]['dense_p50_ms']:.2g})"
            panels.append(Panel(
                f"{name}, {teaching}", xlabel, "test accuracy (%)", marks, level=own[0]["dense"],
            ))  # fmt: skip
    return Chart("serving", "Accuracy against latency of a server", panels, columns=2)


if __name__ == "__main__":
    main()
