"""Labels and splits of node tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from teddy.data.reading import shorten
from teddy.data.table_file import Table, as_integers
from teddy.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from teddy.data.targets import Targets

_PARTS = ("train", "val", "test")


def read_labels(
    table: Table, targets: Targets, classes: Sequence[str] | None
) -> tuple[np.ndarray | None, list[str] | None]:
    """Return the labels, classes or numbers, and the names of the classes, if any.

    Args:
        table: The node table.
        targets: Checks of labels.
        classes: See :func:`teddy.data.tables.read_tables`.
    """
    if targets.column is None or (classes is not None and _unlabelled(table).all()):
        return None, None
    if targets.column == "labels":
        raise InputError(
            f"{table.path.name}: a node table has one label per node, expected graph.npz or "
            "graph.pt for the task multilabel"
        )
    if targets.column == "numbers":
        return table.numbers("label", "label", optional=True), None
    return _classes(table) if classes is None else (_known_classes(table, classes), None)


def _known_classes(table: Table, classes: Sequence[str]) -> np.ndarray:
    """Return the class of each node in the numbering of a model, -1 without a label."""
    import pyarrow as pa
    import pyarrow.compute as pc

    labels = _label_column(table)
    if as_integers(labels.drop_null()) is not None:
        labels = labels.cast(pa.int64())
        if not classes:
            integers: np.ndarray = labels.fill_null(-1).to_numpy().copy()
            return integers
    elif not classes:
        raise InputError(
            f"{table.path.name}: labels are names, expected the class names of the model, too "
            "(classes)"
        )
    labels = labels.cast(pa.string())
    y = pc.index_in(labels, value_set=pa.array(classes, pa.string()), skip_nulls=True)
    unknown = np.flatnonzero((y.is_null().to_numpy()) & ~labels.is_null().to_numpy())
    if len(unknown):
        row = int(unknown[0])
        known = shorten(", ".join(map(repr, classes)))
        raise table.error(
            row,
            f"label is {table.value('label', row)}, expected a class of the model ({known}), or an "
            "empty cell",
        )
    numbers: np.ndarray = y.fill_null(-1).to_numpy().astype(np.int64)
    return numbers


def _classes(table: Table) -> tuple[np.ndarray, list[str] | None]:
    """Return the class of each node, -1 without a label, and the names of the classes, if any."""
    import pyarrow as pa
    import pyarrow.compute as pc

    labels = _label_column(table)
    if len(labels) == labels.null_count:
        raise InputError(f"{table.path.name}: all labels are empty, expected two classes")
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
    """Raise if all labels are numbers and one has a fraction."""
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
        "use the task regression for numbers",
    )


def _label_column(table: Table) -> pa.ChunkedArray:
    """Return the labels, as integers if pandas changed 1 to 1.0 for a missing value."""
    import pyarrow as pa

    labels = table.arrow["label"]
    if not pa.types.is_floating(labels.type):
        return labels
    values = labels.to_numpy()
    missing = np.isnan(values)
    fraction = np.flatnonzero(~missing & ~(np.isfinite(values) & (values == np.round(values))))
    if len(fraction):
        raise _no_class(table, int(fraction[0]))
    whole = np.where(missing, 0, values).astype(np.int64)
    return pa.chunked_array([pa.array(whole, mask=missing)])


def _unlabelled(table: Table) -> np.ndarray:
    """Return a mask of the rows without a label."""
    if "label" not in table.names:
        return np.ones(table.arrow.num_rows, dtype=bool)
    empty: np.ndarray = table.arrow["label"].is_null(nan_is_null=True).to_numpy()
    return empty


def read_split(table: Table, labelled: bool) -> list[np.ndarray]:
    """Return the three masks of the ``split`` column, or an empty list without the column.

    Args:
        table: The node table.
        labelled: True if nodes of the split must have a label.
    """
    if "split" not in table.names:
        return []
    split = np.array(table.arrow["split"].to_pylist(), dtype=object)
    unlabelled = _unlabelled(table)
    for row, part in enumerate(split):
        if part is not None and part not in _PARTS:
            got = f"split is {table.value('split', row)}"
            raise table.error(row, f"{got}, expected train, val, test or an empty cell")
        if labelled and part is not None and unlabelled[row]:
            raise table.error(row, f"label is empty, expected one: split is '{part}'")
    masks = [split == part for part in _PARTS]
    return masks if any(mask.any() for mask in masks) else []
