"""Fill the README's table of results from docs/results.

teddy reproduce extreme --no-run --out RUN --artefacts docs/results/paper
teddy find NAME --model gin --tuned --seeds 5 --graph-sparsity 0 --weight-sparsity 0 --json
python tools/make_readme.py

The second command trains the dense model with distillation from itself; for cora, citeseer and
pubmed its JSON, without what differs from machine to machine, is docs/results/distilled/NAME.json.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path

from teddy.sparsity import schedule_sparsity
from teddy.store.atomic import write_atomically
from teddy_paper.results import display_name

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
EXTREME = ROOT / "docs" / "results" / "paper" / "extreme" / "extreme.csv"
DISTILLED = ROOT / "docs" / "results" / "distilled"
BEGIN, END = "<!-- made by tools/make_readme.py -->", "<!-- end -->"
#: Levels of the paper's schedule that are shown.
LEVELS = (20, 40)


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
    lines = [["GIN", "dense", "TEDDY", "random edges", "paper"], ["---"] * 5]
    for dataset in dict.fromkeys(key[0] for key in rows):
        dense = accuracy(rows[dataset, "dense", 0])
        lines.append([f"{display_name(dataset)}, 0%", dense, distilled(dataset), "the same", ""])
        for level in LEVELS:
            ours, random = (rows[dataset, method, level] for method in ("teddy", "random"))
            name = f"{display_name(dataset)}, {schedule_sparsity(level):.0%}"
            scores = [accuracy(ours), accuracy(random), f"{float(ours['paper']):.1f}"]
            lines.append([name, "", *scores])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def distilled(dataset: str) -> str:
    """Return the accuracy of the dense model with distillation from another dense model."""
    result = json.loads((DISTILLED / f"{dataset}.json").read_text())
    scores = {"ours": result["ticket"]["test_mean"], "deviation": result["ticket"]["test_std"]}
    return accuracy({**scores, "verdict": result["verdict"]})


def accuracy(row: Mapping[str, str]) -> str:
    """Return mean and standard deviation of our runs, in bold for a winning ticket."""
    text = f"{float(row['ours']):.1f}±{float(row['deviation']):.1f}"
    return f"**{text}**" if row["verdict"] == "winning" else text


if __name__ == "__main__":
    main()
