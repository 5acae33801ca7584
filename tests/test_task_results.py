"""The tables of sweeps on the page of tasks are those of the stored results."""

from __future__ import annotations

import json
import tarfile

from tools.make_task_results import AGAINST, PAGE, RESULTS, page, rows_of


def test_the_page_has_the_stored_results():
    results = json.loads(RESULTS.read_text())
    assert {row["task"] for row in results} == {"link-prediction", "graph-classification"}
    assert {row["seeds"] for row in results} == {3}
    methods = {row["method"].split(":")[0] for row in results}
    assert methods >= {"teddy", "ugs", AGAINST}
    text = PAGE.read_text()
    assert page(results, text) == text


def test_the_stored_cells_give_the_stored_results(tmp_path):
    with tarfile.open(RESULTS.with_suffix(".tar.xz")) as archive:
        archive.extractall(tmp_path, filter="data")
    rows = [row for name in ("links", "graphs") for row in rows_of(str(tmp_path / name))]
    assert rows == json.loads(RESULTS.read_text())
