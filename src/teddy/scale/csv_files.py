"""CSV files as text: columns and rows, with every quoted cell checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from teddy.errors import InputError
from teddy.scale.columns import columns_of
from teddy.scale.files import short_reason

_BLOCK, _QUOTE = 1 << 20, ord('"')


def text_schema(file: Path) -> pa.Schema:
    """Columns by the first line, all of them text."""
    if file.stat().st_size == 0:
        raise InputError(f"{file.name}: is empty, expected a header and rows")
    with open_bytes(file) as stream, csv.open_csv(stream, parse_options=_parsing(file)) as start:
        return pa.schema([(name, pa.string()) for name in start.schema.names])


def read_text(
    file: Path, stream: Any, schema: pa.Schema, columns: list[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """All rows of a file in their order, a block at a time, every cell as it is written."""
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


def open_bytes(file: Path) -> Any:
    """The bytes of a file; ``.gz`` is unpacked."""
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
    return csv.ParseOptions(delimiter=delimiter(file), newlines_in_values=True)  # in quotes


class CheckedStream:
    """Bytes of a CSV file, unpacked, that raise where a quoted cell doesn't end as it should.

    A quote opens a cell only at its start; within the cell quotes are doubled; after the closing
    quote comes a delimiter or the end of the line. Anything else is read differently by every
    program, and mostly comes from a quote that isn't closed.

    Attributes:
        num_bytes: Bytes so far.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "edges.csv"
        >>> _ = file.write_text('source,target,note\\n1,2,"a, b"\\n2,3,"c\\n3,4,d\\n')
        >>> CheckedStream(file).drain()
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: edges.csv: line 3: a cell begins with a quote that isn't closed,
        expected one at the cell's end and doubled quotes within it
    """

    closed = False

    def __init__(self, file: Path) -> None:
        self.num_bytes = 0
        self._file, self._ends = file, f"{delimiter(file)}\r\n".encode()
        self._opening = re.compile(rb'(?<=[%b])"' % self._ends)
        self._rest_of_cell = re.compile(rb'[^"]*(?:""[^"]*)*"(?!")')
        self._is_end = np.isin(np.arange(256), list(self._ends))
        self._stream = open_bytes(file)
        self._held = b"\n"  # the byte before those that are next, and quotes that may be half pairs
        self._opened: int | None = None  # where the cell begins that isn't closed yet

    def read(self, size: int = _BLOCK) -> bytes:
        """The next bytes, checked."""
        block: bytes = self._stream.read(size)
        self._check(block)
        self.num_bytes += len(block)
        return block

    def drain(self) -> None:
        """Check all that is left."""
        while self.read():
            pass

    def close(self) -> None:
        """Close the file."""
        self.closed = True
        self._stream.close()

    def _check(self, block: bytes) -> None:
        data = self._held + block
        first = self.num_bytes - len(self._held)  # offset of data
        end = len(data.rstrip(b'"')) if block else len(data)
        if not self._alternate(data, first, end):
            self._step_through(data, first, end)
        if not block and self._opened is not None:
            raise self._error(self._opened)
        self._held = data[max(end, 1) - 1 :]

    def _alternate(self, data: bytes, first: int, end: int) -> bool:
        """Take quotes for opening and closing in turn; whether all stand where these can."""
        codes = np.frombuffer(data + b"\n", np.uint8)
        quotes = np.flatnonzero(codes[1:end] == _QUOTE) + 1
        inside = self._opened is not None
        opening, closing_ = quotes[int(inside) :: 2], quotes[int(not inside) :: 2]
        before, after = codes[opening - 1], codes[closing_ + 1]
        begins = self._is_end[before]  # else it is the second of two, within a cell
        if not (begins | (before == _QUOTE)).all():
            return False
        if not (self._is_end[after] | (after == _QUOTE)).all():
            return False
        if (quotes.size + inside) % 2 == 0:
            self._opened = None
        elif begins.any():
            self._opened = first + int(opening[begins][-1])
        return True

    def _step_through(self, data: bytes, first: int, end: int) -> None:
        """Cell by cell, where there are quotes within cells that aren't quoted."""
        place = 1
        while place < end:
            if self._opened is None:
                opening = self._opening.search(data, place, end)
                if opening is None:
                    break
                self._opened, place = first + opening.start(), opening.end()
            rest = self._rest_of_cell.match(data, place, end)
            if rest is None:
                break
            place = rest.end()
            if place < len(data) and not self._is_end[data[place]]:
                raise self._error(self._opened)
            self._opened = None

    def _error(self, place: int) -> InputError:
        lines = 1
        with open_bytes(self._file) as stream:
            while place > 0 and (block := stream.read(min(_BLOCK, place))):
                lines += block.count(b"\n") or block.count(b"\r")
                place -= len(block)
        return InputError(
            f"{self._file.name}: line {lines}: a cell begins with a quote that isn't closed, "
            "expected one at the cell's end and doubled quotes within it"
        )


@contextmanager
def reading_csv(file: Path) -> Iterator[None]:
    """Turn whatever pyarrow raises into one line; an unclosed quote is the better explanation."""
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError, KeyError) as error:  # pyarrow's are of these
        if not isinstance(error, OSError):
            with closing(CheckedStream(file)) as stream:
                stream.drain()
        raise InputError(f"{file.name}: can't be read as csv ({short_reason(error)})") from error
