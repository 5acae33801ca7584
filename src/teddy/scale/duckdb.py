"""``duckdb``: embedded, spills to disk."""

from __future__ import annotations

from typing import Any

import ibis
import torch

from teddy.errors import InputError
from teddy.scale.engine import Job
from teddy.scale.sql import SQLEngine

#: What Python, torch and duckdb's own code take beside the memory that duckdb counts.
FIXED = 1_000_000_000


class DuckDBEngine(SQLEngine):
    """Tables in a database of the run's own."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        room = job.memory - FIXED
        if room < 200_000_000:
            raise InputError(
                f"memory is {job.memory / 1e9:.1f} GB, expected at least 1.2 GB for duckdb"
            )
        self.connection = ibis.duckdb.connect(
            f"{job.work}/edges.duckdb",
            memory_limit=f"{room // 1_000_000}MB",
            temp_directory=f"{job.work}/spilled",
            preserve_insertion_order=False,
            threads=torch.get_num_threads(),
        )

    def open(self, files: list[str]) -> Any:
        """Columns of Parquet files, and for each row its ``file`` and its ``row`` there."""
        read = self.connection.read_parquet(files, file_row_number=True, filename=True)
        return read.mutate(file=read.filename, row=read.file_row_number)

    def make(self, name: str, table: Any) -> Any:
        """Compute a table and keep it."""
        return self.connection.create_table(name, table)

    def close(self) -> None:
        """Close the database."""
        self.connection.disconnect()
