"""Modules of PyG in ``find_ticket`` and in a plain loop, against the built-in models.

    python -m benchmarks.own_layers --json docs/results/bench_own_layers.json

An epoch is a training step and an evaluation. The same module runs as PyG does it and on the
compiled kernels, in turns, in one process and one thread; then the built-in model. GIN and
GraphSAGE of the built-in models have the same layers as those of PyG here.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
import torch_geometric.nn as pyg
from torch import nn

import teddy
from teddy.layers import Acceleration
from teddy.models import build_model
from teddy.training.runner import Runner

KINDS = ("gcn", "gin", "sage", "gat")
HIDDEN, HEADS = 512, 8
#: Around the table of docs/performance.md.
BEGIN, END = "<!-- made by benchmarks.own_layers -->", "<!-- end -->"
PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
#: Hidden channels of each head of GAT.
OF_HEAD = 8


class Network(nn.Module):
    """Two layers of PyG with ReLU and dropout between them, as the built-in models have."""

    def __init__(self, kind: str, features: int, classes: int) -> None:
        super().__init__()
        self.first, self.last = layers(kind, features, classes)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> Any:
        """Compute the logits."""
        h = F.dropout(self.first(x, edge_index).relu(), 0.5, self.training)
        return self.last(h, edge_index)


def layers(kind: str, features: int, classes: int) -> tuple[nn.Module, nn.Module]:
    """Two layers of a kind."""
    if kind == "gat":
        return (
            pyg.GATConv(features, OF_HEAD, heads=HEADS),
            pyg.GATConv(OF_HEAD * HEADS, classes, heads=1),
        )
    if kind == "gin":
        return (
            pyg.GINConv(nn.Linear(features, HIDDEN), train_eps=True),
            pyg.GINConv(nn.Linear(HIDDEN, classes), train_eps=True),
        )
    layer = {"gcn": pyg.GCNConv, "sage": pyg.SAGEConv}[kind]
    return layer(features, HIDDEN), layer(HIDDEN, classes)


def main() -> None:
    """Print a row for each data set and kind, and write JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", default="citeseer,pubmed,arxiv-surrogate")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, default=Path("bench_own_layers.json"))
    parser.add_argument("--page", action="store_true", help="write the table of the page, too")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = own_layers(options.sets.split(","), options.repeats)
    result = {"torch": torch.__version__, "pyg": _version(), "rows": rows,
              "machine": platform.machine()}  # fmt: skip
    options.json.write_text(json.dumps(result, indent=1) + "\n")
    if options.page:
        before, rest = PAGE.read_text().split(BEGIN)
        text = "\n".join([f"{before}{BEGIN}", *table(rows), END]) + rest.split(END, 1)[1]
        PAGE.write_text(text)


def own_layers(names: list[str], repeats: int) -> list[dict[str, Any]]:
    """Milliseconds of an epoch in each way."""
    rows = []
    for name in names:
        data = teddy.load_dataset(name)
        if data.x.layout != torch.strided:
            data.x = data.x.to_dense()
        for kind in KINDS if name != "arxiv-surrogate" else ("gcn", "sage"):
            rows.append({"dataset": name, "kind": kind, **epochs(data, kind, repeats)})
            print(line(rows[-1]), flush=True)
    return rows


def epochs(data: Any, kind: str, repeats: int) -> dict[str, Any]:
    """Fastest epoch of each way, in milliseconds."""
    classes = int(data.y.max()) + 1
    network = Network(kind, data.x.size(1), classes)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    options = {"hidden_channels": HIDDEN}
    if kind == "gat":
        options = {"hidden_channels": OF_HEAD, "heads": HEADS}
    built_in = build_model(kind, data.x.size(1), classes, **options)
    runner = Runner.from_data(built_in, data)
    own_optimizer = torch.optim.Adam(built_in.parameters(), lr=0.01)
    acceleration = Acceleration(network)

    def plain() -> None:
        network.train()
        step(lambda: network(data.x, data.edge_index), data, optimizer)
        network.eval()
        with torch.no_grad():
            network(data.x, data.edge_index)

    def fast() -> None:
        with acceleration:
            plain()

    def own() -> None:
        step(runner.training_logits, data, own_optimizer)
        runner.evaluation_logits()

    times: dict[str, list[float]] = {"pyg": [], "accelerated": [], "built_in": []}
    ways = {"pyg": plain, "accelerated": fast, "built_in": own}
    for way in ways.values():  # compiles what has to be
        way()
    for _ in range(repeats):
        for label, way in ways.items():
            started = time.perf_counter()
            way()
            times[label].append(1e3 * (time.perf_counter() - started))
    return {label: min(seen) for label, seen in times.items()}


def step(logits: Callable[[], torch.Tensor], data: Any, optimizer: Any) -> None:
    """One training step."""
    optimizer.zero_grad()
    F.cross_entropy(logits()[data.train_mask], data.y[data.train_mask]).backward()
    optimizer.step()


def table(rows: list[dict[str, Any]]) -> list[str]:
    """The rows of docs/performance.md, in Markdown."""
    lines = [
        "| data set, layers | PyG | accelerated | faster | built-in | accelerated / built-in |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        pyg_ms, fast, built_in = (row[name] for name in ("pyg", "accelerated", "built_in"))
        lines.append(
            f"| {row['dataset']}, {row['kind']} | {pyg_ms:,.0f} | {fast:,.0f} | "
            f"{pyg_ms / fast:.1f}x | {built_in:,.0f} | {fast / built_in:.1f} |"
        )
    return lines


def line(row: dict[str, Any]) -> str:
    """A row as text."""
    return (
        f"{row['dataset']:16}{row['kind']:6} PyG {row['pyg']:8.0f} ms, accelerated "
        f"{row['accelerated']:7.0f} ms ({row['pyg'] / row['accelerated']:5.1f}x), built-in "
        f"{row['built_in']:7.0f} ms (accelerated takes "
        f"{row['accelerated'] / row['built_in']:.1f}x as long)"
    )


def _version() -> str:
    import torch_geometric

    return str(torch_geometric.__version__)


if __name__ == "__main__":
    main()
