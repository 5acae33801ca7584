"""Find the tickets of docs/results.md; write docs/results/tickets.csv and the page's table.

    python tools/make_results.py [--seeds 3] [--only citeseer-gcn,...] [--data-dir DIR]

A row that is in the file already with as many seeds is not computed again; Cora needs its raw data
(--data-dir or TEDDY_DATA).
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import Any

import torch

from teddy.atomic import write_atomically
from teddy.data import load_dataset
from teddy.sweep import find_over_seeds

DOCS = Path(__file__).parents[1] / "docs"
OUT = DOCS / "results" / "tickets.csv"
PAGE = DOCS / "results.md"
BEGIN, END = "<!-- made by tools/make_results.py -->", "<!-- end -->"
# Table 1 of the paper: GIN, five runs. Of the other models it has figures only.
PAPER = {
    "citeseer": ("68.10 ± 0.77", "71.16 ± 0.66", "71.12 ± 0.51"),
    "pubmed": ("77.90 ± 0.14", "79.70 ± 0.26", "80.98 ± 0.42"),
    "cora": ("76.34 ± 0.79", "76.20 ± 0.69", "76.82 ± 1.00"),
}
LEVELS = (0.6415, 0.8715)  # simulations 20 and 40
FIELDS = (
    "dataset", "model", "graph_sparsity", "weight_sparsity", "distill", "seeds", "edges_kept",
    "weights_kept", "dense_mean", "dense_std", "ticket_mean", "ticket_std", "ticket_last_mean",
    "difference", "low", "high", "verdict", "macs_dense", "macs_ticket",
)  # fmt: skip
SETTINGS = [
    (dataset, model, level)
    for dataset in ("citeseer", "pubmed", "cora")
    for model in ("gin", "gcn", "gat", "sage")
    for level in LEVELS
]


def row(result: dict[str, Any]) -> dict[str, Any]:
    last = result["ticket"]["last_test"]
    return {
        "dataset": result["dataset"],
        "model": result["model"],
        "graph_sparsity": result["graph_sparsity"],
        "weight_sparsity": result["weight_sparsity"],
        "distill": result["distill"],
        "seeds": len(result["seeds"]),
        "edges_kept": result["edges"]["kept"],
        "weights_kept": result["weights"]["kept"],
        "dense_mean": round(result["dense"]["test_mean"], 2),
        "dense_std": round(result["dense"]["test_std"], 2),
        "ticket_mean": round(result["ticket"]["test_mean"], 2),
        "ticket_std": round(result["ticket"]["test_std"], 2),
        "ticket_last_mean": round(sum(last) / len(last), 2),
        "difference": round(result["difference"]["mean"], 2),
        "low": round(result["difference"]["low"], 2),
        "high": round(result["difference"]["high"], 2),
        "verdict": result["verdict"],
        "macs_dense": result["macs"]["dense"],
        "macs_ticket": result["macs"]["ticket"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="dataset-model pairs, comma-separated")
    parser.add_argument("--levels", default="0.6415,0.8715")
    parser.add_argument("--data-dir")
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # the same results on every number of cores
    only = set(filter(None, arguments.only.split(",")))
    levels = {float(level) for level in arguments.levels.split(",")}
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    if OUT.exists():
        with OUT.open() as file:
            rows = {key(found): found for found in csv.DictReader(file)}
    for dataset, model, level in SETTINGS:
        if (only and f"{dataset}-{model}" not in only) or level not in levels:
            continue
        wanted = (dataset, model, str(level))
        if wanted in rows and int(rows[wanted]["seeds"]) >= arguments.seeds:
            continue
        data = load_dataset(dataset, data_dir=arguments.data_dir)
        study = find_over_seeds(
            data, seeds=range(arguments.seeds), model=model, graph_sparsity=level,
            weight_sparsity=level,
        )  # fmt: skip
        rows[wanted] = row(study.to_dict())
        print(json.dumps(rows[wanted]), flush=True)
        save(rows)
    save(rows)


def table(rows: dict[tuple[str, ...], dict[str, Any]]) -> str:
    lines = [
        "| set, model | sparsity | seeds | dense | ticket | at the last epoch "
        "| difference, 95% | verdict | MACs left | paper: dense | paper: ticket |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (dataset, model, level), r in sorted_rows(rows):
        paper = PAPER[dataset] if model == "gin" else ("", "", "")
        published = paper[1 + LEVELS.index(float(level))]
        lines.append(
            f"| {dataset} {model} | {float(level):.2%} | {r['seeds']} "
            f"| {float(r['dense_mean']):.2f} ± {float(r['dense_std']):.2f} "
            f"| {float(r['ticket_mean']):.2f} ± {float(r['ticket_std']):.2f} "
            f"| {float(r['ticket_last_mean']):.2f} "
            f"| {float(r['difference']):+.2f} [{float(r['low']):+.2f}, {float(r['high']):+.2f}] "
            f"| {r['verdict']} | {int(r['macs_ticket']) / int(r['macs_dense']):.0%} "
            f"| {paper[0]} | {published} |"
        )
    return "\n".join(lines)


def short_table(rows: dict[tuple[str, ...], dict[str, Any]]) -> str:
    """GIN beside the paper's Table 1, for the README."""
    lines = [
        "| GIN, accuracy % | removed | dense | ticket | paper: dense | paper: ticket | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for (dataset, model, level), r in sorted_rows(rows):
        if model == "gin":
            lines.append(
                f"| {dataset}, {r['seeds']} seeds | {float(level):.0%} "
                f"| {float(r['dense_mean']):.2f} ± {float(r['dense_std']):.2f} "
                f"| {float(r['ticket_mean']):.2f} ± {float(r['ticket_std']):.2f} "
                f"| {PAPER[dataset][0]} | {PAPER[dataset][1 + LEVELS.index(float(level))]} "
                f"| {r['verdict']} |"
            )
    return "\n".join(lines)


def sorted_rows(
    rows: dict[tuple[str, ...], dict[str, Any]],
) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    order: dict[tuple[str, ...], int] = {
        (d, m, str(level)): i for i, (d, m, level) in enumerate(SETTINGS)
    }
    return sorted(rows.items(), key=lambda item: order.get(item[0], len(order)))


def key(found: dict[str, Any]) -> tuple[str, ...]:
    return found["dataset"], found["model"], str(found["graph_sparsity"])


def save(rows: dict[tuple[str, ...], dict[str, Any]]) -> None:
    lines = [",".join(FIELDS)]
    lines += [",".join(str(found[field]) for field in FIELDS) for _, found in sorted_rows(rows)]
    write_atomically(OUT, ("\n".join(lines) + "\n").encode())
    for page, made in ((PAGE, table(rows)), (DOCS.parent / "README.md", short_table(rows))):
        before, rest = page.read_text().split(BEGIN)
        after = rest.split(END)[1]
        write_atomically(page, f"{before}{BEGIN}\n{made}\n{END}{after}".encode())


if __name__ == "__main__":
    main()
