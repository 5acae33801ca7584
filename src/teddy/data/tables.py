"""Graphs from two tables, an edge list and a node table, in CSV or Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch_geometric.data import Data

from teddy.data.checks import MASKS
from teddy.data.node_labels import read_labels, read_split
from teddy.data.reading import reading
from teddy.data.table_file import Table, as_integers
from teddy.data.targets import CLASSES, Targets
from teddy.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa


def read_tables(
    edges: Path, nodes: Path, targets: Targets = CLASSES, classes: Sequence[str] | None = None
) -> Data:
    """Read ``source``, ``target`` from one table and ``id``, ``label``, features from the other.

    A column ``weight`` of the edge list becomes ``edge_weight``. Labels are classes or numbers.
    Nodes keep the order of their table. Ids other than 0, 1, 2, ... in that order are returned as
    ``node_ids``, classes other than 0 to k-1 as ``class_names``, and names of features as
    ``feature_names``.

    Args:
        edges: The edge list.
        nodes: The node table.
        targets: Checks of labels.
        classes: Class names of the model that will predict these nodes, in order; empty if it has
            none. Labels may then be missing. None: no model.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     edges, nodes = Path(folder) / "edges.csv", Path(folder) / "nodes.csv"
        ...     _ = edges.write_text("source,target\\nann,bob\\n")
        ...     _ = nodes.write_text("id,label,height\\nann,cat,1.5\\nbob,dog,2\\n")
        ...     data = read_tables(edges, nodes)
        >>> data.x.tolist(), data.y.tolist(), data.edge_index.tolist()
        ([[1.5], [2.0]], [0, 1], [[0], [1]])
        >>> data.node_ids, data.class_names, data.feature_names
        (['ann', 'bob'], ['cat', 'dog'], ['height'])
    """
    node_table, ids, fields = read_nodes(nodes, targets, classes)
    edge_table = Table.read(edges, ("source", "target"))
    data = Data(**fields)
    with reading(edges, "an edge list"):
        known = ids, f"an id of {node_table.path.name}"
        for name, value in edge_fields(edge_table, known, known).items():
            data[name] = value
    return data


def read_nodes(
    nodes: Path, targets: Targets, classes: Sequence[str] | None
) -> tuple[Table, pa.ChunkedArray, dict[str, Any]]:
    """Read a node table; return the table, its ids, and the fields of the nodes."""
    table = Table.read(nodes, ("id", "label") if classes is None else ("id",))
    with reading(nodes, "a node table"):
        ids = _node_ids(table)
        y, class_names = read_labels(table, targets, classes)
        fields = feature_fields(table)
        if y is not None:
            fields["y"] = torch.from_numpy(y)
        for mask, part in zip(MASKS, read_split(table, classes is None), strict=False):
            fields[mask] = torch.from_numpy(part)
    fields |= name_fields(ids)
    if class_names is not None:
        fields["class_names"] = class_names
    return table, ids, fields


def read_plain_nodes(nodes: Path) -> tuple[Table, pa.ChunkedArray, dict[str, Any]]:
    """Read a node table without its columns ``label`` and ``split``."""
    table = Table.read(nodes, ("id",))
    with reading(nodes, "a node table"):
        ids = _node_ids(table)
        fields = feature_fields(table, needed=False)
    return table, ids, fields | name_fields(ids)


def name_fields(ids: pa.ChunkedArray) -> dict[str, Any]:
    """Return ``node_ids``, unless they are 0, 1, 2, ..."""
    integers = as_integers(ids)
    if integers is not None and np.array_equal(integers.to_numpy(), np.arange(len(ids))):
        return {}
    return {"node_ids": (ids if integers is None else integers).to_pylist()}


def feature_fields(table: Table, needed: bool = True) -> dict[str, Any]:
    """Return ``x`` and ``feature_names``; raise without features if they are needed."""
    names = [name for name in table.names if name not in ("id", "label", "split")]
    if not names and not needed:
        return {}
    if not names:
        raise InputError(
            f"{table.path.name}: no feature columns, expected columns other than id, label, split"
        )
    for name in names:
        if not name or name.startswith("__index_level_"):
            raise InputError(
                f"{table.path.name}: column {name!r} is a pandas index, expected a table "
                "written with index=False"
            )
    x = np.empty((table.arrow.num_rows, len(names)), dtype=np.float32)
    for index, name in enumerate(names):
        x[:, index] = table.numbers(name)
    return {"x": torch.from_numpy(x), "feature_names": names}


def edge_fields(table: Table, *known: tuple[pa.ChunkedArray, str]) -> dict[str, Any]:
    """Return ``edge_index``, and ``edge_weight`` if the table has a column ``weight``.

    Args:
        table: The edge list.
        known: Ids of sources, then of targets, each with the description of an id in errors.
    """
    fields = {"edge_index": torch.from_numpy(_edge_index(table, *known))}
    if "weight" in table.names:
        fields["edge_weight"] = torch.from_numpy(table.numbers("weight", "weight"))
    return fields


def _node_ids(table: Table) -> pa.ChunkedArray:
    ids = table.ids("id", "an integer or a name")
    if len(ids.unique()) < len(ids):
        first_row: dict[int | str, int] = {}
        for row, value in enumerate(ids.to_pylist()):
            first = first_row.setdefault(value, row)
            if first != row:
                raise table.error(
                    row, f"id is {table.value('id', row)} as in row {first + 1}, expected a new id"
                )
    return ids


def _edge_index(table: Table, *known: tuple[pa.ChunkedArray, str]) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.compute as pc

    ends = []
    for name, (ids, expected) in zip(("source", "target"), known, strict=True):
        column = table.ids(name, expected)
        if column.type != ids.type:
            column, ids = column.cast(pa.string()), ids.cast(pa.string())
        nodes = pc.index_in(column, value_set=ids.combine_chunks())
        if nodes.null_count:
            row = int(np.flatnonzero(nodes.is_null().to_numpy())[0])
            raise table.error(row, f"{name} {table.value(name, row)} is not {expected}")
        ends.append(nodes.to_numpy().astype(np.int64))
    return np.stack(ends)
