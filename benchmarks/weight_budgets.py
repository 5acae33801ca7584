"""Weight budgets: test accuracy of custom modules and built-in models in a plain loop.

    python -m benchmarks.weight_budgets --json docs/results/bench_weights.json

Node classification on Cora with its features reduced to 128 by a singular value decomposition, the
whole graph, no distillation, 100 epochs, the best validation epoch at the full sparsity. The rows
are written as they are computed; the same command resumes. ``--page docs/results.md`` puts the
table into the page, ``--no-run`` computes nothing.
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
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCN, GATv2Conv, GCNConv, JumpingKnowledge, SAGEConv
from torch_geometric.transforms import SVDFeatureReduction

import teddy
from teddy.models import build_model

FEATURES, CLASSES, NODES, EPOCHS = 128, 7, 2708, 100

#: Settings of the optimizer wrapper by budget name.
BUDGETS: dict[str, dict[str, Any]] = {
    "global": {"scope": "global"},
    "global, cubic ramp": {"scope": "global", "schedule": "cubic", "ramp_steps": EPOCHS // 2},
    "matrix": {"scope": "matrix"},
    "balanced": {"scope": "balanced"},
}

OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.01),
    "Adam, L2": lambda p: torch.optim.Adam(p, lr=0.01, weight_decay=5e-4),
}

SPARSITIES = (0.64, 0.8, 0.9)

#: Markers of the table in a page.
BEGIN, END = "<!-- made by benchmarks.weight_budgets -->", "<!-- end -->"


class JumpingSAGE(nn.Module):
    """Three SAGE layers with batch normalisation, whose outputs are concatenated."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.convs = nn.ModuleList(SAGEConv(n, width) for n in (FEATURES, width, width))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(3))
        self.jump, self.out = JumpingKnowledge("cat"), nn.Linear(3 * width, CLASSES)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return logits."""
        layers = []
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = F.dropout(norm(conv(x, edge_index)).relu(), 0.5, self.training)
            layers.append(x)
        logits: Tensor = self.out(self.jump(layers))
        return logits


class EmbeddedGCN(nn.Module):
    """A learned embedding of each node in place of features, then two GCN layers."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.embedding = nn.Embedding(NODES, width)
        self.first, self.last = GCNConv(width, width), GCNConv(width, CLASSES)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return logits."""
        h = self.first(self.embedding.weight, edge_index).relu()
        logits: Tensor = self.last(F.dropout(h, 0.5, self.training), edge_index)
        return logits


class GATv2(nn.Module):
    """Two GATv2 layers, four heads in the first."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.first, self.last = GATv2Conv(FEATURES, width, heads=4), GATv2Conv(4 * width, CLASSES)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return logits."""
        h = self.first(x, edge_index).relu()
        logits: Tensor = self.last(F.dropout(h, 0.5, self.training), edge_index)
        return logits


MODELS: dict[str, Callable[[], nn.Module]] = {
    "SAGE, batch norm, jumping knowledge": JumpingSAGE,
    "embedding, GCN": EmbeddedGCN,
    "GATv2": GATv2,
    "PyG GCN": lambda: GCN(FEATURES, 64, 2, CLASSES, dropout=0.5),
    "built-in gcn": lambda: build_model("gcn", FEATURES, CLASSES, hidden_channels=64),
    "built-in gin": lambda: build_model("gin", FEATURES, CLASSES, hidden_channels=64),
}


def train_once(
    data: Data, model: str, optimizer: str, sparsity: float, budget: str, seed: int, epochs: int
) -> float:
    """Test accuracy at the best validation epoch of the full sparsity, in percent."""
    torch.manual_seed(seed)
    network = MODELS[model]()
    step = OPTIMIZERS[optimizer](network.parameters())
    if sparsity:
        step = teddy.L0Projected(step, sparsity, **BUDGETS[budget])
    best = (-1.0, 0.0)
    for _ in range(epochs):
        network.train()
        step.zero_grad()
        logits = network(data.x, data.edge_index)
        F.cross_entropy(logits[data.train_mask], data.y[data.train_mask]).backward()
        step.step()
        if isinstance(step, teddy.L0Projected) and step.current_sparsity < sparsity:
            continue
        network.eval()
        with torch.no_grad():
            right = network(data.x, data.edge_index).argmax(dim=1) == data.y
        val, test = (100 * float(right[m].double().mean()) for m in (data.val_mask, data.test_mask))
        best = max(best, (val, test), key=lambda pair: pair[0])
    return best[1]


def cells(seeds: int) -> Iterator[dict[str, Any]]:
    """Yield all settings, the dense one of each group first."""
    for seed, model, optimizer in product(range(seeds), MODELS, OPTIMIZERS):
        setting = {"model": model, "optimizer": optimizer, "seed": seed}
        yield {**setting, "sparsity": 0.0, "budget": "dense"}
        for sparsity, budget in product(SPARSITIES, BUDGETS):
            yield {**setting, "sparsity": sparsity, "budget": budget}


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Lines of a Markdown table: mean test accuracy and the lowest seed.

    Example:
        >>> row = {"model": "PyG GCN", "optimizer": "AdamW", "seed": 0}
        >>> for line in table([{**row, "sparsity": 0.0, "budget": "dense", "test": 80.0},
        ...     {**row, "sparsity": 0.8, "budget": "matrix", "test": 79.0}])[2:]:
        ...     print(line)
        | PyG GCN, AdamW | 80.0 | 80% | | | 79.0 (79.0) | |
    """
    lines = [f"| model, optimizer | dense | sparsity | {' | '.join(BUDGETS)} |"]
    lines.append("|---" * (3 + len(BUDGETS)) + "|")
    tests_by_setting: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        key = row["model"], row["optimizer"], row["sparsity"], row["budget"]
        tests_by_setting.setdefault(key, []).append(row["test"])
    for model, optimizer, sparsity in product(MODELS, OPTIMIZERS, SPARSITIES):
        tests = [tests_by_setting.get((model, optimizer, sparsity, budget)) for budget in BUDGETS]
        dense = tests_by_setting.get((model, optimizer, 0.0, "dense"))
        if dense is None or not any(tests):
            continue
        texts = [f"{statistics.mean(t):.1f} ({min(t):.1f})" if t else "" for t in tests]
        cells = [
            f"{model}, {optimizer}",
            f"{statistics.mean(dense):.1f}",
            f"{sparsity:.0%}",
            *texts,
        ]
        lines.append("| " + " | ".join(cells).replace("|  |", "| |").replace("|  |", "| |") + " |")
    return [" ".join(line.split()) for line in lines]


def main() -> None:
    """Compute what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--page", type=Path, help="page to put the table into")
    parser.add_argument("--no-run", action="store_true", help="compute nothing")
    arguments = parser.parse_args()
    rows = json.loads(arguments.json.read_text()) if arguments.json.exists() else []
    known = [{name: row[name] for name in row if name != "test"} for row in rows]
    if not arguments.no_run:
        torch.set_num_threads(1)
        data = teddy.load_dataset("cora")
        data.x = data.x.to_dense()
        data = SVDFeatureReduction(FEATURES)(data)
        for cell in cells(arguments.seeds):
            if cell not in known:
                rows.append({**cell, "test": train_once(data, epochs=arguments.epochs, **cell)})
                lines = ",\n".join(json.dumps(row) for row in rows)
                arguments.json.write_text(f"[\n{lines}\n]\n")
    text = "\n".join(table(rows))
    print(text)
    if arguments.page is not None:
        before, rest = arguments.page.read_text().split(BEGIN)
        arguments.page.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
