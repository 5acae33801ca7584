"""Fill the README's table of results from docs/results/paper, which ``teddy reproduce`` writes.

teddy reproduce extreme --no-run --out RUN --artefacts docs/results/paper
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
#: Levels of the paper's schedule that are shown; level 0 is the dense model.
LEVELS = (0, 20, 40)


def main() -> None:
    write_atomically(README, filled(README.read_text()).encode())


def filled(text: str) -> str:
    """Return the page with the table filled in."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"


def table() -> str:
    """Return test accuracies of GIN at levels of the paper's Table 1, in Markdown."""
    with EXTREME.open() as file:
        rows = {(r["dataset"], r["method"], int(r["simulation"])): r for r in csv.DictReader(file)}
    lines = [["GIN", "ours", "random edges", "paper"], ["---"] * 4]
    for dataset in dict.fromkeys(key[0] for key in rows):
        for level in LEVELS:
            ours = rows[dataset, "teddy" if level else "dense", level]
            random = accuracy(rows[dataset, "random", level]) if level else ""
            name = f"{schedule_sparsity(level):.0%}" if level else f"{display_name(dataset)}, dense"
            lines.append([name, accuracy(ours), random, f"{float(ours['paper']):.1f}"])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def accuracy(row: dict[str, str]) -> str:
    """Return mean and standard deviation of our runs, in bold for a winning ticket."""
    text = f"{float(row['ours']):.1f}±{float(row['deviation']):.1f}"
    return f"**{text}**" if row["verdict"] == "winning" else text


if __name__ == "__main__":
    main()
