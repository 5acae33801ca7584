"""What is written: whole or not there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from teddy.errors import InputError
from teddy.scale.csv_lines import CSVFile
from teddy.scale.files import table_format
from teddy.scale.table import EdgeTable, rows_of

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows of a row group in Parquet, its bytes where rows are wide, and rows of a file in a folder.
GROUP, GROUP_BYTES, FILE = 1 << 20, 1 << 27, 1 << 26


class Output:
    """A file or a folder of them, put in its place when it is whole.

    All that is written before lies in a hidden folder beside it, ``.NAME.teddy``; what a killed
    run has left there is removed by the next one.

    Args:
        path: ``*.parquet`` or ``*.csv`` for one file; any other name for a folder.
        table: What it is made from, which it can't replace.
        overwrite: Whether a folder or file of that name may be replaced.

    Attributes:
        work: A folder for whatever the run needs.
    """

    def __init__(self, path: str, table: EdgeTable, overwrite: bool = False) -> None:
        self.path, self.table = Path(path).absolute(), table
        self.format = table_format(path) or table.format
        self.one_file = table_format(path) is not None
        self._check(path, overwrite)
        self.work = self.path.parent / f".{self.path.name}.teddy"
        self._lock = FileLock(f"{self.work}.lock")

    def _check(self, path: str, overwrite: bool) -> None:
        parent = self.path.parent
        if not parent.is_dir():
            raise InputError(f"{path}: there is no folder {Path(path).parent}")
        if not os.access(parent, os.W_OK):
            raise InputError(f"{path}: can't be written (no right to write in its folder)")
        ours = {file.resolve() for file in self.table.files}
        if any(self.path.resolve() in (file, *file.parents) for file in ours):
            raise InputError(f"{path}: holds the input, expected another place")
        if Path(self.table.name).is_dir() and Path(self.table.name).resolve() in (
            self.path.resolve().parents
        ):
            raise InputError(f"{path}: is in the input's folder, expected another place")
        if os.path.lexists(self.path):
            if self.path.is_dir() == self.one_file:
                kind = "folder" if self.one_file else "file"
                raise InputError(f"{path}: is a {kind}, expected a new name")
            if not overwrite:
                raise InputError(f"{path}: exists, expected a new name or --overwrite")

    def __enter__(self) -> Output:
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise InputError(f"{self.path}: another run is writing it") from None
        replaced = self.work / "replaced"
        if replaced.exists() and not self.path.exists():  # killed between the two renames
            replaced.rename(self.path)
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self.work, ignore_errors=True)
        Path(self._lock.lock_file).unlink(missing_ok=True)  # before another run can have it
        self._lock.release()

    @property
    def typed_ids(self) -> bool:
        """Whether ids, which are text in CSV, are written as what they are."""
        return self.table.format == "csv" and self.format == "parquet"

    def schema(self) -> pa.Schema:
        """Columns as they are written."""
        import pyarrow as pa

        schema = self.table.schema
        for name in (self.table.source, self.table.target) if self.typed_ids else ():
            kind = pa.string() if self.table.text_ids else pa.int64()
            schema = schema.set(schema.get_field_index(name), pa.field(name, kind))
        return schema

    def rows(self, batch: pa.RecordBatch, first_row: int) -> pa.RecordBatch:
        """Rows of the table as they are written."""
        if not self.typed_ids:
            return batch
        names = self.table.source, self.table.target
        for name, ids in zip(names, self.table.ends(batch, first_row), strict=True):
            batch = batch.set_column(batch.schema.get_field_index(name), name, ids)
        return batch

    def writer(self) -> RowWriter:
        """Something that takes rows."""
        group = rows_of(GROUP_BYTES, self.table.row_bytes, GROUP)
        return RowWriter(self.work / "rows", self.format, self.schema(), self.one_file, group)

    def publish(self, made: Path) -> None:
        """Put a whole file or folder of the work in its place."""
        if self.path.is_dir():
            self.path.rename(self.work / "replaced")
        made.replace(self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


class RowWriter:
    """Rows to a file, or to files in a folder; whatever the batches, the files are the same.

    Args:
        path: The file or the folder.
        kind: ``parquet`` or ``csv``.
        schema: Of the rows.
        one_file: Whether it is a file.
        group: Rows that are written together.

    Attributes:
        num_rows: Rows so far.
    """

    def __init__(
        self, path: Path, kind: str, schema: pa.Schema, one_file: bool, group: int = GROUP
    ) -> None:
        self.path, self.num_rows, self._group = path, 0, group
        self._kind, self._schema, self._one_file = kind, schema, one_file
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
        self._file.write_table(table.slice(0, rows).combine_chunks())
        self._in_file += rows
        if not self._one_file and self._in_file >= FILE:
            self._end_file()

    def _begin_file(self) -> None:
        from pyarrow import parquet

        name = f"part-{self._files:05}.{self._kind}"
        self._stream = open(self.path if self._one_file else self.path / name, "wb")  # noqa: SIM115, PTH123
        if self._kind == "csv":
            self._file = CSVFile(self._stream, self._schema)
        else:
            self._file = parquet.ParquetWriter(
                self._stream, self._schema, use_dictionary=_repeating(self._schema)
            )
        self._files += 1

    def _end_file(self) -> None:
        if self._file is None:
            return
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
