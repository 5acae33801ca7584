"""Writers of rows to Parquet and CSV, and the error of a full disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from teddy.errors import InputError

#: Rows of a row group in Parquet, its bytes for wide rows, and rows of a file in a folder.
GROUP, GROUP_BYTES, FILE = 1 << 20, 1 << 27, 1 << 26
#: Text in the errors of engines that meet a full disk.
FULL = "No space left on device"


class RowWriter:
    """Writer of rows to a file, or to files in a folder, independent of the batches.

    Args:
        group: Rows of a row group.
        nulls: Whether CSV distinguishes a null from an empty text.
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
        """Write a batch."""
        self.num_rows += batch.num_rows
        self._waiting.append(batch)
        self._held += batch.num_rows
        while self._held >= self._group:
            self._flush(self._group)

    def close(self) -> None:
        """Write the remaining rows, and sync to the disk."""
        if self._held or self._file is None:
            self._flush(self._held)
        self._end_file()

    def _flush(self, rows: int) -> None:
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
    """Columns that are written with a dictionary: all but numbers, for which it is slow."""

    numbers = (pa.types.is_integer, pa.types.is_floating)
    return [field.name for field in schema if not any(is_(field.type) for is_ in numbers)]


class CSVFile:
    """Writer of tables to a CSV stream, after a line with the names of the columns.

    Args:
        nulls: Whether to distinguish a null from an empty text, which is then ``""``.

    Example:
        >>> import io, pyarrow as pa
        >>> stream = io.BytesIO()
        >>> rows = pa.table({"source": [1, 2], "note": ['a, "b" c', None]})
        >>> CSVFile(stream, rows.schema).write_table(rows)
        >>> print(stream.getvalue().decode(), end="")
        source,note
        1,"a, ""b"" c"
        2,
    """

    def __init__(self, stream: Any, schema: pa.Schema, nulls: bool = False) -> None:
        self._stream, self._nulls = stream, nulls
        names = pa.table([pa.array([name]) for name in schema.names], names=schema.names)
        self.write_table(names)

    def write_table(self, rows: pa.Table) -> None:
        """Write rows."""
        if rows.num_rows == 0:
            return
        cells = [
            _cells(name, rows[name].combine_chunks(), self._nulls) for name in rows.column_names
        ]
        comma, newline = (pa.scalar(text, pa.large_string()) for text in (",", "\n"))
        lines = pc.binary_join_element_wise(*cells, comma) if len(cells) > 1 else cells[0]
        lines = pc.binary_join_element_wise(lines, pa.scalar("", pa.large_string()), newline)
        _, ends, text = lines.buffers()
        first, last = memoryview(ends).cast("q")[:: len(lines)][:2]
        self._stream.write(memoryview(text)[first:last])

    def close(self) -> None:
        """Do nothing: no rows are buffered."""


def _cells(name: str, column: pa.Array, nulls: bool) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        if not _has_text(column.type):
            raise pa.ArrowNotImplementedError
        text = column.cast(pa.large_string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise InputError(f"column '{name}' is {column.type}, expected a type for CSV") from None
    special = pc.match_substring_regex(text, '[",\r\n]|^$' if nulls else '[",\r\n]').fill_null(
        False
    )
    text = text.fill_null("")
    if not pc.any(special).as_py():
        return text
    quote = pa.scalar('"', pa.large_string())
    quoted = pc.binary_join_element_wise(
        quote, pc.replace_substring(text, '"', '""'), quote, pa.scalar("", pa.large_string())
    )
    return pc.if_else(special, quoted, text)


def _has_text(kind: pa.DataType) -> bool:
    """Return whether Arrow's text of a type is lossless: not durations (no unit) or raw bytes."""
    if isinstance(kind, pa.BaseExtensionType):
        return bool(pa.types.is_string(kind.storage_type))
    return not pa.types.is_duration(kind)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise errors of the disk as one line with the name of the file.

    Example:
        >>> with writing(Path("bucket-000")):
        ...     raise OSError(errno.ENOSPC, "No space left on device")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: bucket-000: the disk is full (No space left on device), expected
        free space beside the output; free some, or write to another disk
    """
    try:
        yield
    except OSError as error:
        message = error.strerror or str(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise disk_full(path, message) from error
        raise InputError(f"{path}: cannot be written ({message})") from error


def disk_full(path: Path | str, message: str) -> InputError:
    """Make the error for a full disk."""
    return InputError(
        f"{path}: the disk is full ({message}), expected free space beside the output; free some, "
        "or write to another disk"
    )
