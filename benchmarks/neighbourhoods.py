"""Mini-batches of whole neighbourhoods against METIS partitions and the full batch.

    python -m benchmarks.neighbourhoods --json docs/results/bench_neighbourhoods.json

A GCN is trained on arxiv-surrogate with 64% of the edges removed by TEDDY, without distillation.
Every training is a process of its own, in one thread, whose peak memory is measured beside that of
a process which only loads and prunes the graph.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

import torch

import teddy
from teddy.models import build_model
from teddy.settings import TrainConfig
from teddy.training import as_loader, seeded, train

SPARSITY, HIDDEN_CHANNELS = 0.64, 256
#: Loader and number of epochs.
LOADERS = (
    ("none", 0), ("full batch", 60), ("partitions:parts=64:batch=4:together=1", 15),
    ("neighbourhoods:batch=4096", 5), ("neighbourhoods:batch=512", 3),
)  # fmt: skip


def main() -> None:
    """Run every loader in a process of its own and write JSON; or be such a process."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dataset", default="arxiv-surrogate")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", type=Path, default=Path("bench_neighbourhoods.json"))
    parser.add_argument("--one", help="a loader, its epochs and a seed, separated by commas")
    options = parser.parse_args()
    if options.one:
        loader, epochs, seed = options.one.split(",")
        print(json.dumps(one(options.dataset, loader, int(epochs), int(seed))))
        return
    rows = []
    for loader, epochs in LOADERS:
        runs = [in_process(options.dataset, loader, epochs, s) for s in range(options.seeds)]
        if loader == "none":
            loaded = min(run["megabytes"] for run in runs)
            continue
        rows.append({
            "loader": loader, "epochs": epochs, "tests": [run["test"] for run in runs],
            "seconds": mean(run["seconds"] for run in runs), "steps": runs[0]["steps"],
            "megabytes": mean(run["megabytes"] for run in runs) - loaded,
        })  # fmt: skip
        print(line(rows[-1]), flush=True)
    result = {
        "dataset": options.dataset, "sparsity": SPARSITY, "hidden_channels": HIDDEN_CHANNELS,
        "loaded_megabytes": loaded, "torch": torch.__version__, "machine": platform.machine(),
        "rows": rows,
    }  # fmt: skip
    options.json.write_text(json.dumps(result, indent=1) + "\n")


def in_process(dataset: str, loader: str, epochs: int, seed: int) -> dict[str, Any]:
    """Run one training in a new process."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.neighbourhoods", "--dataset", dataset,
         "--one", f"{loader},{epochs},{seed}"],
        check=True, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def one(dataset: str, loader: str, epochs: int, seed: int) -> dict[str, Any]:
    """Train once."""
    torch.set_num_threads(1)
    data = teddy.load_dataset(dataset)
    keep = teddy.prune_edges(data.edge_index, SPARSITY, num_nodes=data.num_nodes)
    data.edge_index = data.edge_index[:, keep]
    found: dict[str, Any] = {}
    if loader != "none":
        steps = 0

        def count() -> None:
            nonlocal steps
            steps += 1

        labels = int(data.y.max()) + 1
        every = 5 if loader == "full batch" else 1
        with seeded(seed):
            model = build_model("gcn", data.x.size(1), labels, hidden_channels=HIDDEN_CHANNELS)
            result = train(
                model, data, TrainConfig(epochs=epochs, distill=0.0, evaluate_every=every),
                loader=None if loader == "full batch" else as_loader(loader), after_step=count,
            )  # fmt: skip
        found = {"test": result.test, "seconds": result.seconds, "steps": steps}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {**found, "megabytes": peak}


def table(rows: list[dict[str, Any]]) -> list[str]:
    """The rows of docs/results.md, in Markdown."""
    lines = [
        "| loader | epochs | steps | seconds | MB | test accuracy |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        accuracy = f"{mean(row['tests']):.1f} ± {pstdev(row['tests']):.1f}"
        cells = (row["epochs"], row["steps"], f"{row['seconds']:.0f}", f"{row['megabytes']:,.0f}")
        lines.append(f"| {row['loader']} | {' | '.join(map(str, cells))} | {accuracy} |")
    return lines


def line(row: dict[str, Any]) -> str:
    """A row as text."""
    return (
        f"{row['loader']:42}{row['epochs']:4} epochs {row['steps']:6} steps "
        f"{row['seconds']:7.1f} s {row['megabytes']:7.0f} MB  "
        f"{mean(row['tests']):.1f} ± {pstdev(row['tests']):.1f}"
    )


if __name__ == "__main__":
    main()
