"""Unchanged graphs by name or from a path."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from torch_geometric.data import Data, HeteroData

from teddy.data.catalog import DATASETS
from teddy.data.files import read_path
from teddy.data.targets import Targets
from teddy.errors import InputError
from teddy.names import expand_home, is_path

StrPath = str | os.PathLike[str]


def read_source(
    name: StrPath,
    data_dir: StrPath | None,
    nodes: StrPath | None,
    targets: Targets,
    classes: Sequence[str] | None = None,
    target: str | None = None,
    directed: bool = False,
) -> tuple[Data | HeteroData | list[Data], str, str]:
    """Read a data set by its name, or from a file or folder.

    Args:
        name: See :func:`teddy.load_dataset`.
        data_dir: Folder of raw data sets.
        nodes: Node table of an edge list.
        targets: Checks of the labels of a table.
        classes: See :func:`teddy.data.tables.read_tables`.
        target: Node type with labels in a heterogeneous graph.
        directed: True to add no reverse relations to a folder of tables.

    Returns:
        The graph or graphs, their name in messages, and their name.
    """
    key = name.lower() if isinstance(name, str) else ""
    if key not in DATASETS and is_path(name):
        path = expand_home(name)
        table = None if nodes is None else expand_home(nodes)
        raw, source = read_path(path, table, targets, classes, target, directed)
        label = path.name or path.resolve().name
    else:
        entry = DATASETS[key]
        if nodes is not None:
            raise InputError(f"nodes (--nodes) is '{nodes}', expected only with an edge list")
        raw, source, label = entry.read(None if data_dir is None else Path(data_dir)), key, key
    return raw, source, label
