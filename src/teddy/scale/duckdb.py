"""Engine ``duckdb``: an embedded database that spills to disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import torch

from teddy.data.reading import reason
from teddy.errors import InputError
from teddy.scale.engine import EngineJob
from teddy.scale.sql import SQLEngine

#: Bytes of Python, torch and duckdb's code, which duckdb's memory limit does not count.
FIXED = 1_000_000_000


class DuckDBEngine(SQLEngine):
    """Engine with a temporary duckdb database."""

    failures = (duckdb.Error,)

    def __init__(self, job: EngineJob) -> None:
        super().__init__(job)
        available = job.memory - FIXED
        if available < 200_000_000:
            raise InputError(
                f"memory is {job.memory / 1e9:.1f} GB, expected at least 1.2 GB for duckdb"
            )
        try:
            self.connection = ibis.duckdb.connect(
                f"{job.work}/edges.duckdb",
                memory_limit=f"{available // 1_000_000}MB",
                temp_directory=f"{job.work}/spilled",
                preserve_insertion_order=False,
                threads=torch.get_num_threads(),
            )
        except duckdb.Error as error:
            raise InputError(f"duckdb: {reason(error)}") from error

    def open(self, path: Path) -> Any:
        """Open a Parquet file."""
        return self.connection.read_parquet(path)

    def batches(self, table: Any) -> Iterator[pa.RecordBatch]:
        """Compute a table in batches."""
        return iter(table.to_pyarrow_batches(chunk_size=1 << 18))

    def make(self, name: str, table: Any) -> Any:
        """Compute and store a table."""
        return self.connection.create_table(name, table)

    def close(self) -> None:
        """Close the database."""
        self.connection.disconnect()
