"""Results of a reproduction in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from teddy.cli.printing import print_table, print_text
from teddy_paper.reproduction import Reproduction, Result, ResultTable
from teddy_paper.write import describe_finding

# Maximum number of rows in the terminal; the files have all.
_ROWS = 40
# Columns that are appended to another one, or only in the files.
_APPENDED = {"deviation": "± {}", "paper deviation": "± {}", "low": "[{},", "high": "{}]"}
_LEFT_OUT = ("in deviations", "last epoch", "edges removed %", "weights removed %")


def print_result(entry: Reproduction, result: Result, page: Path) -> None:
    """Print the tables, findings and notes of a result."""
    for table in result.tables:
        columns, rows = _brief(table)
        print_table(f"{entry.name}: {table.title}", columns, rows[:_ROWS])
        if len(rows) > _ROWS:
            print_text(f"... {len(rows) - _ROWS} more rows in {table.name}.csv")
    for claim in map(describe_finding, result.findings):
        print_text(f"“{claim['text']}” ({claim['place']}): {claim['says']}; {claim['evidence']}")
    for note in result.notes:
        print_text(note)
    print_text(f"Made by {result.made_by}: {page}\n")


def _brief(table: ResultTable) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a table, with intervals and deviations beside their values."""
    columns: list[str] = []
    rows: list[list[str]] = [[] for _ in table.rows]
    for index, name in enumerate(table.columns):
        if name in _LEFT_OUT:
            continue
        if name not in _APPENDED:
            columns.append(name)
        for row, values in zip(rows, table.rows, strict=True):
            text = _short(values[index])
            if name not in _APPENDED:
                row.append(text)
            elif text:
                row[-1] += " " + _APPENDED[name].format(text)
    return columns, rows


def _short(value: Any) -> str:
    if value is None:
        return ""
    small = isinstance(value, float) and 0 < abs(value) < 0.1
    return f"{value:.3g}" if small else f"{value:.2f}" if isinstance(value, float) else str(value)
