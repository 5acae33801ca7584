"""Your own task in one file: edge regression, such as ratings, in find, sweep and report.

As a script it makes a data set, finds a ticket, sweeps two methods and writes a report:

    python examples/own_task.py FOLDER

As a plugin it adds the task to any command: ``--load own_task.py --task edge-regression``.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data

import teddy
from teddy.data.targets import Numbers
from teddy.graph import Edges
from teddy.settings import setting
from teddy.tasks import TASKS, LinkKind, Regression


class NumbersOfLinks(Numbers):
    """One number per link; messages call a row a link."""

    of, column = "link", None


class RatedLinks(LinkKind):
    """Links with a value: some are training edges, the others are held out of the graph."""

    def with_rows(self, data, split=None, seed=0, source="data"):
        """Return a graph of the training edges, and all edges as rows: pairs, numbers, masks."""
        if "edge_label_index" in data:
            return data
        edges = Edges.from_edge_index(data.edge_index, data.num_nodes, {"weight": data.edge_weight})
        pairs, once = edges.pairs, edges.messages.index[0] < edges.messages.index[1]
        shares = [int(share) / 100 for share in (split or "70/15/15").split("/")]
        order = torch.rand(edges.num_edges, generator=torch.Generator().manual_seed(seed)).argsort()
        cuts = [round(sum(shares[:end]) * edges.num_edges) for end in (1, 2)]
        masks = [torch.zeros(edges.num_edges, dtype=torch.bool) for _ in range(3)]
        for mask, part in zip(masks, order.tensor_split(cuts), strict=True):
            mask[part] = True
        return Data(
            x=data.x, edge_index=edges.subset(masks[0]).messages.index, edge_label_index=pairs,
            edge_label=edges.messages.values["weight"][once], train_mask=masks[0],
            val_mask=masks[1], test_mask=masks[2], num_nodes=data.num_nodes,
            split=split or "70/15/15", split_seed=seed,
        )  # fmt: skip


@TASKS.register("edge-regression")
@dataclass(frozen=True)
class EdgeRegression(Regression):
    """Predict a number per edge as the inner product of its ends; squared error and R2."""

    name, kind, targets = "edge-regression", RatedLinks, NumbersOfLinks()

    dimensions: int = setting(16, "Outputs per node.", low=1)


def ratings(people: int = 120, seed: int = 0) -> Data:
    """Return people with tastes, and ratings of pairs by their tastes."""
    random = torch.Generator().manual_seed(seed)
    taste = torch.randn(people, 4, generator=random)
    pairs = torch.randint(people, (2, 12 * people), generator=random)
    pairs = Edges.from_edge_index(pairs, people).pairs
    rating = (taste[pairs[0]] * taste[pairs[1]]).sum(dim=1)
    return Data(x=taste, edge_index=pairs, edge_weight=rating, num_nodes=people)


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/own-task")
    folder.mkdir(parents=True, exist_ok=True)
    data = ratings()
    values = {name: data[name].numpy() for name in ("x", "edge_index", "edge_weight")}
    np.savez(folder / "ratings.npz", **values)

    links = RatedLinks(EdgeRegression()).with_rows(data)
    ticket = teddy.find_ticket(
        links, "sage", 0.3, 0.3, task=EdgeRegression(dimensions=8), epochs=60, hidden_channels=32
    )
    print(ticket)

    plugin = ["--load", __file__, "--task", "edge-regression"]
    sweep = ["sweep", folder / "ratings.npz", "--models", "sage", "--methods", "teddy,random"]
    few = ["--levels", "0,5", "--seeds", "3", "--epochs", "60", "--hidden-channels", "32"]
    few += ["--jobs", "1"]  # trainings of a second each
    page = ["report", folder / "sweep", "--out", folder / "report.html"]
    for words in ([*sweep, *plugin, *few, "--out", folder / "sweep"], page):
        subprocess.run([sys.executable, "-m", "teddy", *map(str, words)], check=True)
