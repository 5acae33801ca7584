"""All cells as one table."""

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

#: A row is a cell.
SCHEMA = pa.schema(
    [
        ("dataset", pa.string()),
        ("model", pa.string()),
        ("method", pa.string()),
        ("simulation", pa.int32()),
        ("seed", pa.int32()),
        ("split", pa.string()),
        ("task", pa.string()),
        ("metric", pa.string()),
        ("test_rows", pa.int64()),
        ("resolution", pa.float64()),
        ("graph_sparsity", pa.float64()),
        ("weight_sparsity", pa.float64()),
        ("distill", pa.float64()),
        ("test", pa.float64()),
        ("val", pa.float64()),
        ("best_epoch", pa.int32()),
        ("last_test", pa.float64()),
        ("dense_test", pa.float64()),
        ("dense_val", pa.float64()),
        ("dense_best_epoch", pa.int32()),
        ("dense_last_test", pa.float64()),
        ("hits_at", pa.int32()),
        ("hits", pa.float64()),
        ("dense_hits", pa.float64()),
        ("edges_total", pa.int64()),
        ("edges_kept", pa.int64()),
        ("weights_total", pa.int64()),
        ("weights_kept", pa.int64()),
        ("macs_dense", pa.int64()),
        ("macs_ticket", pa.int64()),
        ("seconds_dense", pa.float64()),
        ("seconds_search", pa.float64()),
        ("seconds_round", pa.float64()),
        ("seconds_sparse", pa.float64()),
        ("seconds_predict_dense", pa.float64()),
        ("seconds_predict_ticket", pa.float64()),
        ("peak_memory", pa.int64()),
        ("pruned_degree", pa.float64()),
        ("components", pa.int64()),
        ("largest_component", pa.int64()),
        ("isolated", pa.int64()),
        ("homophily", pa.float64()),
        ("versions", pa.string()),
    ]
)


def write_table(rows: list[dict[str, Any]], path: Path) -> None:
    """Write rows to a Parquet file, whole or not at all, in one order whatever theirs.

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
    """Read the rows of a sweep: of its folder, where it may still be running, or of its table."""
    file = Path(path)
    if (file / "cells").is_dir():
        rows = Folder(file).rows()
        if rows:
            return _ordered(rows)
    file = file / "results.parquet" if file.is_dir() else file
    if not file.is_file():
        raise InputError(f"{path}: no results here, expected the folder of a sweep")
    try:
        rows = list(pq.read_table(file).to_pylist())
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{file}: not a table of results ({error})") from None
    if not set(SCHEMA.names) <= {*LATER_COLUMNS, *(rows[0] if rows else SCHEMA.names)}:
        raise InputError(f"{file}: not a table of results, expected the columns of a sweep")
    return completed(rows)


def _ordered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    texts, numbers = ("dataset", "model", "method"), ("simulation", "seed")
    return sorted(
        rows, key=lambda row: ([row.get(n, "") for n in texts], [row.get(n, 0) for n in numbers])
    )
