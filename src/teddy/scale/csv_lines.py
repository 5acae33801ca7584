"""Rows as lines of CSV; a cell is quoted only where it must be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teddy.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


class CSVFile:
    """Writes tables to a stream, after a line with the names of their columns.

    Args:
        stream: Where to.
        schema: The columns.
        nulls: Whether a null and an empty text are to be told apart: the latter is then ``""``.

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
        import pyarrow as pa

        self._stream, self._nulls = stream, nulls
        names = pa.table([pa.array([name]) for name in schema.names], names=schema.names)
        self.write_table(names)

    def write_table(self, rows: pa.Table) -> None:
        """Write rows."""
        import pyarrow as pa
        import pyarrow.compute as pc

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
        """Nothing is held back."""


def _cells(name: str, column: pa.Array, nulls: bool) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        if not _has_text(column.type):
            raise pa.ArrowNotImplementedError
        text = column.cast(pa.large_string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise InputError(f"column '{name}' is {column.type}, which CSV can't hold") from None
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
    """Whether Arrow's text of a type says all: not of durations (no unit), nor of raw bytes."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return bool(pa.types.is_string(kind.storage_type))
    return not pa.types.is_duration(kind)
