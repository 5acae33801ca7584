"""The Python examples of the documentation run as written."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES_OF_DOCS = sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))


PAGES = [
    "README.md", "docs/tickets.md", "docs/comparison.md", "docs/sweeps.md", "docs/scale.md",
    "docs/training.md", "docs/search.md", "docs/own.md", "docs/sharing.md",
    "docs/hetero.md",
]  # fmt: skip


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


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *PAGES_OF_DOCS])
def test_every_file_that_a_page_links_is_there(page):
    text = (ROOT / page).read_text()
    links = [part.split(")")[0] for part in text.split("](")[1:]]
    for link in links:
        if "://" not in link and not link.startswith("#"):
            assert ((ROOT / page).parent / link.split("#")[0]).exists(), link


def test_the_tables_of_the_readme_are_those_of_the_results():
    from tools.make_readme import filled

    text = (ROOT / "README.md").read_text()
    assert filled(text) == text


@pytest.mark.parametrize(
    "page",
    sorted((ROOT / "docs" / "results" / "paper").glob("*/README.md")),
    ids=lambda p: p.parent.name,
)
def test_a_page_of_results_has_its_tables_and_pictures(page):
    text = page.read_text()
    links = [part.split(")")[0] for part in text.split("](")[1:]]
    assert links or page.parent.name == "toy-example"
    for link in links:
        assert (page.parent / link).is_file(), link
