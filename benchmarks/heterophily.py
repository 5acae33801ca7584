"""Edge scores on homophilous and heterophilous graphs.

    python -m benchmarks.heterophily --models gcn,gin --seeds 3 --json heterophily.json

The graphs are synthetic: CiteSeer's nodes, features, labels, split and number of edges. Edges are
drawn so that a given share, the homophily, joins two nodes of one class. Nodes are drawn by their
degrees in CiteSeer, so hubs stay hubs. Tickets are trained without distillation, which hides the
effect of the edges.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

import teddy
from teddy.graph import Edges
from teddy.methods import METHODS, SparsityLevel, make_problem
from teddy.methods.auto import SCORES_TO_TRY
from teddy.settings import Settings
from teddy.sweep.statistics import paired_difference
from teddy.ticket import TicketInfo

SCORES = ("random", "teddy", "degree-high", "degree-low", "cosine", "agreement", "gain")


def rewired(data: Data, homophily: float, seed: int = 0) -> Data:
    """Redraw the edges so that a share of them joins nodes of one class.

    Example:
        >>> data = teddy.load_dataset("citeseer")
        >>> graph, _ = Edges.from_columns(rewired(data, 0.2).edge_index, data.num_nodes)
        >>> same = data.y[graph.pairs[0]] == data.y[graph.pairs[1]]
        >>> graph.num_edges, round(float(same.float().mean()), 2)
        (4552, 0.2)
    """
    graph, _ = Edges.from_columns(data.edge_index, data.num_nodes)
    rng = np.random.default_rng(seed)
    share = graph.degree.numpy() / int(graph.degree.sum())
    y, wanted = data.y.numpy(), graph.num_edges
    same_class = round(homophily * wanted)
    drawn: dict[bool, set[tuple[int, int]]] = {True: set(), False: set()}
    counts = {True: same_class, False: wanted - same_class}
    while any(len(drawn[kind]) < counts[kind] for kind in drawn):
        for one, other in rng.choice(y.size, (wanted, 2), p=share).tolist():
            kind = bool(y[one] == y[other])
            if one != other and len(drawn[kind]) < counts[kind]:
                drawn[kind].add((min(one, other), max(one, other)))
    edges = torch.tensor(sorted(drawn[True] | drawn[False])).t()
    changed = data.clone()
    changed.edge_index = torch.cat([edges, edges.flip(0)], dim=1)
    changed.name = f"citeseer-synthetic-homophily-{homophily:g}"
    return changed


def compare(
    model: str, homophily: float, level: int, seeds: int, epochs: int = 200, **options: Any
) -> Iterator[dict[str, Any]]:
    """Compare tickets of every score at one homophily, on one graph for each seed."""
    problems = [
        make_problem(
            rewired(teddy.load_dataset("citeseer"), homophily, seed), model,
            Settings.from_dict({"epochs": epochs, "distill": 0.0, **options}), seed,
        )
        for seed in range(seeds)
    ]  # fmt: skip
    infos_by_score: dict[str, list[TicketInfo]] = {}
    for score in (*SCORES, "auto"):
        if score == "auto":  # the best of the same tickets on validation
            tried = zip(*(infos_by_score[name] for name in SCORES_TO_TRY.split("+")), strict=True)
            infos_by_score[score] = [
                max(infos, key=lambda info: info.ticket.val) for infos in tried
            ]
        else:
            tickets = [
                METHODS[score].tickets(problem, [SparsityLevel.from_schedule(level)])
                for problem in problems
            ]
            infos_by_score[score] = [next(ticket).info for ticket in tickets]
        test, baseline = (
            [info.ticket.test for info in infos_by_score[name]] for name in (score, "random")
        )
        test_rows = int(problems[0].prepared.test_mask.sum())
        over = paired_difference(test, baseline, test_rows=test_rows)
        yield {
            "model": model,
            "homophily": homophily,
            "simulation": level,
            "score": score,
            "chosen": [info.score for info in infos_by_score[score]],
            "dense": [info.dense.test for info in infos_by_score[score]],
            "test": test,
            "over_random": None if score == "random" else vars(over),
        }


def main() -> None:
    """Print a table and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="gcn,gin")
    parser.add_argument("--homophily", default="0.1,0.3,0.5,0.7,0.9")
    parser.add_argument("--level", type=int, default=20, help="level of the paper's schedule")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--hidden-channels", type=int, default=512)
    parser.add_argument("--json", type=Path, default=Path("heterophily.json"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print("| model | homophily | dense | " + " | ".join((*SCORES, "auto")) + " |")
    print("|---" * (4 + len(SCORES)) + "|")
    rows: list[dict[str, Any]] = []
    shares = [float(share) for share in arguments.homophily.split(",")]
    for model, share in product(arguments.models.split(","), shares):
        compared = list(
            compare(
                model, share, arguments.level, arguments.seeds, arguments.epochs,
                hidden_channels=arguments.hidden_channels,
            )
        )  # fmt: skip
        rows += compared
        cells = [f"{statistics.mean(values):.1f}" for values in
                 (compared[0]["dense"], *(row["test"] for row in compared))]  # fmt: skip
        print(f"| {model} | {share:g} | " + " | ".join(cells) + " |", flush=True)
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
