"""Mini-batch training on partitions against full batch, and two processes against one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

import teddy
from teddy.sparsity import schedule_sparsity

MODEL, LEVEL = "gcn", 5
LOADER = "partitions:parts=32:batch=4"


def accuracies(
    names: tuple[str, ...] = ("citeseer", "pubmed"), seeds: int = 3, epochs: int = 200
) -> Iterator[dict[str, Any]]:
    """Test accuracies of dense model and ticket, in full batch and on partitions."""
    level = schedule_sparsity(LEVEL)
    for name in names:
        data = teddy.load_dataset(name)
        for loader in (None, LOADER):
            tickets = [
                teddy.find_ticket(
                    data, MODEL, level, level, seed=seed, epochs=epochs, loader=loader
                )
                for seed in range(seeds)
            ]
            row: dict[str, Any] = {"work": f"{name} {MODEL}", "loader": loader or "full batch"}
            for kind in ("dense", "ticket"):
                tests = [getattr(ticket.info, kind).test for ticket in tickets]
                row[kind] = {"tests": tests, "mean": mean(tests), "std": pstdev(tests)}
            trained = sum(ticket.seconds[p] for ticket in tickets for p in ("dense", "sparse"))
            row["ms_per_epoch"] = 1e3 * trained / (2 * epochs * seeds)
            yield row


def processes(
    name: str = "pubmed", epochs: int = 50, counts: tuple[int, ...] = (1, 2), every: int = 5
) -> dict[str, Any]:
    """Training seconds and accuracy by number of processes, one thread each."""
    level = str(schedule_sparsity(LEVEL))
    runs: dict[int, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for count in counts:
            ticket = Path(folder) / f"{count}.ticket"
            done = subprocess.run(
                [
                    sys.executable, "-m", "torch.distributed.run", "--standalone",
                    "--nproc-per-node", str(count), "-m", "teddy", "find", name,
                    "--model", MODEL, "--graph-sparsity", level, "--weight-sparsity", level,
                    "--epochs", str(epochs), "--evaluate-every", str(every), "--loader", LOADER,
                    "--threads", "1", "--json", "--out", str(ticket),
                ],
                check=True, capture_output=True, text=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )  # fmt: skip
            result = json.loads(done.stdout.splitlines()[-1])
            runs[count] = {
                "seconds": result["seconds"]["dense"] + result["seconds"]["sparse"],
                "dense": result["dense"]["test"][0],
                "ticket": result["ticket"]["test"][0],
                "file": ticket.read_bytes(),
            }
        same = len({run.pop("file") for run in runs.values()}) == 1
    return {
        "work": f"{name} {MODEL}, {epochs} epochs on partitions, 1 process against {counts[-1]}",
        "runs": runs,
        "same_ticket": same,
        "ratio": runs[1]["seconds"] / runs[counts[-1]]["seconds"],
    }
