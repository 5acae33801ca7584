"""Put the cells of a sweep into docs/results/methods.csv and the tables of
docs/results-methods.md.

    python tools/make_method_results.py runs/methods

The commands that make the sweep are on that page.
"""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path
from typing import Any

from teddy.store.atomic import write_atomically
from teddy.sweep import Summary, read_table, summarize

DOCS = Path(__file__).parents[1] / "docs"
OUT, PAGE = DOCS / "results" / "methods.csv", DOCS / "results-methods.md"
BEGIN, END = "<!-- made by tools/make_method_results.py: {} -->", "<!-- end -->"
FIELDS = (
    "dataset", "model", "method", "simulation", "graph_sparsity", "weight_sparsity", "seeds",
    "mean", "deviation", "last", "dense", "difference", "low", "high", "verdict", "seconds",
)  # fmt: skip


def row(summary: Summary) -> dict[str, Any]:
    plain = {
        **summary.to_dict(),
        "difference": summary.difference.mean,
        "low": summary.difference.low,
        "high": summary.difference.high,
    }
    return {
        name: round(value, 4) if isinstance(value := plain[name], float) else value
        for name in FIELDS
    }


def cell(summary: Summary | None) -> str:
    if summary is None:
        return ""
    spread = f" ± {summary.deviation:.1f}" if summary.seeds > 1 else ""
    mark = {"winning": " w", "losing": " l"}.get(summary.verdict, "")
    return f"{summary.mean:.1f}{spread}{mark}"


def table(summaries: list[Summary], dataset: str, model: str) -> list[str]:
    here = [s for s in summaries if (s.dataset, s.model) == (dataset, model)]
    simulations = sorted({s.level for s in here} - {0})
    by_place = {(s.method, s.level): s for s in here}
    lines = [
        "| method | " + " | ".join(str(i) for i in simulations) + " |",
        "|---" * (len(simulations) + 1) + "|",
    ]
    methods = dict.fromkeys(s.method for s in here)

    def order(method: str) -> float:
        at_last = by_place.get((method, simulations[-1]))
        return 0.0 if at_last is None else -at_last.mean

    for method in sorted(methods, key=order):
        cells = (cell(by_place.get((method, simulation))) for simulation in simulations)
        lines.append(f"| `{method}` | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    summaries = summarize(read_table(parser.parse_args().folder))
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(row(summary) for summary in summaries)
    write_atomically(OUT, text.getvalue().encode())
    page = PAGE.read_text()
    for dataset, model in dict.fromkeys((s.dataset, s.model) for s in summaries):
        begin = BEGIN.format(f"{dataset} {model}")
        if begin not in page:
            continue
        dense = next(s.dense for s in summaries if (s.dataset, s.model) == (dataset, model))
        start = page.index(begin)
        end = page.index(END, start)
        title = f"{model.upper()} on {dataset}, dense {dense:.1f}; columns: level"
        lines = [begin, title, "", *table(summaries, dataset, model)]
        page = page[:start] + "\n".join(lines) + "\n" + page[end:]
    write_atomically(PAGE, page.encode())


if __name__ == "__main__":
    main()
