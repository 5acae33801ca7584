"""Tables in Parquet: columns, type and range of ids."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from teddy.errors import InputError
from teddy.scale.columns import columns_of


def survey(files: tuple[Path, ...]) -> tuple[pa.Schema, tuple[int, ...], int]:
    """Read the footers; return the common columns, rows of each file, and bytes of all rows."""
    schema, rows, size = parquet.read_schema(files[0]), [], 0
    for file in files:
        footer = parquet.read_metadata(file)
        other = footer.schema.to_arrow_schema()
        if not other.equals(schema):
            got, expected = columns_of(other), columns_of(schema)
            raise InputError(
                f"{file.name}: columns are {got}, expected {expected} as in {files[0].name}"
            )
        _check_times(file, footer)
        rows.append(int(footer.num_rows))
        groups = map(footer.row_group, range(footer.num_row_groups))
        size += sum(int(group.total_byte_size) for group in groups)
    return without_views(schema), tuple(rows), size


def _check_times(file: Path, footer: Any) -> None:
    """Raise if a time in the old format INT96 is outside the range of nanoseconds.

    pyarrow would read 9999-12-31, a usual placeholder for "never", as a day of 1816.
    """
    columns = map(footer.schema.column, range(footer.num_columns))
    old = sorted({c.path.split(".")[0] for c in columns if c.physical_type == "INT96"})
    if not old:
        return
    with (
        parquet.ParquetFile(file) as exact,
        parquet.ParquetFile(file, coerce_int96_timestamp_unit="us") as wide,
    ):
        pairs = zip(exact.iter_batches(columns=old), wide.iter_batches(columns=old), strict=True)
        for nanoseconds, microseconds in pairs:
            if not nanoseconds.cast(microseconds.schema, safe=False).equals(microseconds):
                raise InputError(
                    f"{file.name}: {', '.join(old)} has times before 1677 or after 2262 as INT96, "
                    "expected timestamps in microseconds; in Spark, set "
                    "spark.sql.parquet.outputTimestampType to TIMESTAMP_MICROS and write it again"
                )


def without_views(schema: pa.Schema) -> pa.Schema:
    """Replace text views by text, nested ones too: pyarrow cannot filter views.

    Example:
        >>> import pyarrow as pa
        >>> without_views(pa.schema([("words", pa.list_(pa.string_view()))]))
        words: list<item: string>
          child 0, item: string
    """
    return pa.schema([_without_views(field) for field in schema], schema.metadata)


def _without_views(field: pa.Field) -> pa.Field:
    kind = field.type
    plain = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
    if kind in plain:
        kind = plain[kind]
    elif pa.types.is_struct(kind):
        kind = pa.struct([_without_views(kind.field(i)) for i in range(kind.num_fields)])
    elif pa.types.is_map(kind):
        kind = pa.map_(_without_views(kind.key_field), _without_views(kind.item_field))
    elif pa.types.is_fixed_size_list(kind):
        kind = pa.list_(_without_views(kind.value_field), kind.list_size)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        make = pa.list_ if pa.types.is_list(kind) else pa.large_list
        kind = make(_without_views(kind.value_field))
    return field.with_type(kind)


def read_rows(
    file: Path, schema: pa.Schema, columns: list[str] | None, size: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file in order, in batches of a size."""
    wanted = schema if columns is None else pa.schema([schema.field(name) for name in columns])
    with parquet.ParquetFile(file, pre_buffer=False) as content:
        for batch in content.iter_batches(size, columns=columns):
            same = batch.schema.equals(wanted)
            yield batch if same else batch.select(wanted.names).cast(wanted)


def has_text_ids(name: str, schema: pa.Schema, ends: tuple[str, str], ids: str) -> bool:
    """Return whether ids in Parquet are text; raise on other types than integers and text."""
    text = []
    for end in ends:
        kind = schema.field(end).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if pa.types.is_integer(kind):
            text.append(False)
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            text.append(True)
        else:
            raise InputError(f"{name}: column '{end}' is {kind}, expected integers or text")
    if ids != "auto":
        return ids == "text"
    return any(text)


def id_ranges(files: tuple[Path, ...], ends: tuple[str, str]) -> list[tuple[int, int]] | None:
    """Lowest and highest ids of each row group, or None if statistics are missing."""
    ranges = []
    for file in files:
        footer = parquet.ParquetFile(file).metadata
        paths = [footer.schema.column(i).path for i in range(footer.num_columns)]
        if any(paths.count(end) != 1 for end in ends):  # 'a.b' can be a field of a column 'a', too
            return None
        place = {end: paths.index(end) for end in ends}
        for group, end in product(range(footer.num_row_groups), ends):
            statistics = footer.row_group(group).column(place[end]).statistics
            if statistics is None or not statistics.has_min_max:
                if footer.row_group(group).num_rows:
                    return None
            elif not isinstance(statistics.min, int):
                return None
            else:
                ranges.append((statistics.min, statistics.max))
    return ranges
