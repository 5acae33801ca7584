"""Tables and lines of text on stdout."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

#: Characters that a terminal would obey: control characters, and those that turn text around.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
#: Columns of a table that is written to a file or a pipe.
_FILE_WIDTH = 400


def printable(text: object) -> str:
    """A text without control characters, as names in files may have them.

    Example:
        >>> printable("gcn\\x1b[31m")
        'gcn\ufffd[31m'
    """
    return _CONTROL.sub("\ufffd", str(text))


def print_table(
    title: str, headings: Iterable[str], rows: Iterable[Iterable[Any]], texts: int = 1
) -> None:
    """Print a table, at most as wide as the terminal.

    Args:
        title: Line above the table.
        headings: Names of the columns.
        rows: Cells.
        texts: Number of columns of text, which come first and are aligned left.
    """
    print_text(title)
    table = Table(box=box.SIMPLE_HEAD, collapse_padding=True)
    for index, heading in enumerate(headings):
        justify: Any = "left" if index < texts else "right"
        table.add_column(Text(printable(heading)), justify=justify, no_wrap=index == 0)
    for row in rows:
        table.add_row(*(Text("" if cell is None else printable(cell)) for cell in row))
    terminal = sys.stdout.isatty() or "COLUMNS" in os.environ
    Console(width=None if terminal else _FILE_WIDTH).print(table)


def print_text(text: str) -> None:
    """Print a text without breaking its lines."""
    Console(highlight=False, markup=False).print(printable(text), soft_wrap=True)


class _Held(io.StringIO):
    """Output that is held back; a terminal if stdout is one."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@contextmanager
def limited_output(lines: int | None) -> Iterator[None]:
    """Print the first lines of the context's output, and the number of the others.

    Args:
        lines: Number of lines; None: all.
    """
    if lines is None:
        yield
        return
    with redirect_stdout(_Held(sys.stdout.isatty())) as held:
        yield
    output = held.getvalue().rstrip("\n").splitlines()
    hidden = len(output) - lines
    print("\n".join(output[:lines] if hidden > 1 else output))
    if hidden > 1:
        print(f"... {hidden} more lines, printed with --all")
