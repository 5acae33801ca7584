"""Tickets for link prediction and graph classification, by TEDDY and random edges.

    python -m benchmarks.tasks --runs citeseer:gcn,cora:gin --levels 0,5,10,20 \
        --methods teddy,random --seeds 3 --json tasks.json
    python -m benchmarks.tasks --task graph-classification --json graphs.json

Levels are those of the paper's schedule, the same for edges and weights; 0 is the dense model. Each
seed has its own split, unless the data set has one, and one dense model, so differences are paired
over seeds. Each ticket is found with distillation (lambda 10, on training rows only) and without.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch_geometric.data import Data

import teddy
from teddy.methods import METHODS, Problem, SparsityLevel, make_problem
from teddy.methods.store import MemoryStore
from teddy.settings import Settings
from teddy.sweep.statistics import paired_difference, spread
from teddy.tasks import TASKS

#: With the dense model as a teacher, and without.
DISTILL = (10.0, 0.0)

#: Loader of each task's data, by name and seed of the split.
DATA: dict[str, Callable[[str, int], Data]] = {
    "link-prediction": lambda name, seed: teddy.load_dataset(
        name, task="link-prediction", seed=seed
    ),
    "graph-classification": lambda name, seed: teddy.load_dataset(
        name, task="graph-classification", seed=seed
    ),
}

#: Default data sets and models of each task.
RUNS = {
    "link-prediction": "citeseer:gcn,citeseer:gin",
    "graph-classification": "solubility:gcn,solubility:gin",
}


def compare(
    task: str,
    dataset: str,
    model: str,
    levels: list[int],
    methods: list[str],
    seeds: int,
    epochs: int = 200,
    **options: Any,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each method, level and distillation; the first is the dense model's.

    Args:
        task: Name of the task.
        dataset: Name of the data set.
        model: Name of the encoder.
        levels: Levels of the paper's schedule; 0, the dense model, is always included.
        methods: Methods or edge scores; others are compared with ``random``, if included.
        seeds: Number of seeds.
        epochs: Epochs of each training.
        options: Options of the model and the task.

    Example:
        >>> rows = list(compare("link-prediction", "citeseer", "gcn", [5], ["random"], 1, 2,
        ...     hidden_channels=8, dimensions=4))
        >>> [(row["method"], row["level"], row["distill"]) for row in rows]
        [('dense', 0, None), ('random', 5, 10.0), ('random', 5, 0.0)]
    """
    problems = [
        dict(_problems(task, dataset, model, seed, epochs, options)) for seed in range(seeds)
    ]
    metadata = {"task": task, "dataset": dataset, "model": model}
    dense = [pair[DISTILL[0]].dense().accuracy.test for pair in problems]
    test_rows = int(problems[0][DISTILL[0]].prepared.test_mask.sum())
    yield {**metadata, "method": "dense", "level": 0, "distill": None, "test": dense}
    random_tests: dict[tuple[int, float], list[float]] = {}
    for method, level, distill in product(
        sorted(methods, key="random".__ne__), [level for level in levels if level], DISTILL
    ):
        (tickets,) = zip(
            *(
                METHODS[method].tickets(pair[distill], [SparsityLevel.from_schedule(level)])
                for pair in problems
            ),
            strict=True,
        )
        infos = [ticket.info for ticket in tickets]
        test = [info.ticket.test for info in infos]
        if method == "random":
            random_tests[level, distill] = test
        baseline = random_tests.get((level, distill))
        row = {**metadata, "method": method, "level": level, "distill": distill, "test": test}
        row["over_dense"] = vars(paired_difference(test, dense, test_rows=test_rows))
        if method != "random" and baseline is not None:
            row["over_random"] = vars(paired_difference(test, baseline, test_rows=test_rows))
        if infos[0].links is not None:
            row["hits"] = [info.links["hits"]["ticket"]["test"] for info in infos if info.links]
        yield row


def _problems(
    task: str, dataset: str, model: str, seed: int, epochs: int, options: dict[str, Any]
) -> Iterator[tuple[float, Problem]]:
    """The problem of a seed with and without distillation; they share the dense model."""
    data, store, kind = DATA[task](dataset, seed), MemoryStore(), TASKS[task]
    task_options = {k: value for k, value in options.items() if k in kind.defaults()}
    rest = {name: value for name, value in options.items() if name not in task_options}
    for distill in DISTILL:
        settings = {"epochs": epochs, "distill": distill, "task": kind(**task_options), **rest}
        yield distill, make_problem(data, model, Settings.from_dict(settings), seed, store=store)


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Lines of a Markdown table: one for each method with and without distillation."""
    levels = sorted({row["level"] for row in rows if row["level"]})
    head = [f"{1 - 0.95**level:.0%} removed" for level in levels]
    lines = ["| | dense | " + " | ".join(head) + " |", "|---" * (2 + len(levels)) + "|"]
    runs = dict.fromkeys((row["dataset"], row["model"]) for row in rows)
    for dataset, model in runs:
        group = [row for row in rows if (row["dataset"], row["model"]) == (dataset, model)]
        kinds = dict.fromkeys((row["method"], row["distill"]) for row in group[1:])
        for method, distill in kinds:
            by_level = {row["level"]: row for row in group if row["method"] == method
                     and row["distill"] == distill}  # fmt: skip
            distilled = "distilled" if distill else "not distilled"
            cells = [_cell(group[0]), *(_cell(by_level[level]) for level in levels)]
            lines.append(f"| {dataset}, {model}, {method}, {distilled} | {' | '.join(cells)} |")
    return lines


def _cell(row: dict[str, Any]) -> str:
    text = f"{statistics.mean(row['test']):.1f} ± {spread(row['test']):.1f}"
    over = row.get("over_random")
    if over is None:
        return text
    if over["low"] is None:
        return f"{text} ({over['mean']:+.1f} to random)"
    return f"{text} ({over['mean']:+.1f} to random, [{over['low']:+.1f}, {over['high']:+.1f}])"


def main() -> None:
    """Print a table and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="link-prediction", choices=list(DATA))
    parser.add_argument("--runs", help="data sets and models, such as citeseer:gcn,citeseer:gin")
    parser.add_argument("--levels", default="0,5,10,20", help="levels of the paper's schedule")
    parser.add_argument("--methods", default="teddy,random")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--hidden-channels", type=int)
    parser.add_argument("--json", type=Path, default=Path("tasks.json"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    options = (
        {} if arguments.hidden_channels is None else {"hidden_channels": arguments.hidden_channels}
    )
    levels = [int(level) for level in arguments.levels.split(",")]
    rows: list[dict[str, Any]] = []
    for run in (arguments.runs or RUNS[arguments.task]).split(","):
        dataset, _, model = run.partition(":")
        for row in compare(
            arguments.task, dataset, model, levels, arguments.methods.split(","), arguments.seeds,
            arguments.epochs, **options,
        ):  # fmt: skip
            rows.append(row)
            arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
