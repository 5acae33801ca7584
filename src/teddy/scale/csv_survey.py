"""A first pass over CSV, for what only all rows can tell: their number, types, kind of ids."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from teddy.data.columns import as_integers
from teddy.data.reading import shorten
from teddy.errors import InputError
from teddy.scale.csv_files import read_text
from teddy.scale.csv_quotes import CheckedStream, reading_csv
from teddy.scale.csv_types import Types

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Survey:
    """Properties of all rows.

    Attributes:
        rows: Rows of each file.
        num_bytes: Bytes of all files, unpacked.
        schema: Columns as they are read; ids are text.
        text_ids: Whether an id isn't an integer written the usual way.
    """

    rows: tuple[int, ...]
    num_bytes: int
    schema: pa.Schema
    text_ids: bool


def survey(
    name: str, files: Sequence[Path], schema: pa.Schema, ends: tuple[str, str], as_text: bool,
    ids: str,
) -> Survey:  # fmt: skip
    """Read all rows once.

    Args:
        name: The table, for messages.
        files: Its files.
        schema: Its columns as text.
        ends: Its columns of ids.
        as_text: Whether the other columns stay text.
        ids: ``integer``, ``text`` or ``auto``.
    """
    import pyarrow as pa

    others = [] if as_text else [column for column in schema.names if column not in ends]
    types, kind = Types(others), _KindOfIds(name, ends)
    rows, num_bytes = [0] * len(files), 0
    for place, file in enumerate(files):
        with reading_csv(file), closing(CheckedStream(file)) as stream:
            for batch in read_text(file, stream, schema, [*ends, *others]):
                types.see(batch)
                if ids == "auto":
                    kind.see(batch, sum(rows))
                rows[place] += batch.num_rows
            num_bytes += stream.num_bytes
    typed = {column: types.of(column) for column in others}
    schema = pa.schema([(column, typed.get(column, pa.string())) for column in schema.names])
    text = kind.is_text() if ids == "auto" else ids == "text"
    return Survey(tuple(rows), num_bytes, schema, text)


class _KindOfIds:
    """Whether ids are text: one that isn't an integer makes all of them text."""

    def __init__(self, name: str, ends: tuple[str, str]) -> None:
        self._name, self._ends = name, ends
        self._integers = True
        self._but_for_blanks = True
        self._blank: str | None = None  # the first id with blanks around it

    def see(self, batch: pa.RecordBatch, first_row: int) -> None:
        """Look at a batch."""
        import pyarrow.compute as pc

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
        """The kind by all rows; raise if nothing but blanks around them makes ids text."""
        if self._blank is not None and self._but_for_blanks:
            raise InputError(
                f"{self._name}: {shorten(self._blank)}, expected an integer without blanks; "
                "ids=text (--ids text) takes ids as they are written, blanks included"
            )
        return not self._integers


def _filled(ids: pa.Array) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pa.chunked_array([ids.filter(pc.not_equal(ids, ""))])
