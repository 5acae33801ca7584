"""The page as a file: whole, escaped, and closed to the network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from report.rows import EVIL, METADATA, links, row, sweep
from teddy.errors import InputError
from teddy.report import make_page, write_page, write_report
from teddy.report.page import read_metadata
from teddy.sweep.folder import Folder
from teddy.sweep.grid import Cell
from teddy.sweep.results_table import write_table


class Reader(HTMLParser):
    """Reader of a page as a browser parses it: elements, scripts, text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.scripts, self.words, self._open = [], [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._open = tag
        if tag == "script":
            self.scripts.append((dict(attributes), ""))

    def handle_endtag(self, tag):
        self._open = None

    def handle_data(self, data):
        if self._open == "script":
            attributes, before = self.scripts[-1]
            self.scripts[-1] = attributes, before + data
        else:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def embedded(reader):
    (data,) = [text for attributes, text in reader.scripts if attributes.get("id") == "data"]
    return json.loads(data)


def test_the_page_has_every_section_in_order():
    reader = Reader(make_page(sweep(), METADATA, title="Mine"))
    headings = ["How to read this page", "The sparsest winning ticket", "Method against method",
                "Accuracy against sparsity", "Difference to dense", "Verdicts against the dense",
                "Saved operations and measured speed", "The pruned graph",
                "Commands and settings", "The data behind this page"]  # fmt: skip
    places = [reader.text.index(heading) for heading in headings]
    assert places == sorted(places)
    assert "Mine" in reader.text
    assert "1 data set · 2 models · 3 methods · 3 levels · 3 seeds · 54 runs" in reader.text
    assert "teddy 0.1.0, torch 2.13.0, python 3.11.2" in reader.text


def test_the_page_of_links_names_auc_and_hits():
    reader = Reader(make_page([links(seed=seed, gain=0.01) for seed in range(3)], METADATA))
    for text in (
        "AUC against sparsity", "The metric is AUC of the test links, in percent", "hits@20",
        "above the 20th best negative one", "counts as at least one pair of test links",
        "70.01% test AUC (hits@20 41.50%). That is +0.01 points", "dense hits@20", "41.50", "40.25",
    ):  # fmt: skip
        assert text in reader.text
    assert "winning" in reader.text  # a hundredth of a point is 25 pairs
    assert "ccurac" not in reader.text
    data = embedded(reader)
    assert (data["metric"], data["hits"]) == ("AUC", "hits@20")
    (cell,) = data["cells"]
    assert (cell["hits"], cell["dense_hits"]) == (41.5, 40.25)


def test_a_page_of_several_tasks_is_refused():
    with pytest.raises(InputError, match="results have several tasks"):
        make_page([row(), links(seed=1)], METADATA)


def test_nothing_is_loaded_and_only_the_page_s_own_scripts_run():
    reader = Reader(make_page(sweep(), METADATA))
    for tag, attributes in reader.tags:
        assert tag not in ("iframe", "object", "embed", "img")
        assert not {"src", "srcset", "onclick", "onload"} & attributes.keys()
        assert attributes.get("href", "#")[:5] in ("#", "data:", "#resu")
    (policy,) = [a["content"] for _, a in reader.tags if "http-equiv" in a]
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy
    assert "unsafe-eval" not in policy
    for attributes, text in reader.scripts:
        if "type" not in attributes:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy
    assert len(re.findall("sha256-", policy)) == 2


def test_names_are_text_wherever_they_stand():
    rows = [row(EVIL, i, seed, dataset=EVIL, model=EVIL, versions=EVIL) for i in (0, 5)
            for seed in (0, 1)]  # fmt: skip
    metadata = {"settings": {EVIL: EVIL, "odd": {EVIL: [EVIL]}}, "data": {EVIL: "x"}}
    reader = Reader(make_page(rows, metadata, title=EVIL))
    assert len(reader.scripts) == 3
    assert not [tag for tag, _ in reader.tags if tag == "img"]
    assert embedded(reader)["problems"][0]["dataset"] == EVIL
    assert reader.text.count(EVIL) > 5


def test_the_same_rows_give_the_same_page():
    assert make_page(sweep(), METADATA) == make_page(sweep(), METADATA)


def test_no_rows_are_refused(tmp_path):
    with pytest.raises(InputError, match="no results to report"):
        write_page([], {}, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_still_running_is_reported(tmp_path):
    folder = Folder(tmp_path / "run")
    folder.create()
    folder.record(METADATA["settings"], {"data": METADATA["data"]})
    for line in sweep()[:5]:
        folder.write_cell(Cell.from_row(line), line)
    written = write_report(tmp_path / "run", tmp_path / "report.html", plots=tmp_path / "plots")
    assert written["cells"] == 5
    assert [path.rsplit("/")[-1] for path in written["plots"]] == ["accuracy.png", "accuracy.pdf"]
    data = embedded(Reader((tmp_path / "report.html").read_text()))
    assert data["metadata"]["settings"] == METADATA["settings"]
    assert len(data["rows"]) == 5


def test_a_table_alone_is_reported_without_settings(tmp_path):
    write_table(sweep(), tmp_path / "results.parquet")
    written = write_report(tmp_path / "results.parquet", tmp_path / "report.html", title="T")
    assert written == {"report": str(tmp_path / "report.html"), "cells": 54, "plots": []}
    assert "they are in the sweep's sweep.json" in (tmp_path / "report.html").read_text()
    (tmp_path / "sweep.json").write_text("{")
    assert read_metadata(tmp_path) == {}
