"""Charts drawn: what is in them, and the same bytes every time."""

from __future__ import annotations

import os
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_hex

from cli.command import run_forked
from report.rows import sweep
from teddy.errors import InputError
from teddy.report import draw, looks, metric_chart, save_chart
from teddy.report.chart import Chart, Heatmap, Line, Panel, Points

LINES = [
    Line("teddy", [5, 23, 64], [70.0, 70.5, 71.0], [0.5, 0.4, 1.0]),
    Line("random", [5, 23, 64], [69.0, 68.5, 68.0]),
]
PANEL = Panel("gin on citeseer", "edges removed (%)", "test accuracy (%)", LINES, level=69.5)
HEATMAP = Heatmap(
    "gin", "simulation", "method", ["1", "5"], ["teddy", "ugs"], [[1.25, -4.0], [None, -0.04]]
)


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_panel_has_its_lines_bands_level_and_names():
    figure = draw(Chart("accuracy", "Accuracy", [PANEL]))
    (axes,) = figure.axes
    teddy, random, dense = axes.lines
    assert list(teddy.get_ydata()) == [70.0, 70.5, 71.0]
    assert (teddy.get_color(), random.get_color()) == (
        looks(["teddy"])["teddy"].colour,
        looks(["random"])["random"].colour,
    )
    assert set(dense.get_ydata()) == {69.5}
    assert dense.is_dashed()
    (band,) = [part for part in axes.collections if isinstance(part, PolyCollection)]
    corners = {tuple(corner) for corner in np.round(band.get_paths()[0].vertices, 6).tolist()}
    assert {(5.0, 69.5), (5.0, 70.5), (64.0, 70.0), (64.0, 72.0)} <= corners
    assert (axes.get_xlabel(), axes.get_ylabel()) == (PANEL.xlabel, PANEL.ylabel)
    assert axes.get_title(loc="left") == "gin on citeseer"
    assert legend(figure) == ["teddy", "random", "dense"]


def test_panels_stand_in_a_grid_above_one_legend_that_fits():
    labels = ["teddy", "ugs", "wd-glt", "random", "two-hop", "teddy:distill=0", "a-method-of-mine"]
    marks = [Line(label, [0, 1], [i, i + 1]) for i, label in enumerate(labels)]
    panels = [Panel(f"panel {i}", "x", "y", marks, level=2) for i in range(7)]
    figure = draw(Chart("grid", "A title", panels))
    figure.canvas.draw()
    assert len(figure.axes) == 7
    assert {(axes.get_subplotspec().get_geometry()[:2]) for axes in figure.axes} == {(3, 3)}
    assert len(figure.legends) == 1
    assert legend(figure) == [*labels, "dense"]
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y0 >= 0
    lowest = min(axes.get_tightbbox().y0 for axes in figure.axes)
    assert box.y1 <= lowest


@pytest.mark.parametrize("columns", [1, 2])
def test_a_narrow_chart_wraps_its_legend(columns):
    marks = [Line(f"a-rather-long-name-{i}", [0, 1], [0, i]) for i in range(9)]
    figure = draw(Chart("narrow", "", [Panel("", "x", "y", marks)] * columns, columns=columns))
    figure.canvas.draw()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert figure.axes[0].get_window_extent().height > 120


def test_a_heat_map_has_its_numbers_in_an_ink_that_reads():
    figure = draw(Chart("heat", "", [HEATMAP]))
    (axes,) = figure.axes
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    assert texts == {(0, 0): "+1.2", (1, 0): "−4.0", (1, 1): "0.0"}  # noqa: RUF001
    image = axes.images[0]
    for text in axes.texts:
        x, y = text.get_position()
        cell = image.cmap(image.norm(image.get_array()[y, x]))[:3]
        light = [np.dot(np.array(c) ** 2.2, [0.2126, 0.7152, 0.0722]) + 0.05
                 for c in (cell, mpl.colors.to_rgb(text.get_color()))]  # fmt: skip
        assert max(light) / min(light) > 4
    assert image.norm.vmin == -image.norm.vmax == -4.0


def test_heat_maps_of_amounts_have_separate_scales_and_no_sign():
    maps = [
        Heatmap("", "", "", ["1", "2"], ["a"], [[70.0, 72.0]]),
        Heatmap("", "", "", ["1", "2"], ["a"], [[80.0, 80.0]]),
    ]
    first, second = draw(Chart("heat", "", maps)).axes
    assert [text.get_text() for text in first.texts] == ["70.0", "72.0"]
    assert (first.images[0].norm.vmin, first.images[0].norm.vmax) == (70.0, 72.0)
    assert second.images[0].norm.vmin == 80.0


