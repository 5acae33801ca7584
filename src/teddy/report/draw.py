"""Charts as figures of matplotlib, without the state of pyplot."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from functools import wraps
from math import ceil
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from teddy.errors import InputError
from teddy.report.chart import Chart, Heatmap, Line, Panel, Points
from teddy.report.draw_heatmap import draw_heatmap, heatmap_size, shared_reach
from teddy.report.style import INK, Look, looks, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

P = ParamSpec("P")
T = TypeVar("T")

#: More points than this are pixels in a PDF, which a reader opens at once.
_MANY_POINTS = 500
_PANEL = 3.5, 2.75
MARKERS = {
    "circle": "o", "square": "s", "diamond": "D", "triangle-up": "^", "triangle-down": "v",
    "triangle-left": "<", "triangle-right": ">", "cross": "P", "x": "X", "star": "*",
}  # fmt: skip
_DASHES: dict[str, Any] = {
    "solid": "-", "dash": (0, (4.5, 2)), "dot": (0, (1, 1.6)), "dashdot": (0, (5, 1.6, 1, 1.6)),
    "longdash": (0, (8, 2.5)),
}  # fmt: skip
#: Settings of matplotlib that a figure is drawn and saved with.
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same letters on every machine
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.edgecolor": "#8a8a8a",
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.hashsalt": "teddy",
}


def styled(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function that draws or saves, so that it runs with our matplotlib settings."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        import matplotlib as mpl  # takes a while, and most commands draw nothing

        with mpl.rc_context(STYLE):
            return function(*args, **kwargs)

    return run


@styled
def draw(chart: Chart) -> Figure:
    """Draw a chart: panels in a grid, one legend below them.

    Example:
        >>> from teddy.report.chart import Chart, Line, Panel
        >>> panel = Panel("gin", "edges removed (%)", "accuracy (%)",
        ...     [Line("teddy", [5, 64], [70.0, 70.8], [0.5, 1.2])], level=67.7)
        >>> figure = draw(Chart("accuracy", "Accuracy against sparsity", [panel]))
        >>> len(figure.axes), [text.get_text() for text in figure.legends[0].get_texts()]
        (1, ['teddy', 'dense'])
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    if not chart.panels:
        raise InputError(f"chart '{chart.name}' has no panels, expected at least one")
    columns = max(1, min(chart.columns, len(chart.panels)))
    rows = ceil(len(chart.panels) / columns)
    sizes = [heatmap_size(p) if isinstance(p, Heatmap) else _PANEL for p in chart.panels]
    width, height = (max(size[axis] for size in sizes) for axis in (0, 1))
    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08)
    figure = Figure(figsize=(columns * width, rows * height), layout=layout, facecolor="w")
    label_looks = looks(_labels(chart))
    reach = shared_reach([p for p in chart.panels if isinstance(p, Heatmap)])
    for position, panel in enumerate(chart.panels, start=1):
        axes = figure.add_subplot(rows, columns, position)
        axes.set_title(plain(textwrap.fill(panel.title, int(width * 14))), loc="left", pad=8)
        axes.set_xlabel(plain(panel.xlabel))
        axes.set_ylabel(plain(panel.ylabel))
        if isinstance(panel, Heatmap):
            draw_heatmap(axes, panel, reach)
        else:
            _draw_panel(axes, panel, label_looks)
    head = 0.0
    if chart.title:
        title = textwrap.fill(chart.title, int(columns * width * 10))
        figure.suptitle(plain(title), fontsize=11, x=0.01, ha="left", fontweight="bold")
        head = 0.1 + 0.2 * (1 + title.count("\n"))
    foot = _legend(figure, chart, label_looks)
    # The title and the legend do not change the size of the panels.
    figure.set_size_inches(columns * width, rows * height + head + foot)
    return figure


