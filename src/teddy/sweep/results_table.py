"""All cells of a sweep as one Parquet table."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from teddy.errors import InputError
from teddy.store.atomic import write_atomically
from teddy.sweep.folder import Folder
from teddy.sweep.resolution import LATER_COLUMNS, completed

#: Name of the table in a sweep's folder.
TABLE = "results.parquet"
# Columns of a cell's row, in their order, by type.
_COLUMNS = (
    ("string", "dataset model method"),
    ("int32", "simulation seed"),
    ("string", "split task metric"),
    ("int64", "test_rows"),
    ("double", "resolution graph_sparsity weight_sparsity distill test val"),
    ("int32", "best_epoch"),
    ("double", "last_test dense_test dense_val"),
    ("int32", "dense_best_epoch"),
    ("double", "dense_last_test"),
    ("int32", "hits_at"),
    ("double", "hits dense_hits"),
    ("int64", "edges_total edges_kept weights_total weights_kept macs_dense macs_ticket"),
    ("double", "seconds_dense seconds_search seconds_round seconds_sparse"),
    ("double", "seconds_predict_dense seconds_predict_ticket"),
    ("int64", "peak_memory"),
    ("double", "pruned_degree"),
    ("int64", "components largest_component isolated"),
    ("double", "homophily"),
    ("string", "versions"),
)
SCHEMA = pa.schema(
    [(name, pa.type_for_alias(kind)) for kind, names in _COLUMNS for name in names.split()]
)


def write_table(rows: list[dict[str, Any]], path: Path) -> None:
    """Write sorted rows to a Parquet file, atomically.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "results.parquet"
        >>> write_table([{"dataset": "cora", "seed": 0, "simulation": 1}], path)
        >>> read_table(path)[0]["dataset"]
        'cora'
    """
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(_ordered(rows), schema=SCHEMA), buffer)
    write_atomically(path, buffer.getvalue())


def read_table(path: str | Path) -> list[dict[str, Any]]:
    """Read the rows of a sweep, from its folder, which may still be running, or its table."""
    file = Path(path)
    if (file / "cells").is_dir():
        rows = Folder(file).rows()
        if rows:
            return _ordered(rows)
    file = file / TABLE if file.is_dir() else file
    if not file.is_file():
        raise InputError(f"{path}: has no results, expected the folder of a sweep")
    try:
        rows = list(pq.read_table(file).to_pylist())
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{file}: is no table of results ({error}), expected one") from None
    if not set(SCHEMA.names) <= {*LATER_COLUMNS, *(rows[0] if rows else SCHEMA.names)}:
        raise InputError(f"{file}: is no table of results, expected the columns of a sweep")
    return completed(rows)


def _ordered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    texts, numbers = ("dataset", "model", "method"), ("simulation", "seed")
    return sorted(
        rows, key=lambda row: ([row.get(n, "") for n in texts], [row.get(n, 0) for n in numbers])
    )
