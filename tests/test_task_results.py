"""The tables of sweeps on the page of tasks are those of the stored results."""

from __future__ import annotations

import json

from tools.make_task_results import AGAINST, PAGE, RESULTS, page


def test_the_page_has_the_stored_results():
    results = json.loads(RESULTS.read_text())
    assert {row["task"] for row in results} == {"link-prediction", "graph-classification"}
    assert {row["seeds"] for row in results} == {3}
    methods = {row["method"].split(":")[0] for row in results}
    assert methods >= {"teddy", "ugs", AGAINST}
    text = PAGE.read_text()
    assert page(results, text) == text