def test_few_points_keep_their_markers_and_many_become_pixels():
    few = draw(Chart("few", "", [Panel("", "x", "y", [Points("teddy", [1, 2], [3, 4])])]))
    (points,) = few.axes[0].collections
    assert to_hex(points.get_facecolor()[0]) == looks(["teddy"])["teddy"].colour
    assert not points.get_rasterized()
    x = list(range(30_000))
    cloud = [Points("kept", x, x), Points("pruned", x, x)]
    many = draw(Chart("many", "", [Panel("", "x", "y", cloud, log=True)]))
    (points,) = [p for p in many.axes[0].collections if isinstance(p, PathCollection)]
    assert points.get_rasterized()
    assert len(points.get_offsets()) == 60_000
    # Neither label lies on top: both are among the last that are drawn.
    assert len({to_hex(c) for c in points.get_facecolor()[-50:]}) == 2
    assert many.axes[0].get_yscale() == "log"
    assert legend(many) == ["kept", "pruned"]


def test_a_pdf_of_many_points_is_small(tmp_path):
    rng = np.random.default_rng(0)
    cloud = Points("kept", rng.normal(size=50_000).tolist(), rng.normal(size=50_000).tolist())
    png, pdf = save_chart(Chart("many", "", [Panel("", "x", "y", [cloud])]), tmp_path)
    assert png.stat().st_size < 200_000
    assert pdf.stat().st_size < 200_000


def fresh(code, folder):
    """Run a program in a new process with another order of sets."""
    path = os.pathsep.join(part for part in sys.path if part)
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, check=True)


def forked(code, folder):
    assert run_forked(code=code, cwd=folder).returncode == 0


@pytest.mark.parametrize("process", [forked, pytest.param(fresh, marks=pytest.mark.slow)])
def test_the_same_chart_gives_the_same_bytes_in_another_process(tmp_path, process):
    code = (
        "from report.test_draw import HEATMAP, PANEL\n"
        "from teddy.report.chart import Chart\n"
        "from teddy.report import save_chart\n"
        "save_chart(Chart('both', 'Title', [PANEL, HEATMAP]), 'there')"
    )
    process(code, tmp_path)
    for here in save_chart(Chart("both", "Title", [PANEL, HEATMAP]), tmp_path / "here"):
        assert here.read_bytes() == (tmp_path / "there" / here.name).read_bytes()


def test_drawing_leaves_the_settings_of_matplotlib_alone():
    before = dict(mpl.rcParams)
    draw(Chart("accuracy", "", [PANEL]))
    assert dict(mpl.rcParams) == before


def test_bad_charts_and_folders_are_refused(tmp_path):
    with pytest.raises(InputError, match="has no panels"):
        draw(Chart("empty", "", []))
    with pytest.raises(InputError, match="must be a file name without folders, got"):
        save_chart(Chart("a/b", "", [PANEL]), tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="can't be created"):
        save_chart(Chart("a", "", [PANEL]), tmp_path / "file")


def test_the_metric_chart_of_a_sweep():
    chart = metric_chart(sweep())
    assert [panel.title for panel in chart.panels] == ["gcn on citeseer", "gin on citeseer"]
    gcn = chart.panels[0]
    assert gcn.level == 71.0
    assert [mark.label for mark in gcn.marks] == ["teddy", "teddy:distill=0", "random"]
    teddy = gcn.marks[0]
    assert teddy.x == pytest.approx([0, 100 * (1 - 0.95**5), 100 * (1 - 0.95**10)])
    assert teddy.y == pytest.approx([71.0, 72.0, 72.0])
    # Seeds have 70.9, 72.0 and 73.1.
    assert teddy.spread == pytest.approx([1.0, 1.1, 1.1])


def test_names_are_never_formulas_and_never_left_out(tmp_path):
    names = ["</script><b>", "$x^2$", r"$\frac$", "_hidden", "a & b"]
    marks = [Line(name, [0, 1], [i, i + 1]) for i, name in enumerate(names)]
    heatmap = Heatmap("$t$", "$x$", "y", ["$1$"], names, [[float(i)] for i in range(len(names))])
    figure = draw(Chart("names", "$title$", [Panel("$p$", "$x$", "_y", marks), heatmap]))
    assert [text.replace("\u200b", "").replace(r"\$", "$") for text in legend(figure)] == names
    paths = save_chart(Chart("names", "$title$", [Panel("$p$", "x", "y", marks)]), tmp_path)
    assert all(path.stat().st_size > 1000 for path in paths)
    rows = [{**row, "method": names[0], "metric": "</script>/<b>"} for row in sweep()]
    chart = metric_chart(rows)
    assert chart.name == "script-b"
    assert [path.name for path in save_chart(chart, tmp_path)] == ["script-b.png", "script-b.pdf"]
