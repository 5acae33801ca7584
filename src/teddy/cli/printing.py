"""Tables and texts for people, on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text


def print_table(title: str, headings: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Print a table: first column left, the others right."""
    print_text(title)
    table = Table(box=box.SIMPLE_HEAD)
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="left" if index == 0 else "right", no_wrap=index == 0)
    for row in rows:
        table.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    # A pipe has no width; a table takes what it needs.
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def print_text(text: str) -> None:
    """Print a line, as long as it is."""
    Console(highlight=False, markup=False).print(text, soft_wrap=True)