def _draw_panel(axes: Axes, panel: Panel, label_looks: dict[str, Look]) -> None:
    if panel.log:
        axes.set_yscale("log")
    points = [mark for mark in panel.marks if isinstance(mark, Points)]
    if sum(len(mark.x) for mark in points) > _MANY_POINTS:
        _draw_cloud(axes, points, label_looks)
        points = []
    for few in points:
        _draw_points(axes, few, label_looks[few.label])
    for mark in panel.marks:
        if isinstance(mark, Line):
            _draw_line(axes, mark, label_looks[mark.label])
    if panel.level is not None:
        look = label_looks[panel.level_label]
        axes.axhline(panel.level, color=look.colour, linestyle=_DASHES["dash"], linewidth=1.2)


def _draw_line(axes: Axes, line: Line, look: Look) -> None:
    if line.spread is not None:
        low = [y - s for y, s in zip(line.y, line.spread, strict=True)]
        high = [y + s for y, s in zip(line.y, line.spread, strict=True)]
        axes.fill_between(line.x, low, high, color=look.colour, alpha=0.15, linewidth=0)
    axes.plot(line.x, line.y, markevery=max(1, len(line.x) // 12), **_line_style(look))


def _draw_points(axes: Axes, points: Points, look: Look) -> None:
    axes.scatter(
        points.x,
        points.y,
        s=40 if look.marker == "star" else 20,
        marker=MARKERS[look.marker],
        facecolor="none" if look.hollow else look.colour,
        edgecolor=look.colour,
        linewidths=1.0 if look.hollow else 0,
    )


def _draw_cloud(axes: Axes, marks: list[Points], label_looks: dict[str, Look]) -> None:
    """Draw very many points in a mixed order, so that no label lies on top of the others."""
    import numpy as np
    from matplotlib.colors import to_rgb

    x, y = (np.concatenate([getattr(mark, axis) for mark in marks]) for axis in "xy")
    colours = np.repeat(
        [to_rgb(label_looks[mark.label].colour) for mark in marks],
        [len(m.x) for m in marks],
        axis=0,
    )
    order = np.random.default_rng(0).permutation(len(x))
    axes.scatter(
        x[order], y[order], s=3, c=colours[order], alpha=0.3, linewidths=0, rasterized=True
    )


def _line_style(look: Look) -> dict[str, Any]:
    return {
        "color": look.colour,
        "linestyle": _DASHES[look.dash],
        "linewidth": 1.5,
        "marker": MARKERS[look.marker],
        "markersize": 7 if look.marker == "star" else 5,
        "markerfacecolor": "white" if look.hollow else look.colour,
        "markeredgecolor": look.colour if look.hollow else "white",
        "markeredgewidth": 1.0 if look.hollow else 0.5,
    }


def _labels(chart: Chart) -> list[str]:
    """Return the labels of all panels; those of horizontal lines come last."""
    panels = [panel for panel in chart.panels if isinstance(panel, Panel)]
    levels = [panel.level_label for panel in panels if panel.level is not None]
    return list(dict.fromkeys([*(mark.label for mark in _marks(chart)), *levels]))


def _marks(chart: Chart) -> list[Line | Points]:
    return [mark for panel in chart.panels if isinstance(panel, Panel) for mark in panel.marks]


def _legend(figure: Figure, chart: Chart, label_looks: dict[str, Look]) -> float:
    """Put one legend below all panels, in as few rows as fit; return its height in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    handles = [_handle(chart, label, look) for label, look in label_looks.items()]
    height = 0.0
    for columns in range(len(handles), 0, -1):
        legend = figure.legend(handles=handles, loc="outside lower center", ncols=columns)
        extent = legend.get_window_extent(canvas.get_renderer())
        height = float(extent.height / figure.dpi)
        if columns == 1 or extent.width <= 0.98 * figure.bbox.width:
            break
        legend.remove()
    return height


def _handle(chart: Chart, label: str, look: Look) -> Line2D:
    from matplotlib.lines import Line2D

    marks = [mark for mark in _marks(chart) if mark.label == label]
    style = _line_style(look)
    if marks and not any(isinstance(mark, Line) for mark in marks):
        style |= {"linestyle": "none", "markersize": 6}
        if max(len(mark.x) for mark in marks) > _MANY_POINTS:  # a cloud, of dots
            style |= {"marker": "o"}
    if not marks:
        style |= {"marker": "none", "linestyle": _DASHES["dash"], "linewidth": 1.2}
    return Line2D([], [], label=plain(label), **style)
