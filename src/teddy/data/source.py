"""A graph as it came, by name or from a path; and the kinds of data that a task can have."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from torch_geometric.data import Batch, Data, HeteroData

from teddy.data.catalog import DATASETS
from teddy.data.files import read_path
from teddy.data.graphs import TASK as OF_GRAPHS
from teddy.data.graphs import as_batch
from teddy.data.links import LINKS
from teddy.errors import InputError

StrPath = str | os.PathLike[str]


def read_source(
    name: StrPath,
    data_dir: StrPath | None,
    nodes: StrPath | None,
    task: str,
    classes: Sequence[str] | None = None,
    target: str | None = None,
    directed: bool = False,
) -> tuple[Data, str, str]:
    """Read a data set by its name, or a file or folder of the user's.

    Args:
        name: See :func:`teddy.data.load_dataset`, as of the others.
        data_dir: Folder of raw data sets.
        nodes: Node table of an edge list.
        task: The task, which some kinds of data do not have.
        classes: See :func:`teddy.data.tables.read_tables`.
        target: Node type with labels, of a heterogeneous graph.
        directed: Whether relations of a folder get no reverse.

    Returns:
        The graph as it came, or a ``Batch`` of several; its name in messages; its name.
    """
    key = name.lower() if isinstance(name, str) else ""
    path = _home(name)
    looks_like_a_path = not isinstance(name, str) or os.sep in name or path.suffix or path.exists()
    if name and key not in DATASETS and looks_like_a_path:
        table = None if nodes is None else _home(nodes)
        raw, source = read_path(path, table, task, classes, target, directed)
        label = path.name or path.resolve().name
    else:
        entry = DATASETS[key]
        if nodes is not None:
            raise InputError(f"nodes (--nodes) is '{nodes}', expected only beside an edge list")
        raw, source, label = entry.read(None if data_dir is None else Path(data_dir)), key, key
    if isinstance(raw, list):
        raw = as_batch(raw, source)
    if isinstance(raw, HeteroData) and task in (LINKS, OF_GRAPHS):
        raise InputError(
            f"{source}: has several kinds of nodes, expected one kind for the task {task}"
        )
    if target is not None and not isinstance(raw, HeteroData):
        raise InputError(f"{source}: has one kind of node, expected no target (--target)")
    if isinstance(raw, Batch) and task not in (OF_GRAPHS, "classification"):
        raise InputError(f"{source}: is a set of graphs, expected the task {OF_GRAPHS} (--task)")
    if task == OF_GRAPHS and not isinstance(raw, Batch):
        raise InputError(f"{source}: is one graph, expected several for the task {OF_GRAPHS}")
    return raw, source, label


def _home(path: StrPath) -> Path:
    """Expand a leading ~ where that means something."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)
