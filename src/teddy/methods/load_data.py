"""A data set loaded as the settings of a search ask for."""

from __future__ import annotations

from typing import Any

from torch_geometric.data import Batch

from teddy.capabilities import check_combination
from teddy.errors import InputError
from teddy.methods.parts import settings_parts
from teddy.settings import Settings
from teddy.store.atomic import StrPath
from teddy.tasks import load_dataset, parse_task


def load_data(name: StrPath, settings: Settings) -> Any:
    """Load a data set by its name or path, split and checked for the task.

    Args:
        name: Name or path.
        settings: The settings tree.

    Example:
        >>> load_data("citeseer", Settings.from_dict({"split": "20/40/40"})).split
        '20/40/40'
    """
    task, asked = parse_task(settings.task.task), settings.data
    check_combination(settings_parts(settings))
    data = load_dataset(
        name, split=asked.split, seed=asked.split_seed or 0, data_dir=asked.data_dir,
        nodes=asked.nodes, task=task.name, directed=settings.task.directed,
        target=settings.task.target,
    )  # fmt: skip
    if isinstance(data, Batch) and task.kind.name != "graph":
        raise InputError(
            f"{name}: is a set of graphs, expected one graph for the task {task.name}; the task of "
            "sets is graph-classification"
        )
    if asked.split_seed and "split_seed" not in data:
        raise InputError(
            f"split_seed is {asked.split_seed}, and the split came with {name}; expected a split "
            "to draw, too"
        )
    return data
