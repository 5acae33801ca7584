"""The page in a real browser: drawn, switched, sorted, downloaded, and never on the network."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from contextlib import contextmanager
from itertools import combinations

import pytest

from report.rows import EVIL, METADATA, links, row, sweep
from teddy.report import looks, write_page

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs a browser: apt-get install chromium"
)

MINUS = "\u2212"
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
    return write_page(sweep(), METADATA, tmp_path_factory.mktemp("page") / "report.html")


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


def test_without_any_method_each_section_is_empty(browser, report):
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
        page.select_option("#problem", label="gin on citeseer")
        assert values(page, "metric", "teddy", "y") == pytest.approx([61, 62, 62])
        page.get_by_label("level", exact=True).check(force=True)
        assert values(page, "metric", "teddy", "x") == [0, 5, 10]
        page.get_by_label("last epoch").check(force=True)
        # A point less than at the best epoch, the dense ones half a point.
        assert values(page, "metric", "teddy", "y") == pytest.approx([60, 61, 61])
        assert values(page, "metric", "dense", "y") == pytest.approx([60.5] * 3)
        heat = page.locator("#heat .heatmap-label").all_text_contents()
        assert heat.count("+0.5") == 2
        page.get_by_label("selected data set and model").check(force=True)
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
    with opened(browser, write_page(rows, METADATA, tmp_path / "links.html")) as page:
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
        assert dialog.locator("h2").text_content() == "teddy, level 5"
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
        assert dialog.locator("h2").text_content() == "random, level 10"
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
        assert content["settings"] == METADATA["settings"]


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("light", 390),
        ("dark", 1280),
        pytest.param("dark", 390, marks=pytest.mark.slow),
        pytest.param("light", 1280, marks=pytest.mark.slow),
    ],
)
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


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_the_verdict_is_on_a_phone_without_scrolling_sideways(browser, tmp_path, scheme):
    rows = [
        {**line, "dataset": "a-data-set-with-a-very-long-name-in-one-word", "metric": "AUC",
         "method": f"{line['method']}:an_option_of_this_method=with_a_long_value"}
        for line in sweep()
    ]  # fmt: skip
    path = write_page(rows, METADATA, tmp_path / "report.html")
    phone = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    with opened(browser, path, color_scheme=scheme, **phone) as page:
        assert page.evaluate("innerWidth") == 390
        assert overflow(page) <= 0
        shown = page.locator(".headline .verdict, .forest:visible .verdict, #verdicts .verdict")
        boxes = [verdict.bounding_box() for verdict in shown.all()]
        assert len(boxes) > 12
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
        scrolled = page.evaluate("""[...document.querySelectorAll('.forest, #verdicts')]
            .filter(part => part.scrollWidth > part.clientWidth + 1).length""")
        assert scrolled == 0
        for plot in page.locator(".forest .track:visible").all():
            assert plot.bounding_box()["width"] > 100


def shown_forest(page):
    """Rows of the visible forest plots: method, level, verdict, numbers, and what is drawn."""
    return page.evaluate("""() => [...document.querySelectorAll(".forest:not([hidden])")]
        .flatMap(plot => [...plot.querySelectorAll("tbody:not([hidden]) tr[data-cell]")])
        .map(row => {
            const box = (part) => row.querySelector(part).getBoundingClientRect();
            const middle = (part) => box(part).x + box(part).width / 2;
            return {
                method: row.parentNode.dataset.method,
                level: row.querySelector("th button").textContent,
                verdict: row.querySelector(".verdict").textContent,
                numbers: row.querySelector(".numbers").textContent.replace(/\\s+/g, " "),
                zero: middle(".zero"), point: middle(".point"),
                low: box(".interval").left, high: box(".interval").right,
            };
        })""")


def test_the_forest_plot_compares_with_the_chosen_baseline(browser, report):
    with opened(browser, report) as page:
        assert page.locator("#baseline option").all_text_contents() == [
            "random", "dense model", "teddy", "teddy:distill=0",
        ]  # fmt: skip
        rows = shown_forest(page)
        assert [(r["method"], r["level"], r["verdict"]) for r in rows] == [
            ("teddy", "level 5", "above"), ("teddy", "level 10", "above"),
            ("teddy:distill=0", "level 5", "undecided"),
            ("teddy:distill=0", "level 10", "undecided"),
        ]  # fmt: skip
        assert rows[0]["numbers"] == "+3.00 [+2.75, +3.25]"
        for r in rows:
            assert r["low"] < r["point"] < r["high"]
            assert (r["low"] > r["zero"]) == (r["verdict"] == "above")
            mean, _, high = (
                float(x) for x in re.findall(r"[-.\d]+", r["numbers"].replace(MINUS, "-"))
            )
            # One scale: a point's distance from zero is proportional to its value.
            scale = (rows[0]["point"] - rows[0]["zero"]) / 3.0
            assert r["point"] - r["zero"] == pytest.approx(scale * mean, abs=1.5)
            assert r["high"] - r["zero"] == pytest.approx(scale * high, abs=1.5)
        page.select_option("#baseline", label="teddy")
        rows = shown_forest(page)
        assert {r["method"] for r in rows} == {"teddy:distill=0", "random"}
        assert [r["numbers"][:5] for r in rows if r["method"] == "random"] == [f"{MINUS}3.00"] * 2
        assert {r["verdict"] for r in rows if r["method"] == "random"} == {"below"}
        page.select_option("#baseline", label="dense model")
        assert len(shown_forest(page)) == 6
        page.get_by_label("random", exact=True).uncheck(force=True)
        assert {r["method"] for r in shown_forest(page)} == {"teddy", "teddy:distill=0"}
        page.select_option("#problem", label="gin on citeseer")
        assert page.locator(".forest h3:visible").all_text_contents() == [
            "gin on citeseer, against the dense model"
        ]
        page.locator(".forest:visible tr[data-cell] button").first.click()
        dialog = page.locator("#details")
        assert dialog.locator("h2").text_content() == "teddy, level 5"
        assert (
            "teddy find citeseer --model gin --method teddy" in dialog.locator("pre").text_content()
        )
        settings = dict(zip(dialog.locator("dt").all_text_contents(),
                            dialog.locator("dd").all_text_contents(), strict=True))  # fmt: skip
        assert (settings["epochs"], settings["hidden channels"]) == ("200", "16")


def test_a_method_has_one_colour_in_every_chart(browser, report):
    with opened(browser, report) as page:
        for name, look in looks(["teddy", "random"]).items():
            colours = page.evaluate(
                """name => ["metric", "macs", "health-isolated"].map(id =>
                    document.getElementById(id).data.find(t => t.name === name).marker.color)""",
                name,
            )
            assert set(colours) == {look.colour}
        dot = page.locator(".forest:visible tbody[data-method=teddy] .method .point")
        colour = dot.evaluate("part => getComputedStyle(part).backgroundColor")
        assert colour == "rgb(0, 114, 178)"


def test_without_javascript_the_comparison_can_be_read(browser, report):
    with opened(browser, report, java_script_enabled=False) as page:
        assert page.locator(".headline .verdict").count() == 4
        assert page.locator(".forest:visible").count() == 2
        assert "above" in page.locator(".forest:visible").first.text_content()


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.slow)])
def test_labels_of_charts_do_not_overlap(browser, report, width):
    with opened(browser, report, viewport={"width": width, "height": 844}) as page:
        texts = page.evaluate("""() => [...document.querySelectorAll(".chart, .forest")]
            .flatMap(chart =>
            [".xtick text, .axis span", ".ytick text, .annotation-text"].map(kind =>
                [...chart.querySelectorAll(kind)].map(text => {
                    const box = text.getBoundingClientRect();
                    return [text.textContent, box.left, box.top, box.right, box.bottom];
                })))""")
        overlaps = [
            (one[0], two[0])
            for group in texts
            for one, two in combinations(group, 2)
            if min(one[3], two[3]) - max(one[1], two[1]) > 1
            and min(one[4], two[4]) - max(one[2], two[2]) > 3
        ]
        assert overlaps == []


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=[pytest.mark.slow] if case in ("one cell", "links") else [])
        for case in POOR
    ],
)
def test_poor_sweeps_still_make_a_page(browser, tmp_path, case):
    rows = POOR[case]
    with opened(browser, write_page(rows, {}, tmp_path / "report.html")) as page:
        assert "dense" in traces(page, "metric")
        bands = [name for name in traces(page, "metric") if name.endswith("band")]
        assert bool(bands) == (len({line["seed"] for line in rows}) > 1)
        reasons = " ".join(page.locator("p.missing:visible").all_text_contents())
        assert ("no multiply-accumulates" in reasons) == (case in ("no macs", "dense only"))
        assert ("properties of the pruned graph" in reasons) == (
            case in ("no health", "dense only")
        )
        assert ("only dense models" in reasons) == (case == "dense only")
        assert "sweep.json" in reasons


@pytest.mark.parametrize(
    "name",
    [
        "<img src=x onerror=window.evil=1>",
        "%{x}<b>",
        pytest.param("</script><b>", marks=pytest.mark.slow),
    ],
)
def test_a_method_called_by_markup_is_text_everywhere(browser, tmp_path, name):
    rows = [
        row(method, i, s, gain=s / 10, metric=name)
        for method in (name, f"{name}:distill=0", "random")
        for i in (0, 5, 10)
        for s in range(3)
    ]
    metadata = {**METADATA, "methods": {f"citeseer gcn {name}": {"distill": 3.0, "file": None}}}
    path = write_page(rows, metadata, tmp_path / "report.html")
    with opened(browser, path, accept_downloads=True) as page:
        assert page.evaluate("window.evil") is None
        assert page.locator("main b b, img, script + b, .chart b, label b, td b").count() == 0
        for part in (".tallies", "#methods", ".forest:visible", "#verdicts", "pre", "#h-metric"):
            assert name in page.locator(part).first.text_content(), part
        for chart in ("metric", "heat", "timing", "macs", "health-isolated"):
            drawn = page.locator(f"#{chart}").text_content().replace("\u200b", "")
            if chart in ("heat", "timing", "metric"):
                assert name in drawn, chart
            assert page.locator(f"#{chart} tspan[style*=bold], #{chart} a").count() == 0
        page.select_option("#baseline", label=name)
        assert {r["method"] for r in shown_forest(page)} == {f"{name}:distill=0", "random"}
        page.get_by_role("button", name=name, exact=True).first.click()
        assert page.locator("#details h2").text_content() == f"{name}, level 5"
        assert page.locator("#details pre").text_content().count(name) == 1
        assert page.locator("#details b, #details img").count() == 0
        page.keyboard.press("Escape")
        with page.expect_download() as given:
            page.locator("#json").click()
        assert given.value.suggested_filename == "results.json"
        assert json.loads(given.value.path().read_text())["rows"][0]["method"] == name


def test_hostile_names_stay_text_and_nothing_else_may_run(browser, tmp_path):
    rows = [
        row(name, i, s, dataset=EVIL) for name in (EVIL, "teddy") for i in (0, 5) for s in (0, 1)
    ]
    path = write_page(rows, METADATA, tmp_path / "report.html", title=EVIL)
    context = browser.new_context()
    page, requests = context.new_page(), []
    context.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    assert page.evaluate("window.evil") is None
    assert page.title() == EVIL
    assert page.locator("#problem option").first.text_content() == f"gcn on {EVIL}"
    assert EVIL in page.locator("#methods").text_content()
    assert page.locator("img, iframe, #metric a").count() == 0
    # Were there a hole, the policy would still hold.
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), "
                  "{textContent: 'window.evil = 3'}))")  # fmt: skip
    answer = page.evaluate("fetch('https://example.org/').then(() => 'sent', () => 'refused')")
    assert (page.evaluate("window.evil"), answer) == (None, "refused")
    assert [url for url in requests[1:] if not url.startswith("data:")] == []
    context.close()
