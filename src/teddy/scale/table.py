"""``EdgeTable``: Parquet or CSV, a file, a folder or a glob, with ids of any type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from teddy.data.reading import shorten
from teddy.data.table_file import as_integers
from teddy.errors import InputError
from teddy.scale import csv_types, parquet_files
from teddy.scale.columns import check_ids, find_ends
from teddy.scale.csv_files import reading_csv, text_schema
from teddy.scale.files import InputFiles, common_format, short_reason
from teddy.scale.prefetch import prefetch

#: Rows of a batch, and its bytes for wide rows.
BATCH, BATCH_BYTES = 1 << 18, 1 << 26


def rows_of(size: int, row_bytes: float, most: int) -> int:
    """Number of rows in a number of bytes, at most ``most``.

    Example:
        >>> rows_of(1 << 26, 20_000.0, 1 << 18), rows_of(1 << 26, 16.0, 1 << 18)
        (3355, 262144)
    """
    return max(1, min(most, int(size / row_bytes)))


@dataclass(frozen=True)
class EdgeTable:
    """An edge table on disk, which is never held in memory.

    Attributes:
        inputs: Its files, with their states when it was opened.
        format: ``parquet`` or ``csv``.
        text_ids: Whether ids are text; else they are 64-bit integers.
        rows: Rows of each file.
        num_bytes: Bytes of all rows, uncompressed.
    """

    inputs: InputFiles
    format: str
    schema: pa.Schema
    source: str
    target: str
    text_ids: bool
    rows: tuple[int, ...]
    num_bytes: int

    @staticmethod
    def open(
        name: str, source: str | None = None, target: str | None = None, ids: str = "auto",
        as_text: bool = False,
    ) -> EdgeTable:  # fmt: skip
        """Open a table.

        Args:
            name: A file, a folder or a glob.
            source: Column of one node's ids; by default of :data:`~teddy.scale.columns.ENDS`.
            target: Column of the other node's ids.
            ids: ``integer``, ``text``, or ``auto``: the column's type, or in CSV integers if all
                ids are.
            as_text: Whether the other columns of CSV stay text.

        Example:
            >>> import tempfile
            >>> path = Path(tempfile.mkdtemp()) / "edges.csv"
            >>> _ = path.write_text("src,dst,weight\\n7,8,0.50\\n")
            >>> table = EdgeTable.open(str(path))
            >>> table.source, table.text_ids, table.num_rows
            ('src', False, 1)
        """
        check_ids(ids)
        inputs = InputFiles.find(name)
        kind = common_format(name, inputs.files)
        with inputs.guarded():
            if kind == "parquet":
                return EdgeTable._in_parquet(inputs, source, target, ids)
            return EdgeTable._in_csv(inputs, source, target, ids, as_text)

    @staticmethod
    def _in_parquet(
        inputs: InputFiles, source: str | None, target: str | None, ids: str
    ) -> EdgeTable:
        try:
            schema, rows, size = parquet_files.survey(inputs.files)
        except InputError:
            raise
        except (OSError, ValueError, KeyError) as error:  # pyarrow's are of these
            raise InputError(
                f"{inputs.name}: cannot be read as parquet ({short_reason(error)})"
            ) from error
        ends = find_ends(inputs.name, schema, source, target)
        text = parquet_files.has_text_ids(inputs.name, schema, ends, ids)
        return EdgeTable(inputs, "parquet", schema, *ends, text, rows, size)

    @staticmethod
    def _in_csv(
        inputs: InputFiles, source: str | None, target: str | None, ids: str, as_text: bool
    ) -> EdgeTable:
        first = inputs.files[0]
        with reading_csv(first):
            header = text_schema(first)
        ends = find_ends(inputs.name, header, source, target)
        schema, rows, size, text = csv_types.survey(
            inputs.name, inputs.files, header, ends, as_text, ids
        )
        return EdgeTable(inputs, "csv", schema, *ends, text, rows, size)

    @property
    def name(self) -> str:
        """Name that was given."""
        return self.inputs.name

    @property
    def files(self) -> tuple[Path, ...]:
        """Files, in the order of their rows."""
        return self.inputs.files

    @cached_property
    def num_rows(self) -> int:
        """Number of rows."""
        return sum(self.rows)

    @cached_property
    def id_bytes(self) -> float:
        """Mean bytes of a text id, by the first rows."""
        for sources, targets in self.id_batches():
            return float(sources.nbytes + targets.nbytes) / max(2 * len(sources), 1)
        return 0.0

    @cached_property
    def id_range(self) -> tuple[int, int] | None:
        """Lowest and highest integer id, by Parquet's statistics or a pass; None for text.

        Without rows it is (0, 0).
        """
        if self.text_ids:
            return None
        known = None
        if self.format == "parquet":
            known = parquet_files.id_ranges(self.files, (self.source, self.target))
        if known is None:
            ends = (ids.to_numpy() for both in self.id_batches() for ids in both if len(ids))
            known = [(int(ids.min()), int(ids.max())) for ids in ends]
        return min((low for low, _ in known), default=0), max((h for _, h in known), default=0)

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield all rows in order, in prefetched batches."""
        for file, expected in zip(self.files, self.rows, strict=True):
            rows = 0
            try:
                for batch in prefetch(_merged(self._read(file, columns))):
                    rows += batch.num_rows
                    yield batch
            except InputError:
                raise
            except (OSError, ValueError, KeyError) as error:  # pyarrow's are of these
                raise InputError(f"{file.name}: {short_reason(error)}") from error
            if rows != expected:
                raise self.inputs.changed(str(file), f"had {expected:,} rows, now {rows:,}")

    @property
    def row_bytes(self) -> float:
        """Mean bytes of a row, at least 1."""
        return max(1.0, self.num_bytes / max(self.num_rows, 1))

    def _read(self, file: Path, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        # pyarrow.dataset would prefetch without a limit of memory.
        if self.format == "parquet":
            rows = BATCH if columns is not None else rows_of(BATCH_BYTES, self.row_bytes, BATCH)
            return parquet_files.read_rows(file, self.schema, columns, rows)
        return csv_types.read_rows(file, self.schema, columns)

    def ends(self, batch: pa.RecordBatch, first_row: int) -> tuple[pa.Array, pa.Array]:
        """Ids of both nodes of each row, int64 or text, without nulls."""
        return self._ids(batch, self.source, first_row), self._ids(batch, self.target, first_row)

    def id_batches(self) -> Iterator[tuple[pa.Array, pa.Array]]:
        """Yield the ids of all rows in batches."""
        row = 0
        for batch in self.batches([self.source, self.target]):
            yield self.ends(batch, row)
            row += batch.num_rows

    def _ids(self, batch: pa.RecordBatch, name: str, first_row: int) -> pa.Array:
        column = batch.column(batch.schema.get_field_index(name))
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if self.format == "csv":
            column = csv_types.empty_to_null(column)
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise InputError(f"{self.name}: row {first_row + row + 1}: {name} is empty, expected "
                             f"{'text' if self.text_ids else 'an integer'}")  # fmt: skip
        if self.text_ids:
            try:
                column.validate(full=True)
            except pa.ArrowInvalid:
                raise InputError(
                    f"{self.name}: {name} of a row after {first_row} is not UTF-8, expected text"
                ) from None
            return column.cast(pa.string())
        try:
            if pa.types.is_integer(column.type):
                return column.cast(pa.int64())
            if (integers := as_integers(pa.chunked_array([column]))) is not None:
                return integers.combine_chunks()
        except pa.ArrowInvalid:  # beyond 64 bits
            pass
        row, cell = next(
            (row, cell.as_py())
            for row, cell in enumerate(column)
            if as_integers(pa.chunked_array([[cell.as_py()]], type=column.type)) is None
        )
        raise InputError(
            f"{self.name}: row {first_row + row + 1}: {name} is {shorten(repr(cell), 60)}, "
            "expected a 64-bit integer; ids=text (--ids text) reads all ids as text"
        )


def _merged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Merge small batches, such as those of small row groups."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        rows, size = (sum(getattr(b, size) for b in waiting) for size in ("num_rows", "nbytes"))
        if rows >= BATCH // 2 or size >= BATCH_BYTES // 2 or len(waiting) == 256:
            yield pa.concat_batches(waiting) if len(waiting) > 1 else batch
            waiting = []
    if waiting:
        yield pa.concat_batches(waiting)
