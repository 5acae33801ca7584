"""``duckdb``: embedded, spills to disk."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import ibis
import torch
from pyarrow import parquet

from teddy.errors import InputError
from teddy.scale.engine import Job
from teddy.scale.sql import SQLEngine, copy_ids

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

    def read(self) -> Any:
        """Ids ``source`` and ``target`` of each row, null where there are none, and its ``row``."""
        table = self.job.table
        if table.format == "csv":
            return self.connection.read_parquet(copy_ids(self.job))
        files = [str(file.resolve()) for file in table.files]
        read = self.connection.read_parquet(
            files, file_row_number=True, filename=True, hive_partitioning=False
        )
        rows = [parquet.read_metadata(file).num_rows for file in files]
        before = dict(zip(files, accumulate(rows, initial=0), strict=False))
        kind = "string" if table.text_ids else "int64"
        return read.select(
            source=read[table.source].try_cast(kind),
            target=read[table.target].try_cast(kind),
            row=read.file_row_number + read.filename.cases(*before.items(), else_=None),
        )

    def make(self, name: str, table: Any) -> Any:
        """Compute a table and keep it."""
        return self.connection.create_table(name, table)

    def close(self) -> None:
        """Close the database."""
        self.connection.disconnect()
