"""Data sets loaded for a ticket: labels may be missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch_geometric.data import Data, HeteroData

from teddy.tasks.load import load_to_predict
from teddy.tasks.registry import kind_from, task_from


def load_for_ticket(
    dataset: str,
    info: Any,
    split: str | None = None,
    split_seed: int | None = None,
    nodes: Path | None = None,
    data_dir: Path | None = None,
) -> Data | HeteroData:
    """Load data for a ticket.

    Labels may be missing, and have the ticket's numbers. A split that is asked for must be there,
    or be drawn; the ticket's own is drawn if it can be.

    Args:
        dataset: Name or path.
        info: Header of the ticket.
        split: Name of a split; None: the ticket's.
        split_seed: Seed of a split that is drawn; None: the ticket's.
        nodes: Node table of an edge list.
        data_dir: Folder of raw data sets.
    """
    task = task_from(info.task)
    kind, classes = kind_from(task, info), list[str]()
    if "classes" in info.graph:
        classes = info.classes or [str(number) for number in range(info.graph["classes"])]
    data = load_to_predict(
        dataset, classes=classes, data_dir=data_dir, nodes=nodes, task=task.name,
        directed=bool((kind.header or info.graph).get("directed", False)),
        target=kind.header.get("target"), self_loops=info.graph.get("self_loops", False),
        integers="integer_x" in info.graph,
    )  # fmt: skip
    return kind.with_split(data, split, split_seed, dataset)
