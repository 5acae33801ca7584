"""CSV files as text: columns and rows, with a check of quoted cells."""

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
    """Text columns named by the first line."""
    if file.stat().st_size == 0:
        raise InputError(f"{file.name}: is empty, expected a header and rows")
    with open_bytes(file) as stream, csv.open_csv(stream, parse_options=_parsing(file)) as start:
        return pa.schema([(name, pa.string()) for name in start.schema.names])


def read_text(
    file: Path, stream: Any, schema: pa.Schema, columns: list[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file in order, in blocks of unparsed cells."""
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
    """Open a file as a stream of bytes; ``.gz`` is decompressed."""
    return pa.input_stream(str(file), compression="gzip" if _ends(file, ".gz") else None)


def delimiter(file: Path) -> str:
    """Return the delimiter of a file: a tab for TSV, else a comma.

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
    """Stream of a CSV file's bytes that raises on a malformed quoted cell.

    A quote opens a cell only at its start; within the cell quotes are doubled; a delimiter or the
    end of the line follows the closing quote. Programs differ in how they read anything else, which
    mostly comes from an unclosed quote.

    Attributes:
        num_bytes: Number of bytes read.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "edges.csv"
        >>> _ = file.write_text('source,target,note\\n1,2,"a, b"\\n2,3,"c\\n3,4,d\\n')
        >>> CheckedStream(file).drain()
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: edges.csv: line 3: a cell has an opening quote only, expected one
        at its end, too, and doubled quotes within it
    """

    closed = False

    def __init__(self, file: Path) -> None:
        self.num_bytes = 0
        self._file, self._ends = file, f"{delimiter(file)}\r\n".encode()
        self._opening = re.compile(rb'(?<=[%b])"' % self._ends)
        self._rest_of_cell = re.compile(rb'[^"]*(?:""[^"]*)*"(?!")')
        self._is_end = np.isin(np.arange(256), list(self._ends))
        self._stream = open_bytes(file)
        self._held = b"\n"  # the last byte, and quotes that may be half of a pair
        self._opened: int | None = None  # start of a cell that is not closed yet

    def read(self, size: int = _BLOCK) -> bytes:
        """Read and check the next bytes."""
        block: bytes = self._stream.read(size)
        self._check(block)
        self.num_bytes += len(block)
        return block

    def drain(self) -> None:
        """Read and check the rest."""
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
        """Pair quotes in turn; return whether each opens or closes a cell at a valid place."""
        codes = np.frombuffer(data + b"\n", np.uint8)
        quotes = np.flatnonzero(codes[1:end] == _QUOTE) + 1
        inside = self._opened is not None
        opening, closing_ = quotes[int(inside) :: 2], quotes[int(not inside) :: 2]
        before, after = codes[opening - 1], codes[closing_ + 1]
        begins = self._is_end[before]  # else the second of a doubled quote
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
        """Check cell by cell, where unquoted cells contain quotes."""
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
            f"{self._file.name}: line {lines}: a cell has an opening quote only, expected one at "
            "its end, too, and doubled quotes within it"
        )


@contextmanager
def reading_csv(file: Path) -> Iterator[None]:
    """Raise errors of pyarrow as one line; report an unclosed quote instead if there is one."""
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError, KeyError) as error:  # pyarrow's are of these
        if not isinstance(error, OSError):
            with closing(CheckedStream(file)) as stream:
                stream.drain()
        raise InputError(f"{file.name}: cannot be read as csv ({short_reason(error)})") from error
