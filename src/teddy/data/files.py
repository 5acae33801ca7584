"""Graphs from a path, with the reader for its format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teddy.data.hetero_tables import is_hetero_folder, read_hetero_tables
from teddy.data.npz import read_npz
from teddy.data.reverse_edges import add_reverse_edges
from teddy.data.saved_data import read_saved_data
from teddy.data.tables import read_tables
from teddy.data.targets import CLASSES, Targets
from teddy.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torch_geometric.data import Data, HeteroData

_TABLES = (".csv", ".parquet")
_KINDS = ".npz, .csv, .parquet, .pt or .pth"


def read_path(
    path: Path,
    nodes: Path | None = None,
    targets: Targets = CLASSES,
    classes: Sequence[str] | None = None,
    target: str | None = None,
    directed: bool = False,
) -> tuple[Data | HeteroData | list[Data], str]:
    """Read a graph file or a folder of tables.

    Args:
        path: ``graph.npz``, ``graph.pt``, an edge list, a folder with ``edges.*``, ``nodes.*``, or
            one with the subfolders ``edges`` and ``nodes`` of a heterogeneous graph.
        nodes: The node table of an edge list; by default ``nodes.*`` in the same folder.
        targets: Checks of the labels of a node table.
        classes: See :func:`teddy.data.tables.read_tables`.
        target: Node type whose labels are read, in a heterogeneous graph.
        directed: True to add no reverse relations to a folder of tables.

    Returns:
        The unchanged graph, or a list of graphs, and the name of the file with its nodes, for
        messages.

    Example:
        >>> from pathlib import Path
        >>> read_path(Path("no-such.npz"))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: no-such.npz: no such file or folder
    """
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if path.is_dir() and is_hetero_folder(path):
        if nodes is not None:
            raise InputError(f"nodes (--nodes) is '{nodes}', expected only with an edge list")
        data = read_hetero_tables(path, target, targets, classes)
        return data if directed else add_reverse_edges(data, path.name), path.name
    if path.is_dir():
        edges, folder = _table(path, "edges"), path
    elif path.suffix.lower() in _TABLES:
        edges, folder = path, path.parent
    else:
        if nodes is not None:
            raise InputError(f"nodes (--nodes) is '{nodes}', expected only with an edge list")
        return _one_file(path), path.name
    if nodes is None:
        nodes = _table(folder, "nodes", hint=", or the node table as nodes (--nodes FILE)")
    elif not nodes.is_file():
        raise InputError(f"{nodes}: no such file, expected a node table")
    elif nodes.suffix.lower() not in _TABLES:
        raise InputError(f"{nodes.name}: ends in '{nodes.suffix}', expected .csv or .parquet")
    return read_tables(edges, nodes, targets, classes), nodes.name


def _one_file(path: Path) -> Data | HeteroData | list[Data]:
    kind = path.suffix.lower()
    if kind == ".npz":
        return read_npz(path)
    if kind in (".pt", ".pth"):
        return read_saved_data(path)
    raise InputError(f"{path.name}: ends in '{path.suffix}', expected {_KINDS}, or a folder")


def _table(folder: Path, stem: str, hint: str = "") -> Path:
    files = [folder / f"{stem}{kind}" for kind in _TABLES if (folder / f"{stem}{kind}").is_file()]
    if len(files) == 1:
        return files[0]
    problem = f"has two {stem} tables" if files else f"has no {stem} table"
    raise InputError(f"{folder}: {problem}, expected {stem}.csv or {stem}.parquet{hint}")
