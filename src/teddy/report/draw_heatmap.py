"""Heat maps with their numbers in them."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import TYPE_CHECKING

from teddy.report.chart import Heatmap
from teddy.report.style import ABOVE, BELOW, EQUAL, INK, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNKNOWN = "#e9e9e9"
_CELL = 0.52, 0.36
_MARGIN = 1.1, 1.1
_LEAST = 3.5, 2.4


def heatmap_size(heatmap: Heatmap) -> tuple[float, float]:
    """Return the inches that a map needs for its cells and its names.

    Example:
        >>> heatmap_size(Heatmap("", "", "", ["1"], ["teddy"], [[1.0]]))
        (3.5, 2.4)
    """
    longest = max((len(name) for name in heatmap.rows), default=0)
    cell = max(_CELL[0], 0.085 * _longest_number(heatmap))
    width = _MARGIN[0] + 0.07 * longest + cell * len(heatmap.columns)
    return max(_LEAST[0], width), max(_LEAST[1], _MARGIN[1] + _CELL[1] * len(heatmap.rows))


def shared_reach(heatmaps: Iterable[Heatmap]) -> float | None:
    """Return the largest distance from 0 in maps of differences, for a shared colour scale.

    None if no value is below 0: then each map has its own scale.

    Example:
        >>> shared_reach([Heatmap("", "", "", ["1"], ["a", "b"], [[-2.0], [3.0]])])
        3.0
    """
    values = [value for heatmap in heatmaps for value in _numbers(heatmap)]
    return max(map(abs, values)) if values and min(values) < 0 else None


def draw_heatmap(axes: Axes, heatmap: Heatmap, reach: float | None) -> None:
    """Draw a map with a number in each cell, in the colour of best contrast."""
    import numpy as np
    from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize

    values = np.array(
        [[np.nan if value is None else value for value in row] for row in heatmap.values], float
    )
    values = values.reshape(len(heatmap.rows), len(heatmap.columns))
    known = _numbers(heatmap) or [0.0]
    colours: Colormap
    if reach is not None:
        colours = LinearSegmentedColormap.from_list("difference", [BELOW, EQUAL, ABOVE])
        scale = Normalize(-reach or -1.0, reach or 1.0)
    else:
        colours = LinearSegmentedColormap.from_list("amount", [EQUAL, ABOVE])
        scale = Normalize(min(known), max(known) if max(known) > min(known) else min(known) + 1)
    colours = colours.with_extremes(bad=_UNKNOWN)
    axes.grid(visible=False)
    axes.imshow(np.ma.masked_invalid(values), cmap=colours, norm=scale, aspect="auto")
    axes.set_xticks(range(len(heatmap.columns)), [plain(name) for name in heatmap.columns])
    axes.set_yticks(range(len(heatmap.rows)), [plain(name) for name in heatmap.rows])
    if any(len(name) > 7 for name in heatmap.columns):
        axes.tick_params(axis="x", labelrotation=35)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")
    # Thin gaps between cells.
    axes.set_xticks(np.arange(0.5, len(heatmap.columns) - 1), minor=True)
    axes.set_yticks(np.arange(0.5, len(heatmap.rows) - 1), minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    for row, column in np.argwhere(np.isfinite(values)):
        value = values[row, column]
        ink = _ink_on(colours(scale(value)))
        text = _text(float(value), signed=reach is not None)
        axes.text(column, row, text, ha="center", va="center", fontsize=8, color=ink)


def _numbers(heatmap: Heatmap) -> list[float]:
    values = (value for row in heatmap.values for value in row)
    return [float(value) for value in values if value is not None and isfinite(value)]


def _longest_number(heatmap: Heatmap) -> int:
    return max((len(_text(value, signed=True)) for value in _numbers(heatmap)), default=1)


def _text(value: float, *, signed: bool) -> str:
    text = f"{value:+.1f}" if signed else f"{value:.1f}"
    return ("0.0" if float(text) == 0 else text).replace("-", "−")  # noqa: RUF001


def _ink_on(colour: tuple[float, ...]) -> str:
    """Return dark or white, by the higher contrast (WCAG's relative luminance)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "white" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.071 else INK
