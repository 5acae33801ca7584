"""A graph of the user's as two tables: an edge list and a node table, in CSV or Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch_geometric.data import Data

from teddy.data.checks import MASKS
from teddy.data.columns import Table, as_integers
from teddy.data.reading import reading, shorten
from teddy.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

_PARTS = ("train", "val", "test")
_NO_FEATURES = ("id", "label", "split")


def read_tables(
    edges: Path, nodes: Path, task: str = "classification", classes: Sequence[str] | None = None
) -> Data:
    """Read ``source``, ``target`` from one table and ``id``, ``label``, features from the other.

    A ``weight`` beside source and target becomes ``edge_weight``. Labels are classes, or with the
    task ``regression`` numbers. Nodes keep the order of their table. Ids that aren't 0, 1, 2, ...
    in that order are kept as ``node_ids``, and classes that aren't 0 to k-1 as ``class_names``;
    names of features as ``feature_names``.

    Args:
        edges: The edge list.
        nodes: The node table.
        task: What labels are.
        classes: Of a model that is to predict labels, which may then be missing: its classes in the
            order of their numbers, none if they have no names or it predicts something else.

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
    node_table, ids, fields = read_nodes(nodes, task, classes)
    edge_table = Table.read(edges, ("source", "target"))
    data = Data(**fields)
    with reading(edges, "an edge list"):
        known = ids, f"an id of {node_table.path.name}"
        for name, value in edge_fields(edge_table, known, known).items():
            data[name] = value
    return data


def read_nodes(
    nodes: Path, task: str, classes: Sequence[str] | None
) -> tuple[Table, pa.ChunkedArray, dict[str, Any]]:
    """Read a node table: the table, its ids, and the fields of nodes with labels.

    Args:
        nodes: The file.
        task: What labels are.
        classes: See :func:`read_tables`.
    """
    table = Table.read(nodes, ("id", "label") if classes is None else ("id",))
    with reading(nodes, "a node table"):
        ids = _node_ids(table)
        y, class_names = _labels(table, task, classes)
        fields = feature_fields(table)
        if y is not None:
            fields["y"] = torch.from_numpy(y)
        for mask, part in zip(MASKS, _split(table, classes is None), strict=False):
            fields[mask] = torch.from_numpy(part)
    fields |= name_fields(ids)
    if class_names is not None:
        fields["class_names"] = class_names
    return table, ids, fields


def read_plain_nodes(nodes: Path) -> tuple[Table, pa.ChunkedArray, dict[str, Any]]:
    """Read a node table without targets: ``label`` and ``split`` are left out."""
    table = Table.read(nodes, ("id",))
    with reading(nodes, "a node table"):
        ids = _node_ids(table)
        fields = feature_fields(table, needed=False)
    return table, ids, fields | name_fields(ids)


def name_fields(ids: pa.ChunkedArray) -> dict[str, Any]:
    """``node_ids``, unless they are 0, 1, 2, ..."""
    integers = as_integers(ids)
    if integers is not None and np.array_equal(integers.to_numpy(), np.arange(len(ids))):
        return {}
    return {"node_ids": (ids if integers is None else integers).to_pylist()}


def feature_fields(table: Table, needed: bool = True) -> dict[str, Any]:
    """``x`` and ``feature_names``; nothing if there are none, and none are needed."""
    if not needed and set(table.names) <= set(_NO_FEATURES):
        return {}
    names, x = _features(table)
    return {"x": torch.from_numpy(x), "feature_names": names}


