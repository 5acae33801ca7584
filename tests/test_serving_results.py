"""The tables of the page on serving are those of the stored results, and README's numbers, too."""

from __future__ import annotations

import json
import re

from tools.make_serving_results import ACCURACY, PAGE, ROOT, filled, read_rows


def test_the_page_has_the_stored_results():
    text = PAGE.read_text()
    assert filled(text) == text


def test_the_readme_has_the_stored_numbers():
    rows = {(row["dataset"], row["graph"], row["batch"]): row for row in read_rows()}
    accuracy = {(row["method"], row["simulation"]): row for row in json.loads(ACCURACY.read_text())}
    text = (ROOT / "README.md").read_text()
    (times,) = re.search(r"answers for 64 nodes ([\d.]+) times as fast", text).groups()
    assert times == f"{rows['arxiv-surrogate', 'teddy 40%', 64]['p50_faster']:.1f}"
    assert accuracy["teddy:only=edges", 10]["verdict"] == "undecided"
    (points,) = re.search(r"removed at random it is ([\d.]+) points", text).groups()
    assert points == f"{-accuracy['random:only=edges', 10]['difference']['mean']:.1f}"
