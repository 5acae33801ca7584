"""The tables of docs/results-scores.md come from the stored cells."""

from __future__ import annotations

import tarfile

import pytest
from tools.make_score_results import OUT, PAGE, as_csv, compare, filled, pack

from teddy.sweep import read_table


def rows(**means):
    """Cells of two levels and three seeds on one graph; a mean for each method."""
    return [
        {"dataset": "cora", "model": "gcn", "method": method.replace("_", ":distill="),
         "simulation": level, "seed": seed, "test_rows": 1000, "dense_test": 80.0,
         "test": mean + seed}
        for method, mean in means.items() for level in (0, 10) for seed in range(3)
    ]  # fmt: skip


def test_a_score_is_held_against_its_rivals_over_seeds():
    found = compare(rows(teddy_0=70.0, random_0=71.0, gain_0=74.0, gain=79.0))
    gain = next(c for c in found if c.score == "gain" and not c.setting[0])
    assert gain.setting == (False, "cora", "gcn", 10)
    assert (gain.mean, gain.seeds, gain.dense) == (75.0, 3, 80.0)
    assert {rival: d.mean for rival, d in gain.over.items()} == {"teddy": 4.0, "random": 3.0}
    distilled = next(c for c in found if c.setting[0])
    assert distilled.over == {}  # no rival with distillation


def test_tables_and_file():
    found = compare(rows(teddy_0=70.0, random_0=76.0, gain_0=74.0))
    page = "".join(
        f"<!-- made by tools/make_score_results.py: {name} -->\nold\n<!-- end -->\n"
        for name in ("verdicts", "without distillation")
    )
    text = filled(page, found)
    assert "old" not in text
    assert "| gain | without | 1 | 0 | 1 | 0 | 0 | 1 |" in text
    line = "| cora gcn 10 | 80.0 | 71.0 | **77.0** | 75.0 | +4.0 [+3.8, +4.2] | -2.0 [-2.2, -1.8] |"
    assert line in text
    assert filled(text, found) == text
    assert as_csv(found).splitlines()[-1].startswith("without,cora,gcn,10,gain,3,75.0,1.0,80.0,4.0")


def test_kept_cells_are_the_same_file_again(tmp_path):
    (tmp_path / "cells").mkdir()
    (tmp_path / "sweep.json").write_text("{}")
    (tmp_path / "cells" / "a.json").write_text("[]")
    for name in ("one.tar.xz", "two.tar.xz"):
        pack(tmp_path, tmp_path / name)
    assert (tmp_path / "one.tar.xz").read_bytes() == (tmp_path / "two.tar.xz").read_bytes()


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scores")
    with tarfile.open(OUT / "cells.tar.xz") as cells:
        cells.extractall(folder, filter="data")
    return compare(read_table(folder))


def test_the_kept_cells_give_the_published_numbers(kept):
    assert as_csv(kept) == (OUT / "scores.csv").read_text()
    assert filled(PAGE.read_text(), kept) == PAGE.read_text()
