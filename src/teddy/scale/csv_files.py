"""Tables in CSV: columns, the kind of ids, rows. ``csv_lines.py`` writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teddy.data.columns import as_integers
from teddy.errors import InputError
from teddy.scale.columns import columns_of

if TYPE_CHECKING:
    import pyarrow as pa


def schema_of(file: Path, as_text: bool) -> pa.Schema:
    """Columns by their first rows, or all as text."""
    import pyarrow as pa
    from pyarrow import csv

    if file.stat().st_size == 0:
        raise InputError(f"{file.name}: is empty, expected a header and rows")
    with csv.open_csv(file, parse_options=_parsing()) as start:
        schema = start.schema
    empty = [field.name for field in schema if pa.types.is_null(field.type)]
    return with_text(schema, schema.names if as_text else empty)


def with_text(schema: pa.Schema, names: Sequence[str]) -> pa.Schema:
    """The same columns, some of them as text."""
    import pyarrow as pa

    for name in names:
        schema = schema.set(schema.get_field_index(name), pa.field(name, pa.string()))
    return schema


def has_text_ids(files: Sequence[Path], ends: tuple[str, str]) -> bool:
    """Whether ids don't look like integers in the first rows."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    options = csv.ConvertOptions(column_types=dict.fromkeys(ends, pa.string()))
    for file in files:  # the first that has rows
        with csv.open_csv(file, parse_options=_parsing(), convert_options=options) as rows:
            head = next(iter(rows), None)
        if head is not None and head.num_rows:
            break
    else:
        return False
    columns = [pc.utf8_trim_whitespace(head[end]) for end in ends]
    filled = [pa.chunked_array([column.filter(pc.not_equal(column, ""))]) for column in columns]
    return any(as_integers(column) is None for column in filled)


def read_rows(file: Path, schema: pa.Schema, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    """All rows of a file in their order, a block at a time."""
    from pyarrow import csv

    options = csv.ConvertOptions(
        column_types={field.name: field.type for field in schema},
        include_columns=columns,
        strings_can_be_null=False,
    )
    with csv.open_csv(file, parse_options=_parsing(), convert_options=options) as rows:
        if columns is None and rows.schema.names != schema.names:
            got, expected = columns_of(rows.schema), columns_of(schema)
            raise InputError(f"{file.name}: columns are {got}, expected {expected}")
        yield from rows


def _parsing() -> Any:
    from pyarrow import csv

    return csv.ParseOptions(newlines_in_values=True)  # in quotes
