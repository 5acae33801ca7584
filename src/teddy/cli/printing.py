"""Tables, texts and help panels of the command line."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand


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


#: Panels of options, in the order of the help; those of the command itself come first.
PANELS = ("Task", "Data", "Model", "Pruning", "Training", "Distillation", "Machine")


class PanelCommand(TyperCommand):
    """A command whose help has a section for each panel of options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, the command's own options, then those of each panel."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        sections |= {panel: [] for panel in PANELS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                panel = getattr(parameter, "rich_help_panel", None)
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections[panel or usual].append(record)
        for panel, records in sections.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records)
