"""All cells as one table."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from teddy.atomic import write_atomically
from teddy.errors import InputError

#: A row is a cell.
SCHEMA = pa.schema(
    [
        ("dataset", pa.string()),
        ("model", pa.string()),
        ("method", pa.string()),
        ("simulation", pa.int32()),
        ("seed", pa.int32()),
        ("split", pa.string()),
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
    ]
)

_ORDER = ("dataset", "model", "method", "simulation", "seed")


def write_table(rows: list[dict[str, Any]], path: Path) -> None:
    """Write rows to a Parquet file, whole or not at all, in one order whatever theirs.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "results.parquet"
        >>> write_table([{"dataset": "cora", "seed": 0, "simulation": 1}], path)
        >>> read_table(path)[0]["dataset"]
        'cora'
    """
    ordered = sorted(rows, key=lambda row: [str(row.get(n, "")).zfill(9) for n in _ORDER])
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ordered, schema=SCHEMA), buffer)
    write_atomically(path, buffer.getvalue())


def read_table(path: str | Path) -> list[dict[str, Any]]:
    """Read the rows of a sweep: of its folder, or of its table."""
    file = Path(path)
    file = file / "results.parquet" if file.is_dir() else file
    if not file.is_file():
        raise InputError(f"{path}: no results here, expected the folder of a sweep")
    try:
        rows: list[dict[str, Any]] = pq.read_table(file).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{file}: not a table of results ({error})") from None
    return rows
