"""CSV and Parquet tables: columns as ids, classes or numbers, with errors that name the row.

Errors count rows from 1, without the header.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from teddy.data.reading import reading, shorten
from teddy.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


@dataclass(frozen=True)
class Table:
    """Table and its file.

    Attributes:
        path: The file.
        arrow: Content, with trimmed text and null for empty cells.
    """

    path: Path
    arrow: pa.Table

    @staticmethod
    def read(path: Path, required: tuple[str, ...]) -> Table:
        """Read a file, or raise unless it has rows and the required columns."""
        with reading(path, "a table"):
            if path.stat().st_size == 0:
                raise InputError(f"{path.name}: is empty, expected columns {_list(required)}")
            arrow = _read_csv(path) if path.suffix.lower() == ".csv" else _read_parquet(path)
            names = [name.strip() for name in arrow.column_names]
            for name in required:
                if name not in names:
                    raise InputError(f"{path.name}: no column '{name}', got {_list(names)}")
            if len(set(names)) < len(names):
                repeated = next(name for name in names if names.count(name) > 1)
                raise InputError(f"{path.name}: column {repeated!r} occurs twice, expected it once")
            if arrow.num_rows == 0:
                raise InputError(f"{path.name}: no rows, expected at least one")
            columns = [_plain(column) for column in arrow.itercolumns()]
            return Table(path, arrow.from_arrays(columns, names=names))

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.arrow.column_names)

    def error(self, row: int, problem: str) -> InputError:
        """Return the error for a row, counted from 0 here and from 1 in the message."""
        return InputError(f"{self.path.name}: row {row + 1}: {problem}")

    def value(self, name: str, row: int) -> str:
        """Return the text of a cell for messages."""
        return shorten(repr(self.arrow[name][row].as_py()), 60)

    def ids(self, name: str, expected: str) -> pa.ChunkedArray:
        """Return a column of node ids, int64 or string; raise if one is empty."""
        import pyarrow as pa

        column = self.arrow[name]
        self._no_nulls(name, expected)
        if pa.types.is_integer(column.type):
            with reading(self.path, f"64-bit integers in column '{name}'"):
                return column.cast(pa.int64())
        if not pa.types.is_string(column.type):
            kind = column.type
            raise InputError(f"{self.path.name}: column '{name}' is {kind}, expected {expected}")
        return column

    def numbers(self, name: str, what: str | None = None, optional: bool = False) -> np.ndarray:
        """Return a column as finite float32 ``[rows]``.

        Args:
            name: Name of the column.
            what: Text for messages; by default the name of a feature.
            optional: True if cells may be empty; they become nan.
        """
        import pyarrow as pa

        column, what = self.arrow[name], what or f"feature {name!r}"
        if optional:
            empty = column.is_null(nan_is_null=True).to_numpy()
        else:
            self._no_nulls(name, "a number", what=what)
            empty = np.zeros(len(column), dtype=bool)
        try:
            wide = column.cast(pa.float64()).to_numpy()
        except pa.ArrowException as error:
            row = next(i for i in range(len(column)) if not (empty[i] or _is_number(column[i])))
            problem = f"{what} is {self.value(name, row)}, expected a number"
            raise self.error(row, problem) from error
        with np.errstate(over="ignore"):
            values: np.ndarray = wide.astype(np.float32)
        wrong = ~np.isfinite(values) & ~empty
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            limit = " of at most 3.4e38" if math.isfinite(wide[row]) else ""
            raise self.error(row, f"{what} is {wide[row]}, expected a finite number{limit}")
        return values

    def _no_nulls(self, name: str, expected: str, what: str | None = None) -> None:
        column = self.arrow[name]
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy())[0])
            raise self.error(row, f"{what or name} is empty, expected {expected}")


def as_integers(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return int64 if every value is an integer in its usual form, else None.

    Example:
        >>> import pyarrow as pa
        >>> as_integers(pa.chunked_array([["7", "12"]])).to_pylist()
        [7, 12]
        >>> as_integers(pa.chunked_array([["007", "12"]])) is None  # names, not numbers
        True
    """
    import pyarrow as pa

    try:
        integers = column.cast(pa.int64())
    except pa.ArrowException:
        return None
    return integers if integers.cast(column.type).equals(column) else None


def _read_csv(path: Path) -> pa.Table:
    import pyarrow as pa

    try:
        return _read_text(path)
    except pa.ArrowInvalid:
        pass
    try:
        return _read_text(path, threads=False)  # with several the error has no row
    except pa.ArrowInvalid as error:
        ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", str(error))
        if ragged is None:
            raise
        row, expected, got = map(int, ragged.groups())
        raise InputError(f"{path.name}: row {row - 1}: {got} cells, expected {expected}") from error


def _read_text(path: Path, threads: bool = True) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    options = csv.ReadOptions(use_threads=threads)
    # As text: the inferred type of a column can change after a megabyte, and 007 is not a number.
    with csv.open_csv(path, options) as start:
        types = dict.fromkeys(start.schema.names, pa.string())
    return csv.read_csv(path, options, convert_options=csv.ConvertOptions(column_types=types))


def _read_parquet(path: Path) -> pa.Table:
    from pyarrow import parquet

    return parquet.ParquetFile(path).read()


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decode dictionaries and large strings, trim text, and set empty cells to null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        column = column.cast(pa.string())
    if pa.types.is_string(column.type):
        column = pc.utf8_trim_whitespace(column)
        column = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
    return column


def _is_number(cell: Any) -> bool:
    import pyarrow as pa

    try:
        cell.cast(pa.float64())
    except pa.ArrowException:
        return False
    return True


def _list(names: tuple[str, ...] | list[str]) -> str:
    return shorten(", ".join(repr(name) for name in names))
