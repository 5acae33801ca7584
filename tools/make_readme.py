"""Fill the README's table from docs/results/paper, which ``teddy reproduce`` writes.

teddy reproduce all --no-run --out RUN --artefacts docs/results/paper
python tools/make_readme.py
"""

from __future__ import annotations

import csv
from pathlib import Path

from teddy.sparsity import schedule_sparsity
from teddy.store.atomic import write_atomically
from teddy_paper.results import display_name

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
EXTREME = ROOT / "docs" / "results" / "paper" / "extreme" / "extreme.csv"
BEGIN, END = "<!-- made by tools/make_readme.py -->", "<!-- end -->"


def main() -> None:
    write_atomically(README, filled(README.read_text()).encode())


def filled(text: str) -> str:
    """The page with the table as it should be."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"


def table() -> str:
    """GIN at the levels of the paper's Table 1."""
    with EXTREME.open() as file:
        rows = list(csv.DictReader(file))
    levels = sorted({int(row["simulation"]) for row in rows})
    removed = ["dense", *(f"{schedule_sparsity(i):.0%} removed" for i in levels if i)]
    lines = [["GIN, accuracy %", *removed], ["---"] * (len(levels) + 1)]
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        mine = {int(row["simulation"]): row for row in rows if row["dataset"] == dataset}
        seeds = mine[0]["seeds"]
        ours = [cell(mine[i], "ours", "deviation") for i in levels]
        lines.append([f"{display_name(dataset)}, {seeds} seeds", *ours])
        theirs = [cell(mine[i], "paper", "paper deviation") for i in levels]
        lines.append(["*paper*", *theirs])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cell(row: dict[str, str], mean: str, deviation: str) -> str:
    mark = {"winning": " w", "losing": " l"}.get(row["verdict"], "") if mean == "ours" else ""
    return f"{float(row[mean]):.2f} ± {float(row[deviation]):.2f}{mark}"


if __name__ == "__main__":
    main()
