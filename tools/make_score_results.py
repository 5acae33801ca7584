"""Put a sweep over edge scores into docs/results/scores and the tables of docs/results-scores.md.

    python tools/make_score_results.py runs/scores

The commands that make the sweep are on that page. A setting is a data set, a model and a
level, with distillation or without; a score is compared with TEDDY's and with random edges over
their common seeds.
"""

from __future__ import annotations

import argparse
import csv
import io
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from teddy.methods.spec import MethodSpec
from teddy.store.atomic import write_atomically
from teddy.sweep import read_table
from teddy.sweep.statistics import Difference, paired_difference, spread

DOCS = Path(__file__).parents[1] / "docs"
OUT, PAGE = DOCS / "results" / "scores", DOCS / "results-scores.md"
BEGIN, END = "<!-- made by tools/make_score_results.py: {} -->", "<!-- end -->"
RIVALS = ("teddy", "random")
FIELDS = (
    "distillation", "dataset", "model", "simulation", "score", "seeds", "mean", "deviation",
    "dense", *(f"{part}_{rival}" for rival in RIVALS for part in ("over", "low", "high")),
)  # fmt: skip

Setting = tuple[bool, str, str, int]


@dataclass(frozen=True)
class Compared:
    """A score in a setting, and its differences to other scores."""

    setting: Setting
    score: str
    seeds: int
    mean: float
    deviation: float
    dense: float
    over: dict[str, Difference]

    def plain(self) -> dict[str, Any]:
        """Row of the CSV file."""
        distilled, dataset, model, level = self.setting
        return {
            "distillation": "with" if distilled else "without", "dataset": dataset, "model": model,
            "simulation": level, "score": self.score, "seeds": self.seeds, "mean": self.mean,
            "deviation": round(self.deviation, 4), "dense": self.dense,
            **{
                f"{part}_{rival}": round(value, 4)
                for rival, d in self.over.items()
                for part, value in (("over", d.mean), ("low", d.low), ("high", d.high))
                if value is not None
            },
        }  # fmt: skip


def compare(rows: Iterable[dict[str, Any]]) -> list[Compared]:
    """Compare each score with its rivals in each setting."""
    cells: dict[Setting, dict[str, dict[int, dict[str, Any]]]] = {}
    for row in rows:
        spec = MethodSpec.parse(row["method"])
        if row["simulation"] > 0:
            setting = (
                dict(spec.settings).get("distill") != 0,
                row["dataset"],
                row["model"],
                row["simulation"],
            )
            cells.setdefault(setting, {}).setdefault(spec.name, {})[row["seed"]] = row
    compared = []
    for setting, scores in sorted(cells.items()):
        for score, seeds in scores.items():
            tests = [row["test"] for row in seeds.values()]
            over = {}
            for rival in RIVALS:
                both = sorted(seeds.keys() & scores.get(rival, {}).keys())
                if rival != score and both:
                    ours, theirs = ([s[n]["test"] for n in both] for s in (seeds, scores[rival]))
                    test_rows = seeds[both[0]]["test_rows"]
                    over[rival] = paired_difference(ours, theirs, test_rows=test_rows)
            dense = round(sum(row["dense_test"] for row in seeds.values()) / len(tests), 4)
            mean = round(sum(tests) / len(tests), 4)
            compared.append(Compared(setting, score, len(tests), mean, spread(tests), dense, over))
    return compared


def settings_table(found: list[Compared], distilled: bool) -> Iterator[str]:
    """Lines of the settings: means of all scores, and the differences of gain to its rivals."""
    here = [c for c in found if c.setting[0] is distilled]
    scores = list(dict.fromkeys([*RIVALS, "gain", *sorted({c.score for c in here})]))
    scores = [score for score in scores if any(c.score == score for c in here)]
    yield (
        "| set, model, level | dense | " + " | ".join(scores) + " | gain - teddy | gain - random |"
    )
    yield "|---" * (len(scores) + 4) + "|"
    for setting in dict.fromkeys(c.setting for c in here):
        by_score = {c.score: c for c in here if c.setting == setting}
        best = max(c.mean for c in by_score.values())
        means = (
            "" if s not in by_score else f"{'**' * (by_score[s].mean == best)}"
            f"{by_score[s].mean:.1f}{'**' * (by_score[s].mean == best)}"
            for s in scores
        )  # fmt: skip
        gain = by_score.get("gain")
        differences = (_interval(gain.over.get(rival)) if gain else "" for rival in RIVALS)
        _, dataset, model, level = setting
        dense = next(iter(by_score.values())).dense
        cells = [f"{dataset} {model} {level}", f"{dense:.1f}", *means, *differences]
        yield "| " + " | ".join(cells) + " |"


def verdicts_table(found: list[Compared]) -> Iterator[str]:
    """Lines of the scores: numbers of settings above, clearly above and clearly below rivals."""
    yield (
        "| score | distillation | settings | above both | clearly above teddy | clearly above "
        "random | clearly below teddy | clearly below random |"
    )
    yield "|---" * 8 + "|"
    for distilled in (False, True):
        scores = dict.fromkeys(c.score for c in found if c.score not in RIVALS)
        for score in scores:
            here = [
                c for c in found
                if (c.score, c.setting[0]) == (score, distilled) and len(c.over) == len(RIVALS)
            ]  # fmt: skip
            if not here:
                continue
            above = sum(all(d.mean > 0 for d in c.over.values()) for c in here)
            counts = [
                sum(check(c.over[rival]) for c in here)
                for check in (Difference.clearly_above, Difference.clearly_below)
                for rival in RIVALS
            ]
            way = "with" if distilled else "without"
            line = [score, way, str(len(here)), str(above), *map(str, counts)]
            yield "| " + " | ".join(line) + " |"


def _interval(d: Difference | None) -> str:
    if d is None or d.low is None or d.high is None:
        return "" if d is None else f"{d.mean:+.1f}"
    return f"{d.mean:+.1f} [{d.low:+.1f}, {d.high:+.1f}]"


def filled(page: str, found: list[Compared]) -> str:
    """Page with updated tables."""
    tables = {
        "verdicts": verdicts_table(found),
        "without distillation": settings_table(found, False),
        "with distillation": settings_table(found, True),
    }
    for name, lines in tables.items():
        begin = BEGIN.format(name)
        if begin in page:
            start = page.index(begin)
            page = "\n".join([page[:start] + begin, *lines, page[page.index(END, start) :]])
    return page


def as_csv(found: list[Compared]) -> str:
    """All comparisons as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(c.plain() for c in found)
    return text.getvalue()


def pack(folder: Path, out: Path) -> None:
    """Store the cells, so that the sweep can resume, and the tables can be made again."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz") as archive:
        for path in (folder / "sweep.json", *sorted((folder / "cells").rglob("*.json"))):
            entry = archive.gettarinfo(path, str(path.relative_to(folder)))
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = 0, 0, 0, "", ""
            with path.open("rb") as file:
                archive.addfile(entry, file)
    write_atomically(out, buffer.getvalue())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    found = compare(read_table(folder))
    OUT.mkdir(parents=True, exist_ok=True)
    write_atomically(OUT / "scores.csv", as_csv(found).encode())
    pack(folder, OUT / "cells.tar.xz")
    write_atomically(PAGE, filled(PAGE.read_text(), found).encode())


if __name__ == "__main__":
    main()
