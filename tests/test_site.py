"""The site: built, every page opened in a browser, every link followed."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from tools.check_docs.blocks import ROOT

import teddy

pytest.importorskip("mkdocs", reason="needs the extra docs")
pytestmark = pytest.mark.long
#: Terms that readers search for, by the page that must have them.
TERMS = {
    "glossary.html": ["heterophily", "inductive", "dropedge", "lottery ticket", "winning ticket"],
    "faq.html": ["quantisation", "windows", "gpu", "pypi", "dropedge"],
    "models.html": ["inductive"],
    "data.html": ["heterophily"],
}
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    build = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert build.returncode == 0, build.stderr
    return folder


class Page(HTMLParser):
    """Links, anchors and text of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.text, self.code = [], {""}, [], 0
        self.fetched = []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.code += tag in ("code", "pre", "script", "annotation")
        self.anchors |= {attrs.get("id", ""), attrs.get("name", "")}
        self.links += [attrs[name] for name in ("href", "src") if attrs.get(name)]
        self.fetched += [attrs.get("src"), attrs.get("href") if tag == "link" else None]

    def handle_endtag(self, tag):
        self.code -= tag in ("code", "pre", "script", "annotation")

    def handle_data(self, data):
        if not self.code:
            self.text.append(data)


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}


def test_no_link_is_broken_and_none_fetches_from_elsewhere(site, pages):
    for path, page in pages.items():
        fetched = [link for link in page.fetched if link]
        assert fetched
        assert not [link for link in fetched if urlsplit(link).netloc], path
        for link in page.links:
            url, anchor = urldefrag(link)
            if urlsplit(url).scheme in ("http", "https", "mailto", "data"):
                continue
            target = (path.parent / unquote(url)).resolve() if url else path
            assert target.is_file(), f"{path.relative_to(site)} links {link}"
            if target.suffix == ".html":
                assert unquote(anchor) in pages[target].anchors, f"{path.name} links {link}"


def test_nothing_of_the_source_is_left_unrendered(pages):
    for path, page in pages.items():
        text = "".join(page.text)
        for raw in (":math:", ":class:", ":func:", ".. math::", "](", "**", "```", "| ---", ">`_"):
            assert raw not in text, f"{path.name}: {text[max(text.find(raw) - 40, 0) :][:120]}"


def test_the_api_page_has_every_public_object(site, pages):
    from tools.docs_site.reference import EXTENSIBLE, GROUPS, in_api, public_paths

    anchors = pages[site / "api.html"].anchors
    assert {f"teddy.{name}" for name in teddy.__all__} <= anchors
    grouped = [name for names in GROUPS.values() for name in names]
    assert set(teddy.__all__) <= set(grouped), "a public object that no group of the page has"
    assert len(grouped) == len(set(grouped))
    anchors = pages[site / "extend.html"].anchors
    for subpackage in EXTENSIBLE.values():
        paths = public_paths(f"teddy.{subpackage}")
        assert {path for path in paths if not in_api(path)} <= anchors
    assert {"teddy-find", "teddy-bench"} <= pages[site / "commands.html"].anchors
    assert "<math" in (site / "api.html").read_text()


def test_the_search_index_has_the_terms_on_the_pages_that_explain_them(site):
    index = json.loads((site / "search" / "search_index.json").read_text())
    for page, terms in TERMS.items():
        entries = [e for e in index["docs"] if e["location"].partition("#")[0] == page]
        text = " ".join(f"{entry['title']} {entry['text']}" for entry in entries).lower()
        for term in terms:
            assert term in text, f"{page} lacks {term}"


def test_a_page_that_the_navigation_lacks_is_a_warning(caplog, monkeypatch):
    from mkdocs.config import load_config
    from mkdocs.structure.files import File, get_files
    from mkdocs.structure.nav import get_navigation

    monkeypatch.chdir(ROOT)
    config = load_config(str(ROOT / "mkdocs.yml"))
    files = get_files(config)
    files.append(File("orphan.md", config.docs_dir, config.site_dir, use_directory_urls=False))
    with caplog.at_level(logging.WARNING, "mkdocs"):
        get_navigation(files, config)
    (warning,) = [r.getMessage() for r in caplog.records if "orphan.md" in r.getMessage()]
    assert "not included in the" in warning
    assert "results" not in warning


@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt-get install chromium")
def test_every_page_opens_without_an_error_and_search_finds(site, pages):
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    wrong, requests = [], set()

    def failed(request):
        if request.failure != "net::ERR_ABORTED":  # the next page was opened before it was there
            wrong.append(f"{request.url}: {request.failure}")

    with sync_api.sync_playwright() as playwright:
        # In a container, root has no sandbox.
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("console", lambda message: wrong.append(f"{page.url}: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
        page.on("requestfailed", failed)
        page.on("request", lambda request: requests.add(urlsplit(request.url).scheme))
        for path in pages:
            page.goto(path.as_uri())
            assert page.locator("h1").first.inner_text(), path
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, f"{path} is {wide} pixels too wide"
        results = {query: searched(page, site, query) for query in QUERIES}
        copied = copied_code(page, site)
        browser.close()
    assert wrong == []
    assert requests <= {"file", "data", "blob", "about"}
    for query, expected in QUERIES.items():
        assert any(expected in link for link in results[query][:5]), results
    assert "import teddy" in copied[0]
    assert not [line for code in copied for line in code if line.startswith((">>>", "..."))]


#: Queries, and the page that must be among their first results.
QUERIES = {
    "billion edges": "recipes/billion.html",
    "heterophily": "glossary.html",
    "inductive": "glossary.html",
    "DropEdge": "glossary.html",
    "lottery ticket": "tutorial.html",
    "quantisation": "faq.html",
    "quantization": "faq.html",
}


def searched(page, site, query):
    """Addresses that the search of the site finds, the best first."""
    page.goto((site / "index.html").as_uri())
    page.keyboard.press("f")
    page.keyboard.insert_text(query)
    page.keyboard.press("End")  # the search looks at the query when a key is released
    page.locator(".md-search-result__item").first.wait_for(timeout=20_000)
    return page.locator(".md-search-result__item a").evaluate_all("all => all.map(a => a.href)")


def copied_code(page, site):
    """Lines that the copy buttons of a page's Python sessions take."""
    page.goto((site / "tickets.html").as_uri())
    code = page.locator("code[data-copy]").evaluate_all("all => all.map(code => code.dataset.copy)")
    return [text.split("\n") for text in code]
