"""Accuracy of a ticket on a graph that has grown: ``python -m benchmarks.changed``.

A ticket is found without a tenth of the nodes, none of them for training or validation. The same
weights then predict the whole graph, pruned by each rule of ``Ticket.transfer``. The baseline is a
new ticket of the whole graph.
"""

from __future__ import annotations

import argparse
import json
import statistics
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

import teddy
from teddy.data.checks import MASKS
from teddy.data.features import select_rows
from teddy.graph import Edges
from teddy.tasks import accuracy

RULES = ("scored", "training", "none")


def without(data: Data, gone: Tensor) -> Data:
    """Return the graph without some nodes; the others keep their numbers as ids."""
    graph, _ = Edges.from_columns(data.edge_index, data.num_nodes)
    part, _ = graph.induced(~gone)
    fields = {key: data[key][~gone] for key in ("y", *MASKS)}
    return Data(
        x=select_rows(data.x, ~gone),
        edge_index=part.edge_index,
        node_ids=(~gone).nonzero().flatten().tolist(),
        **fields,
    )


def new_nodes(data: Data, share: float, seed: int) -> Tensor:
    """Draw new nodes, none for training or validation, bool ``[N]``."""
    free = (~data.train_mask & ~data.val_mask).nonzero().flatten()
    order = torch.randperm(free.numel(), generator=torch.Generator().manual_seed(seed))
    new = torch.zeros(data.num_nodes, dtype=torch.bool)
    new[free[order[: round(share * data.num_nodes)]]] = True
    return new


def grown(
    data: Data, model: str, seeds: int, share: float = 0.1, **options: Any
) -> dict[str, dict[str, list[float]]]:
    """Accuracies on new nodes and on old test nodes, by rule, for each seed."""
    accuracies: dict[str, dict[str, list[float]]] = {
        rule: {"new": [], "there": []} for rule in (*RULES, "found anew")
    }
    data = data.clone()
    data.node_ids = list(range(data.num_nodes))
    for seed in range(seeds):
        new = new_nodes(data, share, seed)
        before = without(data, new)
        ticket = teddy.find_ticket(before, model, 0.64, 0.64, seed=seed, **options)
        tickets = {
            rule: ticket.transfer(data, rule, before if rule == "training" else None)
            for rule in RULES
        }
        tickets["found anew"] = teddy.find_ticket(data, model, 0.64, 0.64, seed=seed, **options)
        nodes = {"new": new & (data.y >= 0), "there": data.test_mask & ~new}
        for rule, candidate in tickets.items():
            predicted = candidate.predict(data)
            for part, mask in nodes.items():
                accuracies[rule][part].append(accuracy(predicted[mask], data.y[mask]))
    return accuracies


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="citeseer")
    parser.add_argument("--models", default="gcn,gin")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--hidden-channels", type=int, default=64)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    data = teddy.load_dataset(arguments.set)
    options = {"epochs": arguments.epochs, "hidden_channels": arguments.hidden_channels}
    result = {
        model: grown(data, model, arguments.seeds, **options)
        for model in arguments.models.split(",")
    }
    if arguments.json:
        print(json.dumps(result))
        return
    print("accuracy % on new nodes, on old test nodes; mean and standard deviation")
    for model, rules in result.items():
        print(f"{arguments.set}, {model}, {arguments.seeds} seeds")
        for rule, parts in rules.items():
            cells = [
                f"{statistics.mean(v):6.2f} ± {statistics.stdev(v):.2f}" for v in parts.values()
            ]
            print(f"  {rule:12}" + "   ".join(cells))


if __name__ == "__main__":
    main()
