"""Edge tables as they come: Parquet or CSV; a file, a folder or a glob; any ids."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from teddy.data.columns import as_integers
from teddy.data.reading import reason, shorten
from teddy.errors import InputError
from teddy.scale.ahead import read_ahead

if TYPE_CHECKING:
    import pyarrow as pa

#: Names of the two columns of ids that are looked for, in this order.
ENDS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("u", "v"),
    ("node1", "node2"),
)
FORMATS = ("parquet", "csv")
#: What ids are.
IDS = ("auto", "integer", "text")
#: Rows of a batch.
BATCH = 1 << 18


@dataclass(frozen=True)
class EdgeTable:
    """An edge table on disk; nothing of it is kept in memory.

    Attributes:
        name: What the user called it.
        files: Its files, in the order of their rows.
        format: ``parquet`` or ``csv``.
        schema: Columns as they are read.
        source: The column of one end's ids.
        target: The column of the other's.
        text_ids: Whether ids are text; else they are 64-bit integers.
    """

    name: str
    files: tuple[Path, ...]
    format: str
    schema: pa.Schema
    source: str
    target: str
    text_ids: bool

    @staticmethod
    def open(
        name: str,
        source: str | None = None,
        target: str | None = None,
        ids: str = "auto",
        as_text: bool = False,
    ) -> EdgeTable:
        """Look at a table.

        Args:
            name: A file, a folder or a glob.
            source: The column of one end; by default one of :data:`ENDS`.
            target: The column of the other.
            ids: ``integer``, ``text``, or ``auto``: what the column is, or in CSV what its first
                rows look like.
            as_text: Take the other columns of CSV as they are written, without types.

        Example:
            >>> import tempfile
            >>> path = Path(tempfile.mkdtemp()) / "edges.csv"
            >>> _ = path.write_text("src,dst,weight\\n7,8,0.50\\n")
            >>> table = EdgeTable.open(str(path))
            >>> table.source, table.text_ids, table.num_rows
            ('src', False, 1)
        """
        files = _files(name)
        kind = _format(name, files)
        try:
            schema = _csv_schema(files[0], as_text) if kind == "csv" else _parquet_schema(files)
        except InputError:
            raise
        except (OSError, ValueError) as error:  # pyarrow's are of these
            raise InputError(f"{name}: can't be read as {kind} ({why(error)})") from error
        if len(set(schema.names)) < len(schema.names):
            twice = next(column for column in schema.names if schema.names.count(column) > 1)
            raise InputError(f"{name}: column '{twice}' occurs twice, expected it once")
        ends = find_ends(name, schema, source, target)
        if ids not in IDS:
            raise InputError(f"unknown kind of ids '{ids}', expected one of: {', '.join(IDS)}")
        if kind == "csv":
            schema = _with_text(schema, ends)
            try:
                text = _csv_text(files[0], ends) if ids == "auto" else ids == "text"
            except (OSError, ValueError) as error:
                raise InputError(f"{name}: can't be read as {kind} ({why(error)})") from error
        else:
            text = has_text_ids(name, schema, ends, ids)
        return EdgeTable(name, files, kind, schema, *ends, text)

    @cached_property
    def num_rows(self) -> int:
        """Its rows: read from Parquet's footers, counted in CSV."""
        if self.format == "csv":
            return sum(batch.num_rows for batch in self.batches([self.source]))
        from pyarrow import parquet

        return sum(int(parquet.read_metadata(file).num_rows) for file in self.files)

    @property
    def num_bytes(self) -> int:
        """The size of its files."""
        return sum(file.stat().st_size for file in self.files)

    def id_range(self) -> tuple[int, int] | None:
        """The lowest and highest integer id, by Parquet's statistics or by reading all; None: text.

        Without rows it is (0, 0).
        """
        if self.text_ids:
            return None
        known = _range_in_footers(self.files, (self.source, self.target), self.format)
        if known is None:
            ends = (ids.to_numpy() for both in self.id_batches() for ids in both if len(ids))
            known = [(int(ids.min()), int(ids.max())) for ids in ends]
        return min((low for low, _ in known), default=0), max((h for _, h in known), default=0)

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """All rows in their order, a batch at a time, a few of them ahead."""
        for file in self.files:
            try:
                yield from read_ahead(_merged(self._read(file, columns)))
            except InputError:
                raise
            except (OSError, ValueError, KeyError) as error:  # pyarrow's are of these
                raise InputError(f"{file.name}: {why(error)}") from error

    def _read(self, file: Path, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        # Not by pyarrow.dataset, which reads ahead as far as the memory goes.
        from pyarrow import csv, parquet

        if self.format == "parquet":
            with parquet.ParquetFile(file, pre_buffer=False) as content:
                yield from content.iter_batches(BATCH, columns=columns)
            return
        types = {field.name: field.type for field in self.schema}
        options = csv.ConvertOptions(
            column_types=types, include_columns=columns, strings_can_be_null=False
        )
        with csv.open_csv(file, parse_options=_parsing(), convert_options=options) as rows:
            if columns is None and rows.schema.names != self.schema.names:
                got = _columns(rows.schema)
                raise InputError(
                    f"{file.name}: columns are {got}, expected {_columns(self.schema)}"
                )
            yield from rows

    def ends(self, batch: pa.RecordBatch, first_row: int) -> tuple[pa.Array, pa.Array]:
        """The ids of both ends, int64 or text, without nulls.

        Args:
            batch: Rows with both columns.
            first_row: How many rows come before them, for messages.
        """
        return self._ids(batch, self.source, first_row), self._ids(batch, self.target, first_row)

    def id_batches(self) -> Iterator[tuple[pa.Array, pa.Array]]:
        """The ids of all rows, a batch at a time."""
        row = 0
        for batch in self.batches([self.source, self.target]):
            yield self.ends(batch, row)
            row += batch.num_rows

    def _ids(self, batch: pa.RecordBatch, name: str, first_row: int) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        column = batch.column(batch.schema.get_field_index(name))
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if self.format == "csv":
            column = pc.utf8_trim_whitespace(column)
            column = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise InputError(f"{self.name}: row {first_row + row + 1}: {name} is empty, expected "
                             f"{'text' if self.text_ids else 'an integer'}")  # fmt: skip
        if self.text_ids:
            return column.cast(pa.string())
        if not pa.types.is_integer(column.type):
            integers = as_integers(pa.chunked_array([column]))
            if integers is None:
                raise self._no_integer(column, name, first_row)
            return integers.combine_chunks()
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            raise self._no_integer(column, name, first_row) from None

    def _no_integer(self, column: pa.Array, name: str, first_row: int) -> InputError:
        import pyarrow as pa

        for row, cell in enumerate(column):
            if as_integers(pa.chunked_array([[cell.as_py()]], type=column.type)) is None:
                return InputError(
                    f"{self.name}: row {first_row + row + 1}: {name} is "
                    f"{shorten(repr(cell.as_py()), 60)}, expected a 64-bit integer as in the first "
                    "rows; ids=text (--ids text) takes them as text"
                )
        raise AssertionError("a column of integers is one")


def _merged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Put small batches together, as of a file with many small groups of rows."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= BATCH // 2 or len(waiting) == 256:
            yield pa.concat_batches(waiting) if len(waiting) > 1 else batch
            waiting = []
    if waiting:
        yield pa.concat_batches(waiting)


def why(error: BaseException) -> str:
    """What is wrong with a file, of all that pyarrow says.

    Example:
        >>> why(ValueError("Could not open 'a.csv': Invalid: CSV parse error: Row #2: got 3"))
        'CSV parse error: Row #2: got 3'
    """
    return shorten(reason(ValueError(str(error).split("Invalid: ")[-1])))


def table_format(path: str) -> str | None:
    """The format that a name stands for.

    Example:
        >>> table_format("a/edges.csv"), table_format("a/edges")
        ('csv', None)
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    return {"pq": "parquet"}.get(suffix, suffix if suffix in FORMATS else None)


def _files(name: str) -> tuple[Path, ...]:
    path = Path(name)
    if path.is_file():
        return (path,)
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.is_file() and not _hidden(p, path))
        found = [p for p in found if table_format(p.name)]
        if not found:
            raise InputError(f"{name}: no .parquet or .csv in this folder, expected at least one")
        return tuple(found)
    found = sorted(p for p in map(Path, glob.glob(name, recursive=True)) if p.is_file())  # noqa: PTH207
    if not found:
        raise InputError(f"{name}: no such file or folder, nor a pattern that fits any")
    return tuple(found)


def _hidden(path: Path, folder: Path) -> bool:
    """What engines leave beside their files, such as _SUCCESS and .part.crc."""
    return any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)


def _format(name: str, files: tuple[Path, ...]) -> str:
    kinds = {table_format(file.name) for file in files}
    if len(kinds) > 1 or None in kinds:
        got = ", ".join(sorted({file.suffix or file.name for file in files}))
        raise InputError(f"{name}: files are {got}, expected .parquet or .csv, all alike")
    return str(kinds.pop())


def _parquet_schema(files: tuple[Path, ...]) -> pa.Schema:
    from pyarrow import parquet

    schema = parquet.read_schema(files[0])
    for file in files[1:]:
        other = parquet.read_schema(file)
        if not other.equals(schema):
            raise InputError(
                f"{file.name}: columns are {_columns(other)}, expected {_columns(schema)} as in "
                f"{files[0].name}"
            )
    return schema


def _range_in_footers(
    files: tuple[Path, ...], ends: tuple[str, str], kind: str
) -> list[tuple[int, int]] | None:
    """The lowest and highest ids of each group of rows, or None where they aren't all written."""
    from pyarrow import parquet

    found = []
    for file in files if kind == "parquet" else ():
        footer = parquet.ParquetFile(file).metadata
        place = {footer.schema.column(i).path: i for i in range(footer.num_columns)}
        for group, end in product(range(footer.num_row_groups), ends):
            statistics = footer.row_group(group).column(place[end]).statistics
            if statistics is None or not statistics.has_min_max:
                if footer.row_group(group).num_rows:
                    return None
            elif not isinstance(statistics.min, int):
                return None
            else:
                found.append((statistics.min, statistics.max))
    return found if kind == "parquet" else None


def _parsing() -> Any:
    from pyarrow import csv

    return csv.ParseOptions(newlines_in_values=True)  # in quotes


def _csv_schema(file: Path, as_text: bool) -> pa.Schema:
    import pyarrow as pa
    from pyarrow import csv

    if file.stat().st_size == 0:
        raise InputError(f"{file.name}: is empty, expected a header and rows")
    with csv.open_csv(file, parse_options=_parsing()) as start:
        schema = start.schema
    empty = [field.name for field in schema if pa.types.is_null(field.type)]
    return _with_text(schema, schema.names if as_text else empty)


def _with_text(schema: pa.Schema, names: Sequence[str]) -> pa.Schema:
    import pyarrow as pa

    for name in names:
        schema = schema.set(schema.get_field_index(name), pa.field(name, pa.string()))
    return schema


def find_ends(
    name: str, schema: pa.Schema, source: str | None, target: str | None
) -> tuple[str, str]:
    """The columns of ids: those that are given, or of the usual names."""
    names = schema.names
    for end in (source, target):
        if end is not None and end not in names:
            raise InputError(f"{name}: no column '{end}', got {_columns(schema)}")
    if source is not None and target is not None:
        if source == target:
            raise InputError(f"source and target are both '{source}', expected two columns")
        return source, target
    if source is not None or target is not None:
        raise InputError("source and target are given together or not at all, got one of them")
    for pair in ENDS:
        if set(pair) <= set(names):
            return pair
    raise InputError(
        f"{name}: columns are {_columns(schema)}, expected 'source' and 'target' or names given "
        "by source and target (--source, --target)"
    )


def _csv_text(file: Path, ends: tuple[str, str]) -> bool:
    """Whether ids don't look like integers in the first rows."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    options = csv.ConvertOptions(column_types=dict.fromkeys(ends, pa.string()))
    with csv.open_csv(file, parse_options=_parsing(), convert_options=options) as rows:
        head = next(iter(rows), None)
    if head is None:
        return False
    columns = [pc.utf8_trim_whitespace(head[end]) for end in ends]
    filled = [pa.chunked_array([column.filter(pc.not_equal(column, ""))]) for column in columns]
    return any(as_integers(column) is None for column in filled)


def has_text_ids(name: str, schema: pa.Schema, ends: tuple[str, str], ids: str) -> bool:
    """Whether ids in Parquet are text; raise if they can't be ids."""
    import pyarrow as pa

    text = []
    for end in ends:
        kind = schema.field(end).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if pa.types.is_integer(kind):
            text.append(False)
        elif (
            pa.types.is_string(kind)
            or pa.types.is_large_string(kind)
            or re.match("string_view", str(kind))
        ):
            text.append(True)
        else:
            raise InputError(f"{name}: column '{end}' is {kind}, expected integers or text")
    if ids != "auto":
        return ids == "text"
    return any(text)


def _columns(schema: pa.Schema) -> str:
    return shorten(", ".join(f"'{field.name}' ({field.type})" for field in schema))
