"""The Python examples of the documentation run as written."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


PAGES = ["README.md", "docs/tickets.md", "docs/comparison.md", "docs/sweeps.md"]


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, attempted = doctest.testfile(
        str(ROOT / page),
        module_relative=False,
        optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE,
    )
    assert attempted > 0
    assert failed == 0


def test_every_page_that_the_readme_links_is_there():
    text = (ROOT / "README.md").read_text()
    links = [part.split(")")[0] for part in text.split("](")[1:]]
    local = [link for link in links if "://" not in link]
    assert local
    for link in local:
        assert (ROOT / link.split("#")[0]).exists(), link
