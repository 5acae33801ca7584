"""Rows to files of Parquet or CSV."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teddy.scale.csv_lines import CSVFile
from teddy.scale.writing import writing

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows of a row group in Parquet, its bytes where rows are wide, and rows of a file in a folder.
GROUP, GROUP_BYTES, FILE = 1 << 20, 1 << 27, 1 << 26


class RowWriter:
    """Rows to a file, or to files in a folder; whatever the batches, the files are the same.

    Args:
        path: The file or the folder.
        kind: ``parquet`` or ``csv``.
        schema: Of the rows.
        one_file: Whether it is a file.
        group: Rows that are written together.
        nulls: Whether CSV tells a null from an empty text.

    Attributes:
        num_rows: Rows so far.
    """

    def __init__(
        self, path: Path, kind: str, schema: pa.Schema, one_file: bool, group: int = GROUP,
        nulls: bool = False,
    ) -> None:  # fmt: skip
        self.path, self.num_rows, self._group = path, 0, group
        self._kind, self._schema, self._one_file = kind, schema, one_file
        self._nulls = nulls
        self._waiting: list[pa.RecordBatch] = []
        self._held, self._files, self._in_file = 0, 0, 0
        self._file: Any = None
        if not one_file:
            path.mkdir()

    def write(self, batch: pa.RecordBatch) -> None:
        """Take a batch."""
        self.num_rows += batch.num_rows
        self._waiting.append(batch)
        self._held += batch.num_rows
        while self._held >= self._group:
            self._flush(self._group)

    def close(self) -> None:
        """Write what is left, to the disk."""
        if self._held or self._file is None:
            self._flush(self._held)
        self._end_file()

    def _flush(self, rows: int) -> None:
        import pyarrow as pa

        table = pa.Table.from_batches(self._waiting, self._schema)
        self._waiting = table.slice(rows).to_batches()
        self._held -= rows
        if self._file is None:
            self._begin_file()
        with writing(self._path):
            self._file.write_table(table.slice(0, rows).combine_chunks())
        self._in_file += rows
        if not self._one_file and self._in_file >= FILE:
            self._end_file()

    def _begin_file(self) -> None:
        from pyarrow import parquet

        name = f"part-{self._files:05}.{self._kind}"
        self._path = self.path if self._one_file else self.path / name
        with writing(self._path):
            self._stream = self._path.open("wb")
            if self._kind == "csv":
                self._file = CSVFile(self._stream, self._schema, self._nulls)
            else:
                self._file = parquet.ParquetWriter(
                    self._stream, self._schema, use_dictionary=_repeating(self._schema)
                )
        self._files += 1

    def _end_file(self) -> None:
        if self._file is None:
            return
        with writing(self._path):
            self._file.close()
            self._stream.flush()
            os.fsync(self._stream.fileno())
            self._stream.close()
        self._file, self._in_file = None, 0


def _repeating(schema: pa.Schema) -> list[str]:
    """Columns whose values may repeat enough for a dictionary; for numbers it costs time only."""
    import pyarrow as pa

    def number(kind: pa.DataType) -> bool:
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))

    return [field.name for field in schema if not number(field.type)]