def edge_fields(table: Table, *known: tuple[pa.ChunkedArray, str]) -> dict[str, Any]:
    """``edge_index``, and ``edge_weight`` where there is a weight.

    Args:
        table: The edge list.
        known: The ids of sources, then of targets, each with the words for one in messages.
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
        found = pc.index_in(column, value_set=ids.combine_chunks())
        if found.null_count:
            row = int(np.flatnonzero(found.is_null().to_numpy())[0])
            raise table.error(row, f"{name} {table.value(name, row)} is not {expected}")
        ends.append(found.to_numpy().astype(np.int64))
    return np.stack(ends)


def _labels(
    table: Table, task: str, classes: Sequence[str] | None
) -> tuple[np.ndarray | None, list[str] | None]:
    """Return the labels, classes or numbers, and the names of the classes if they have any."""
    if task == "link-prediction" or (classes is not None and _unlabelled(table).all()):
        return None, None
    if task == "multilabel":
        raise InputError(
            f"{table.path.name}: a node table has one label of each node, expected graph.npz or "
            "graph.pt for the task multilabel"
        )
    if task == "regression":
        return table.numbers("label", "label", optional=True), None
    return _classes(table) if classes is None else (_known_classes(table, classes), None)


def _known_classes(table: Table, classes: Sequence[str]) -> np.ndarray:
    """Return -1 or the class of each node, as they are numbered already."""
    import pyarrow as pa
    import pyarrow.compute as pc

    labels = table.arrow["label"]
    if pa.types.is_floating(labels.type):
        labels = _whole_labels(table)
    if as_integers(labels.drop_null()) is not None:
        labels = labels.cast(pa.int64())
        if not classes:
            own: np.ndarray = labels.fill_null(-1).to_numpy().copy()
            return own
    elif not classes:
        raise InputError(
            f"{table.path.name}: labels are names, expected those of the classes that the model "
            "has learned, too (classes)"
        )
    labels = labels.cast(pa.string())
    y = pc.index_in(labels, value_set=pa.array(classes, pa.string()), skip_nulls=True)
    strange = np.flatnonzero((y.is_null().to_numpy()) & ~labels.is_null().to_numpy())
    if len(strange):
        row = int(strange[0])
        known = shorten(", ".join(map(repr, classes)))
        raise table.error(
            row,
            f"label is {table.value('label', row)}, expected a class that the model has learned "
            f"({known}), or an empty cell",
        )
    numbers: np.ndarray = y.fill_null(-1).to_numpy().astype(np.int64)
    return numbers


def _classes(table: Table) -> tuple[np.ndarray, list[str] | None]:
    """Return -1 or the class of each node, and the names of the classes if they have any."""
    import pyarrow as pa
    import pyarrow.compute as pc

    labels = table.arrow["label"]
    if pa.types.is_floating(labels.type):
        labels = _whole_labels(table)
    if len(labels) == labels.null_count:
        raise InputError(f"{table.path.name}: every label is empty, expected two classes")
    integers = as_integers(labels.drop_null())
    if integers is None:
        labels = labels.cast(pa.string())
        _no_fractions(table, labels)
        classes = pa.array(sorted(labels.drop_null().unique().to_pylist()))
    else:
        labels = labels.cast(pa.int64())
        classes = pa.array(np.unique(integers.to_numpy()))
        negative = np.flatnonzero(pc.less(labels, 0).fill_null(False).to_numpy())
        if len(negative):
            raise table.error(
                int(negative[0]),
                f"label is {table.value('label', int(negative[0]))}, expected a class from 0, "
                "a name, or an empty cell for no label",
            )
    y = pc.index_in(labels, value_set=classes, skip_nulls=True).fill_null(-1).to_numpy()
    plain = integers is not None and classes.to_pylist() == list(range(len(classes)))
    names = None if plain else [str(name) for name in classes.to_pylist()]
    return y.astype(np.int64), names


def _no_fractions(table: Table, labels: pa.ChunkedArray) -> None:
    """Raise if every label is a number and one has a fraction: then they are no names."""
    import pyarrow as pa

    try:
        values = labels.cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        return
    fraction = np.flatnonzero(np.isfinite(values) & (values != np.round(values)))
    if len(fraction):
        raise _no_class(table, int(fraction[0]))


def _no_class(table: Table, row: int) -> InputError:
    return table.error(
        row,
        f"label is {table.value('label', row)}, expected an integer or a name (a class); "
        "numbers have the task regression",
    )


def _whole_labels(table: Table) -> pa.ChunkedArray:
    """Undo what pandas does to integers when some are missing: 1 becomes 1.0."""
    import pyarrow as pa

    values = table.arrow["label"].to_numpy()
    missing = np.isnan(values)
    fraction = np.flatnonzero(~missing & ~(np.isfinite(values) & (values == np.round(values))))
    if len(fraction):
        raise _no_class(table, int(fraction[0]))
    whole = np.where(missing, 0, values).astype(np.int64)
    return pa.chunked_array([pa.array(whole, mask=missing)])


def _features(table: Table) -> tuple[list[str], np.ndarray]:
    names = [name for name in table.names if name not in _NO_FEATURES]
    if not names:
        raise InputError(
            f"{table.path.name}: no feature columns, expected one or more beside id, label, split"
        )
    for name in names:
        if not name or name.startswith("__index_level_"):
            raise InputError(
                f"{table.path.name}: column {name!r} is an index of pandas, expected a table "
                "written with index=False"
            )
    x = np.empty((table.arrow.num_rows, len(names)), dtype=np.float32)
    for place, name in enumerate(names):
        x[:, place] = table.numbers(name)
    return names, x


def _unlabelled(table: Table) -> np.ndarray:
    """Which rows have no label."""
    if "label" not in table.names:
        return np.ones(table.arrow.num_rows, dtype=bool)
    empty: np.ndarray = table.arrow["label"].is_null(nan_is_null=True).to_numpy()
    return empty


def _split(table: Table, labelled: bool) -> list[np.ndarray]:
    """Return the three masks of the ``split`` column, or nothing if there is none.

    Args:
        table: The node table.
        labelled: Whether nodes of the split need a label.
    """
    if "split" not in table.names:
        return []
    split = np.array(table.arrow["split"].to_pylist(), dtype=object)
    unlabelled = _unlabelled(table)
    for row, part in enumerate(split):
        if part is not None and part not in _PARTS:
            what = f"split is {table.value('split', row)}"
            raise table.error(row, f"{what}, expected train, val, test or an empty cell")
        if labelled and part is not None and unlabelled[row]:
            raise table.error(row, f"label is empty, expected one: split is '{part}'")
    masks = [split == part for part in _PARTS]
    return masks if any(mask.any() for mask in masks) else []
