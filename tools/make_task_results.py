"""Put sweeps of link prediction and graph classification into docs/results.md.

    python tools/make_task_results.py runs/links runs/graphs

The commands that make the sweeps are on that page. Without a folder the tables are made again from
docs/results/task_sweeps.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from teddy.sparsity import schedule_sparsity
from teddy.store.atomic import write_atomically
from teddy.sweep import read_table, summarize

DOCS = Path(__file__).parents[1] / "docs"
RESULTS, PAGE = DOCS / "results" / "task_sweeps.json", DOCS / "results.md"
BEGIN, END = "<!-- made by tools/make_task_results.py: {} -->", "<!-- end -->"
#: The method that the others are compared with.
AGAINST = "random"

Row = dict[str, Any]


def rows_of(folder: str) -> list[Row]:
    """Summaries of a sweep as plain data, without what differs from machine to machine."""
    rows = [summary.to_dict() for summary in summarize(read_table(folder), AGAINST)]
    return [{key: _rounded(value) for key, value in row.items() if key != "seconds"}
            for row in rows]  # fmt: skip


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def table(rows: list[Row]) -> list[str]:
    """Lines of a Markdown table: a line for each model and method, a column for each level."""
    levels = sorted({row["simulation"] for row in rows} - {0})
    head = [f"{100 * schedule_sparsity(level):.0f}% removed" for level in levels]
    lines = ["| | dense | " + " | ".join(head) + " |", "|---" * (2 + len(levels)) + "|"]
    for model, method in dict.fromkeys((row["model"], row["method"]) for row in rows):
        selected = [row for row in rows if (row["model"], row["method"]) == (model, method)]
        cells = [_cell(next((r for r in selected if r["simulation"] == i), None)) for i in levels]
        lines.append(
            f"| {model}, `{method}` | {selected[0]['dense']:.1f} | " + " | ".join(cells) + " |"
        )
    return lines


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    text = f"{row['mean']:.1f} ± {row['deviation']:.1f}"
    if row.get("hits") is not None:
        text += f", hits {row['hits']:.1f}"
    against = row["against"]
    if against is None:
        return text
    low, high = against["low"], against["high"]
    return f"{text} ({against['mean']:+.1f} to {AGAINST}, [{low:+.1f}, {high:+.1f}])"


def page(results: list[Row], text: str) -> str:
    """Page with the tables of these results."""
    for task in dict.fromkeys(row["task"] for row in results):
        begin = BEGIN.format(task)
        start = text.index(begin)
        selected = [row for row in results if row["task"] == task]
        lines = [begin, *table(selected)]
        text = text[:start] + "\n".join(lines) + "\n" + text[text.index(END, start) :]
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*")
    folders = parser.parse_args().folders
    if folders:
        rows = [row for folder in folders for row in rows_of(folder)]
        write_atomically(RESULTS, (json.dumps(rows, indent=1) + "\n").encode())
    results = json.loads(RESULTS.read_text())
    write_atomically(PAGE, page(results, PAGE.read_text()).encode())


if __name__ == "__main__":
    main()
