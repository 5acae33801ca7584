"""The page in a real browser: drawn, switched, sorted, downloaded, and never on the network."""

from __future__ import annotations

import csv
import io
import json
import shutil
from contextlib import contextmanager

import pytest

from report.rows import EVIL, FACTS, links, row, sweep
from teddy.report import looks, write_page

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs a browser: apt-get install chromium"
)

POOR = {
    "one seed": [row(simulation=i) for i in (0, 5, 10)],
    "one cell": [row(gain=1.0)],
    "dense only": [row(method, 0, seed) for method in ("teddy", "ugs") for seed in range(3)],
    "no macs": [row(macs_dense=None, macs_ticket=None, seed=s) for s in range(2)],
    "links": [links(seed=seed) for seed in range(3)],
    "no health": [row(**dict.fromkeys(("isolated", "components", "pruned_degree", "homophily")))],
}


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        # In a container, root has no sandbox.
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return write_page(sweep(), FACTS, tmp_path_factory.mktemp("page") / "report.html")


@contextmanager
def opened(browser, path, **settings):
    """The page; at the end, nothing may have gone wrong or left it."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
    page, wrong, requests = context.new_page(), [], []
    page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    context.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    yield page
    context.close()
    assert wrong == []
    assert requests[0] == path.as_uri()
    assert [url for url in requests[1:] if not url.startswith(("data:", "blob:"))] == []


def traces(page, chart):
    """Names of what a chart shows."""
    return page.evaluate("id => (document.getElementById(id).data || []).map(t => t.name)", chart)


def values(page, chart, name, axis):
    code = """([id, name, axis]) => {
        const value = document.getElementById(id).data.find(t => t.name === name)[axis];
        return Array.from(value);
    }"""
    return page.evaluate(code, [chart, name, axis])


def column(page, name):
    code = """name => {
        const heads = [...document.querySelectorAll("#verdicts thead button")];
        const at = heads.findIndex(head => head.dataset.name === name);
        return [...document.querySelectorAll("#verdicts tbody tr")]
            .filter(row => !row.hidden).map(row => row.cells[at].textContent.trim());
    }"""
    return page.evaluate(code, name)


def overflow(page):
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def test_all_charts_are_drawn(browser, report):
    with opened(browser, report) as page:
        methods = ["teddy", "teddy:distill=0", "random"]
        bands = ["dense band", *(f"{method} band" for method in methods)]
        assert traces(page, "metric") == [*bands, "dense", *methods]
        assert page.locator("#metric .scatterlayer .trace").count() == 8
        assert page.locator("#metric .scatterlayer path.js-line").count() >= 4
        assert page.locator("#metric .scatterlayer .points path").count() == 9
        assert values(page, "metric", "teddy", "y") == pytest.approx([71, 72, 72])
        assert values(page, "metric", "dense", "y") == [71, 71, 71]
        colour = page.evaluate(
            "document.getElementById('metric').data.find(t => t.name === 'teddy').line.color"
        )
        assert colour == looks(["teddy"])["teddy"].colour
        heat = page.locator("#heat .heatmap-label").all_text_contents()
        assert sorted(heat) == sorted(["+1.0", "+1.0", "0.0", "0.0", "−2.0", "−2.0"])  # noqa: RUF001
        assert page.locator("#timing .barlayer .point path").count() == 6
        assert traces(page, "macs") == ["as fast as dense", "identity", *methods]
        for name in ("isolated", "components", "pruned_degree", "homophily"):
            assert traces(page, f"health-{name}") == methods
        assert page.locator("p.missing:visible").count() == 0


def test_methods_are_switched_by_keyboard(browser, report):
    with opened(browser, report) as page:
        box = page.get_by_label("random", exact=True)
        box.focus()
        page.keyboard.press("Space")
        for chart in ("metric", "macs", "health-isolated"):
            assert "random" not in traces(page, chart)
            assert "teddy" in traces(page, chart)
        assert "random" not in values(page, "heat", "difference", "y")
        page.keyboard.press("Space")
        assert "random" in traces(page, "metric")


def test_without_any_method_each_section_says_so(browser, report):
    with opened(browser, report) as page:
        for box in page.locator("#methods input").all():
            box.uncheck(force=True)
        assert page.locator("p.missing:visible").count() == 5
        assert page.locator(".chart:visible").count() == 0
        page.get_by_label("teddy", exact=True).check(force=True)
        assert page.locator("p.missing:visible").count() == 0
        assert traces(page, "metric")[-1] == "teddy"


def test_data_set_axis_and_epoch_are_chosen(browser, report):
    with opened(browser, report) as page:
        page.select_option("#place", label="gin on citeseer")
        assert values(page, "metric", "teddy", "y") == pytest.approx([61, 62, 62])
        page.get_by_label("simulation").check(force=True)
        assert values(page, "metric", "teddy", "x") == [0, 5, 10]
        page.get_by_label("last epoch").check(force=True)
        # A point less than at the best epoch, the dense ones half a point.
        assert values(page, "metric", "teddy", "y") == pytest.approx([60, 61, 61])
        assert values(page, "metric", "dense", "y") == pytest.approx([60.5] * 3)
        heat = page.locator("#heat .heatmap-label").all_text_contents()
        assert heat.count("+0.5") == 2
        page.get_by_label("chosen data set and model").check(force=True)
        assert set(column(page, "model")) == {"gin"}
        assert len(column(page, "model")) == 6


def test_the_table_sorts_by_its_headings(browser, report):
    with opened(browser, report) as page:
        heading = page.locator("#verdicts thead button[data-name=ticket]")
        heading.click()
        cell = heading.locator("xpath=..")
        assert cell.get_attribute("aria-sort") == "ascending"
        numbers = [float(text.split()[0]) for text in column(page, "ticket")]
        assert numbers == sorted(numbers)
        assert len(numbers) == 12
        heading.focus()
        page.keyboard.press("Enter")
        assert cell.get_attribute("aria-sort") == "descending"
        numbers = [float(text.split()[0]) for text in column(page, "ticket")]
        assert numbers == sorted(numbers, reverse=True)
        page.locator("#verdicts thead button[data-name=verdict]").click()
        assert cell.get_attribute("aria-sort") == "none"
        assert column(page, "verdict") == ["losing"] * 4 + ["undecided"] * 4 + ["winning"] * 4


def test_the_seeds_of_links_show_hits(browser, tmp_path):
    rows = [links(seed=seed, hits=40.0 + seed) for seed in range(3)]
    with opened(browser, write_page(rows, FACTS, tmp_path / "links.html")) as page:
        page.locator("#verdicts tbody button").first.click()
        lines = {
            line.locator("th").text_content(): line.locator("td").all_text_contents()
            for line in page.locator("#details tr").all()
        }
        assert lines["test AUC (%)"] == ["70"]
        assert lines["test hits@20 (%)"] == ["40", "41", "42"]
        assert lines["dense: test hits@20 (%)"] == ["40.25"]
        assert column(page, "hits") == ["41.00"]


def test_a_row_and_a_point_show_their_seeds(browser, report):
    with opened(browser, report) as page:
        page.locator("#verdicts tbody button").first.click()
        dialog = page.locator("#details")
        assert dialog.is_visible()
        assert dialog.locator("h2").text_content() == "teddy, simulation 5"
        lines = {
            line.locator("th").text_content(): line.locator("td").all_text_contents()
            for line in dialog.locator("tr").all()
        }
        assert lines["seed"] == ["0", "1", "2"]
        assert lines["test accuracy (%)"] == ["70.9", "72", "73.1"]
        assert lines["lambda (distillation)"] == ["10"]
        assert lines["versions"] == ["teddy 0.1.0, torch 2.13.0, python 3.11.2"]
        page.keyboard.press("Escape")
        assert not dialog.is_visible()
        point = page.locator("#metric .points path").last
        point.scroll_into_view_if_needed()
        box = point.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
        page.locator("#metric .hovertext").wait_for(timeout=5000)
        page.mouse.down()
        page.mouse.up()
        dialog.wait_for(state="visible", timeout=5000)
        assert dialog.locator("h2").text_content() == "random, simulation 10"
        page.locator("#close").click()
        assert not dialog.is_visible()


def test_downloads_have_the_data(browser, report):
    with opened(browser, report, accept_downloads=True) as page:
        with page.expect_download() as given:
            page.locator("#csv").click()
        assert given.value.suggested_filename == "results.csv"
        text = given.value.path().read_text()
        rows = list(csv.DictReader(io.StringIO(text)))
        assert len(rows) == 54
        assert list(rows[0]) == list(sweep()[0])
        for read, made in zip(rows, sweep(), strict=True):
            assert (read["method"], int(read["seed"])) == (made["method"], made["seed"])
            assert float(read["test"]) == made["test"]
            assert read["versions"] == made["versions"]
        with page.expect_download() as given:
            page.locator("#json").click()
        content = json.loads(given.value.path().read_text())
        assert content["rows"] == sweep()
        assert content["settings"] == FACTS["settings"]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_a_desk_in_light_and_dark(browser, report, width, scheme):
    viewport = {"width": width, "height": 844}
    with opened(browser, report, viewport=viewport, color_scheme=scheme) as page:
        assert overflow(page) <= 0
        ground = "getComputedStyle(document.body).backgroundColor"
        dark = sum(map(int, page.evaluate(ground)[4:-1].split(","))) < 200
        assert dark == (scheme == "dark")
        page.locator("#theme").click()
        assert (sum(map(int, page.evaluate(ground)[4:-1].split(","))) < 200) != dark
        page.locator("#verdicts tbody button").first.click()
        assert overflow(page) <= 0


@pytest.mark.parametrize("case", POOR)
def test_poor_sweeps_still_make_a_page(browser, tmp_path, case):
    rows = POOR[case]
    with opened(browser, write_page(rows, {}, tmp_path / "report.html")) as page:
        assert "dense" in traces(page, "metric")
        bands = [name for name in traces(page, "metric") if name.endswith("band")]
        assert bool(bands) == (len({line["seed"] for line in rows}) > 1)
        reasons = " ".join(page.locator("p.missing:visible").all_text_contents())
        assert ("no multiply-accumulates" in reasons) == (case in ("no macs", "dense only"))
        assert ("health of the graphs" in reasons) == (case in ("no health", "dense only"))
        assert ("only dense models" in reasons) == (case == "dense only")
        assert "sweep.json" in reasons


def test_hostile_names_stay_text_and_nothing_else_may_run(browser, tmp_path):
    rows = [
        row(name, i, s, dataset=EVIL) for name in (EVIL, "teddy") for i in (0, 5) for s in (0, 1)
    ]
    path = write_page(rows, FACTS, tmp_path / "report.html", title=EVIL)
    context = browser.new_context()
    page, requests = context.new_page(), []
    context.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    assert page.evaluate("window.evil") is None
    assert page.title() == EVIL
    assert page.locator("#place option").first.text_content() == f"gcn on {EVIL}"
    assert EVIL in page.locator("#methods").text_content()
    assert page.locator("img, iframe, #metric a").count() == 0
    # Were there a hole, the policy would still hold.
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), "
                  "{textContent: 'window.evil = 3'}))")  # fmt: skip
    asked = page.evaluate("fetch('https://example.org/').then(() => 'sent', () => 'refused')")
    assert (page.evaluate("window.evil"), asked) == (None, "refused")
    assert [url for url in requests[1:] if not url.startswith("data:")] == []
    context.close()
