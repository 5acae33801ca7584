"""``duckdb``: embedded, spills to disk."""

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

#: What Python, torch and duckdb's own code take beside the memory that duckdb counts.
FIXED = 1_000_000_000


class DuckDBEngine(SQLEngine):
    """Tables in a database of the run's own."""

    failures = (duckdb.Error,)

    def __init__(self, job: EngineJob) -> None:
        super().__init__(job)
        room = job.memory - FIXED
        if room < 200_000_000:
            raise InputError(
                f"memory is {job.memory / 1e9:.1f} GB, expected at least 1.2 GB for duckdb"
            )
        try:
            self.connection = ibis.duckdb.connect(
                f"{job.work}/edges.duckdb",
                memory_limit=f"{room // 1_000_000}MB",
                temp_directory=f"{job.work}/spilled",
                preserve_insertion_order=False,
                threads=torch.get_num_threads(),
            )
        except duckdb.Error as error:
            raise InputError(f"duckdb: {reason(error)}") from error

    def open(self, path: Path) -> Any:
        """A table in Parquet."""
        return self.connection.read_parquet(path)

    def batches(self, table: Any) -> Iterator[pa.RecordBatch]:
        """Compute a table, a batch at a time."""
        return iter(table.to_pyarrow_batches(chunk_size=1 << 18))

    def make(self, name: str, table: Any) -> Any:
        """Compute a table and keep it."""
        return self.connection.create_table(name, table)

    def close(self) -> None:
        """Close the database."""
        self.connection.disconnect()
