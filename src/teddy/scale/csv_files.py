"""Tables in CSV: columns and rows. ``csv_lines.py`` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teddy.errors import InputError
from teddy.scale.columns import columns_of
from teddy.scale.csv_types import convert

if TYPE_CHECKING:
    import pyarrow as pa


def text_schema(file: Path) -> pa.Schema:
    """Columns by the first line, all of them text."""
    import pyarrow as pa
    from pyarrow import csv

    if file.stat().st_size == 0:
        raise InputError(f"{file.name}: is empty, expected a header and rows")
    with open_bytes(file) as stream, csv.open_csv(stream, parse_options=_parsing(file)) as start:
        return pa.schema([(name, pa.string()) for name in start.schema.names])


def read_text(
    file: Path, stream: Any, schema: pa.Schema, columns: list[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """All rows of a file in their order, a block at a time, every cell as it is written."""
    import pyarrow as pa
    from pyarrow import csv

    header = text_schema(file)
    if header.names != schema.names:
        got, expected = columns_of(header), columns_of(schema)
        raise InputError(f"{file.name}: columns are {got}, expected {expected}")
    options = csv.ConvertOptions(
        column_types=dict.fromkeys(schema.names, pa.string()),
        include_columns=columns,
        strings_can_be_null=False,
    )
    with csv.open_csv(stream, parse_options=_parsing(file), convert_options=options) as rows:
        yield from rows


def read_rows(file: Path, schema: pa.Schema, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    """All rows of a file in their order, a block at a time, with the types of a schema."""
    import pyarrow as pa

    wanted = schema if columns is None else pa.schema([schema.field(name) for name in columns])
    with open_bytes(file) as stream:
        for batch in read_text(file, stream, schema, columns):
            cells = [convert(batch[field.name], field.type) for field in wanted]
            yield pa.record_batch(cells, schema=wanted)


def open_bytes(file: Path) -> Any:
    """The bytes of a file; ``.gz`` is unpacked."""
    import pyarrow as pa

    return pa.input_stream(str(file), compression="gzip" if _ends(file, ".gz") else None)


def delimiter(file: Path) -> str:
    """The character between cells: a tab in TSV, else a comma.

    Example:
        >>> delimiter(Path("edges.tsv.gz")), delimiter(Path("edges.csv"))
        ('\\t', ',')
    """
    return "\t" if _ends(file, ".tsv", ".tsv.gz") else ","


def _ends(file: Path, *suffixes: str) -> bool:
    return file.name.lower().endswith(suffixes)


def _parsing(file: Path) -> Any:
    from pyarrow import csv

    return csv.ParseOptions(delimiter=delimiter(file), newlines_in_values=True)  # in quotes
