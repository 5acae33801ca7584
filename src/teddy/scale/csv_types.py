"""CSV with types, which a first pass over all rows finds so that no text is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from teddy.data.reading import shorten
from teddy.data.table_file import as_integers
from teddy.errors import InputError
from teddy.scale.csv_files import CheckedStream, open_bytes, read_text, reading_csv

# Integers below are written without an exponent as doubles, too.
_PLAIN = 10**10


class ColumnTypes:
    """Types of columns that reproduce the text of every cell.

    A column with ``01234``, ``1e400``, ``NA`` or a number of 20 digits stays text. An empty cell is
    null in a column that is not text.

    Example:
        >>> import pyarrow as pa
        >>> types = ColumnTypes(["age", "code"])
        >>> types.update(pa.record_batch({"age": ["7", ""], "code": ["1", "01"]}))
        >>> types.type_of("age"), types.type_of("code")
        (DataType(int64), DataType(string))
    """

    def __init__(self, names: list[str]) -> None:
        self._possible = {name: list(_CHECKS) for name in names}
        self._filled: set[str] = set()

    def update(self, batch: pa.RecordBatch) -> None:
        """Drop types that cells of a batch rule out."""
        for name, possible in self._possible.items():
            if not possible:
                continue
            text = batch[name]
            text = text.filter(pc.not_equal(text, ""))
            if len(text):
                self._filled.add(name)
                few = text.slice(0, 8)  # most types fail early, and a check of many cells is slow
                possible = [check for check in possible if check[1](few)]
                self._possible[name] = [check for check in possible if check[1](text)]

    def type_of(self, name: str) -> pa.DataType:
        """Type of a column after all batches."""
        possible = self._possible[name] if name in self._filled else []
        return possible[0][0] if possible else pa.string()


def convert(text: pa.Array, kind: pa.DataType) -> pa.Array:
    """Convert cells to a type that :class:`ColumnTypes` has found."""
    return text if kind == text.type else empty_to_null(text).cast(kind)


def empty_to_null(text: pa.Array) -> pa.Array:
    """Replace empty cells with null."""
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


def read_rows(file: Path, schema: pa.Schema, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file in order, in blocks with the types of a schema."""
    wanted = schema if columns is None else pa.schema([schema.field(name) for name in columns])
    with open_bytes(file) as stream:
        for batch in read_text(file, stream, schema, columns):
            cells = [convert(batch[field.name], field.type) for field in wanted]
            yield pa.record_batch(cells, schema=wanted)


def survey(
    name: str, files: Sequence[Path], schema: pa.Schema, ends: tuple[str, str], as_text: bool,
    ids: str,
) -> tuple[pa.Schema, tuple[int, ...], int, bool]:  # fmt: skip
    """Read all rows once; return columns, rows per file, bytes, and whether ids are text.

    Args:
        ends: The two id columns, which stay text.
        as_text: Whether the other columns stay text.
        ids: ``integer``, ``text``, or ``auto``: text unless all are integers in the usual form.
    """
    others = [] if as_text else [column for column in schema.names if column not in ends]
    types, kind = ColumnTypes(others), _IdKind(name, ends)
    rows, num_bytes = [0] * len(files), 0
    for place, file in enumerate(files):
        with reading_csv(file), closing(CheckedStream(file)) as stream:
            for batch in read_text(file, stream, schema, [*ends, *others]):
                types.update(batch)
                if ids == "auto":
                    kind.update(batch, sum(rows))
                rows[place] += batch.num_rows
            num_bytes += stream.num_bytes
    typed = {column: types.type_of(column) for column in others}
    schema = pa.schema([(column, typed.get(column, pa.string())) for column in schema.names])
    text = kind.is_text() if ids == "auto" else ids == "text"
    return schema, tuple(rows), num_bytes, text


class _IdKind:
    """Type of ids: text if one of them is not an integer."""

    def __init__(self, name: str, ends: tuple[str, str]) -> None:
        self._name, self._ends = name, ends
        self._integers = True
        self._but_for_blanks = True
        self._blank: str | None = None  # the first id with blanks around it

    def update(self, batch: pa.RecordBatch, first_row: int) -> None:
        """Add a batch."""
        for end in self._ends if self._but_for_blanks else ():
            ids = batch[end]
            if as_integers(_filled(ids)) is not None:
                continue
            self._integers = False
            trimmed = pc.utf8_trim_whitespace(ids)
            if as_integers(_filled(trimmed)) is None:
                self._but_for_blanks = False
            elif self._blank is None:
                row = int(np.flatnonzero(pc.not_equal(trimmed, ids))[0])
                self._blank = f"row {first_row + row + 1}: {end} is {ids[row].as_py()!r}"

    def is_text(self) -> bool:
        """Return whether ids are text; raise if only surrounding blanks make them text."""
        if self._blank is not None and self._but_for_blanks:
            raise InputError(
                f"{self._name}: {shorten(self._blank)}, expected an integer without blanks; "
                "ids=text (--ids text) keeps ids as text, blanks included"
            )
        return not self._integers


def _filled(ids: pa.Array) -> pa.ChunkedArray:
    return pa.chunked_array([ids.filter(pc.not_equal(ids, ""))])


def _is_integer(text: pa.Array) -> bool:
    return as_integers(pa.chunked_array([text])) is not None


def _comes_back(kind: pa.DataType, text: pa.Array) -> bool:
    try:
        return bool(text.cast(kind).cast(pa.string()).equals(text))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False


def _is_double(text: pa.Array) -> bool:
    """Return whether text is in Arrow's format of doubles: 1, 0.5, 0.00001, 1e+16."""
    if _is_integer(text.slice(0, 8)) and _is_integer(text):
        values = text.cast(pa.int64()).to_numpy()
        return bool((values > -_PLAIN).all() and (values < _PLAIN).all())
    return _comes_back(pa.float64(), text)


def _is_double_of_python(text: pa.Array) -> bool:
    """Return whether text is in Python's format of doubles: 1.0, 0.5, 1e-05, 1e+16."""
    try:
        values = text.cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    written = values.cast(pa.string())
    whole = pc.invert(pc.match_substring_regex(written, "[.en]"))
    written = pc.if_else(whole, pc.binary_join_element_wise(written, "0", "."), written)
    differ = np.flatnonzero(pc.not_equal(written, text).to_numpy(zero_copy_only=False))
    # The formats differ only where one of them uses an exponent.
    size = np.abs(values.to_numpy())
    few = (size < 1e-3) | (size >= _PLAIN / 10)
    if not few[differ].all():
        return False
    rows = np.flatnonzero(few)
    return list(map(repr, values.take(rows).to_pylist())) == list(text.take(rows).to_pylist())


# Types in order of preference, each with a check of a text column.
_CHECKS: list[tuple[pa.DataType, Callable[[pa.Array], bool]]] = [
    (pa.int64(), _is_integer),
    *((kind, partial(_comes_back, kind)) for kind in (pa.bool_(), pa.date32(), pa.timestamp("s"))),
    (pa.float64(), _is_double),
    (pa.float64(), _is_double_of_python),
]
