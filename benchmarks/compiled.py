"""Inference time and accuracy of tickets, unstructured and structured.

    python -m benchmarks.compiled --sets citeseer,pubmed --models gcn,gin --levels 20,40 \
        --seeds 3 --epochs 200 --json compiled.json

Each ticket is compiled and timed against the dense model compiled in the same way, with the same
sparse features: medians of passes in turn, in one process; of several seeds the median again.
Tickets are stored (``--tickets``), so a rerun only times them.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import torch

import teddy
from teddy.methods import METHODS, Problem, SparsityLevel, make_problem
from teddy.settings import Settings
from teddy.sweep.grid import file_name
from teddy.ticket import Ticket
from teddy.ticket.speed import measure

STRUCTURES = ("none", "neurons")


def inference(
    name: str,
    model: str,
    levels: list[int],
    seeds: int = 3,
    epochs: int = 200,
    seconds: float = 1.0,
    structures: tuple[str, ...] = STRUCTURES,
    tickets: Path | None = None,
    **options: Any,
) -> Iterator[dict[str, Any]]:
    """Find and time tickets of a data set and a model; one dense model for each seed.

    Args:
        name: The data set.
        model: The model's name.
        levels: Levels of the paper's schedule.
        seeds: Number of seeds.
        epochs: Epochs of each training.
        seconds: Time spent on each way.
        structures: Projections, of single weights or whole units.
        tickets: Folder of stored tickets, read and extended.
        options: Options of the model.
    """
    data = teddy.load_dataset(name)
    problems = [
        make_problem(data, model, Settings.from_dict({"epochs": epochs, **options}), seed)
        for seed in range(seeds)
    ]
    for level, structure in product(levels, structures):
        dense, ticket, ways = [], [], []
        for problem in problems:
            settings = level, structure, problem.seed, epochs, *sorted(options.items())
            key = file_name(name, model, *map(str, settings))
            sparse = _kept(problem, level, structure, tickets and tickets / f"{key}.ticket")
            dense.append(sparse.info.dense.test)
            ticket.append(sparse.info.ticket.test)
            ways.append(measure(sparse, data, seconds))
        passes = [_middle([asdict(timed) for timed in same]) for same in zip(*ways, strict=True)]
        first, last = passes[0], passes[-1]
        yield {
            "dataset": name,
            "model": model,
            "simulation": level,
            "structure": structure,
            "dense": dense,
            "ticket": ticket,
            "passes": passes,
            "fewer_macs": first["macs"] / last["macs"],
            "faster": first["milliseconds"] / last["milliseconds"],
        }


def _kept(problem: Problem, level: int, structure: str, path: Path | None) -> Ticket:
    """Load the ticket of a file, or find and store it there."""
    if path is not None and path.exists():
        return Ticket.load(path)
    (ticket,) = METHODS["teddy"].tickets(
        problem, [SparsityLevel.from_schedule(level)], structure=structure
    )
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        ticket.save(path)
    return ticket


def _middle(passes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return medians over seeds."""
    numbers = ("milliseconds", "macs", "weights")
    return {**passes[0], **{n: statistics.median(p[n] for p in passes) for n in numbers}}


def line(row: dict[str, Any]) -> str:
    """Return a line of the table."""
    times = " | ".join(f"{timed['milliseconds']:.2f}" for timed in row["passes"])
    return (
        f"| {row['dataset']} {row['model']} | {row['simulation']} | {row['structure']} "
        f"| {statistics.mean(row['dense']):.2f} | {statistics.mean(row['ticket']):.2f} "
        f"| {row['fewer_macs']:.1f}x | {times} | {row['faster']:.2f}x |"
    )


HEADING = (
    "| set, model | level | structure | dense % | ticket % | fewer MACs | dense, ms "
    "| + sparse graph | + sparse weights | + compiled | faster |\n" + 11 * "|---" + "|"
)


def main() -> None:
    """Print a table and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default="citeseer,pubmed")
    parser.add_argument("--models", default="gcn,gin")
    parser.add_argument("--levels", default="20,40", help="levels of the paper's schedule")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1, help="threads of both sides")
    parser.add_argument("--tickets", type=Path, default=Path("runs/compiled"))
    parser.add_argument("--json", type=Path, default=Path("compiled.json"))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    result: dict[str, Any] = {
        "threads": arguments.threads,
        "seeds": arguments.seeds,
        "epochs": arguments.epochs,
        "torch": torch.__version__,
        "machine": platform.machine(),
        "rows": [],
    }
    print(HEADING)
    levels = [int(level) for level in arguments.levels.split(",")]
    for name, model in product(arguments.sets.split(","), arguments.models.split(",")):
        compared = inference(
            name, model, levels, arguments.seeds, arguments.epochs, tickets=arguments.tickets
        )
        for row in compared:
            result["rows"].append(row)
            print(line(row), flush=True)
            # Written at once: the next row may take long.
            arguments.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
