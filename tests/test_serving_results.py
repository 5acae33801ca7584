"""The tables of the page on serving are those of the stored results, and README's number, too."""

from __future__ import annotations

import re

from tools.make_serving_results import PAGE, ROOT, filled, read_rows


def test_the_page_has_the_stored_results():
    text = PAGE.read_text()
    assert filled(text) == text


def test_the_readme_has_the_stored_number():
    rows = {(row["dataset"], row["graph"], row["batch"]): row for row in read_rows()}
    pruned = rows["arxiv-surrogate", "teddy 64%", 64]
    text = (ROOT / "README.md").read_text()
    (times, slowest) = re.search(r"(\d+) times as fast, and (\d+) times at the 99th", text).groups()
    assert int(times) == round(pruned["p50_faster"])
    assert int(slowest) == round(pruned["p99_faster"])
