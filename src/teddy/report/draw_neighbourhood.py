"""Drawing of a node's neighbourhood, before and after pruning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from teddy.report.draw import MARKERS, styled
from teddy.report.style import INK, Look, class_looks, plain
from teddy.ticket.inspection import Neighbourhood

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Point = tuple[float, float]

_KEPT: dict[str, Any] = {"color": "#4a4d52", "linewidth": 1.1, "linestyle": "-"}
_REMOVED: dict[str, Any] = {"color": "#a9a9a9", "linewidth": 0.9, "linestyle": (0, (3, 2.2))}
_NO_CLASS = Look("#8a8a8a", "circle", hollow=True)
#: Up to this number of nodes, labels are horizontal, else along the rays.
_STRAIGHT = 16


@styled
def draw_neighbourhood(
    around: Neighbourhood,
    ids: Sequence[int | str],
    classes: Sequence[int],
    names: Sequence[str],
    title: str,
) -> Figure:
    """Draw a node in the middle and the others around it, by their distance.

    The left panel has all edges, removed ones dashed; the right panel the kept edges, at the same
    positions.

    Args:
        around: The neighbourhood.
        ids: Ids of its nodes, in their order.
        classes: Classes of its nodes; -1: no class.
        names: Names of all classes, so that a class looks the same in every picture; empty: nodes
            have no classes.
        title: Title of the figure.

    Example:
        >>> around = Neighbourhood([4, 7], [0, 1], [0, 0], [(0, 1)], [False], 0, 1, 0)
        >>> figure = draw_neighbourhood(around, ["ann", "bob"], [1, -1], ["cat", "dog"], "ann")
        >>> [axes.get_title(loc="left") for axes in figure.axes]
        ['before: 1 edge of ann; 1 edge drawn', 'after: 0 edges of ann; 0 edges drawn']
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(10.4, 6.0), layout="constrained", facecolor="w")
    figure.suptitle(plain(title), fontsize=11, x=0.005, ha="left", fontweight="bold")
    points = positions(around)
    looks = list(class_looks(names).values())
    counts = {
        "before": (around.degree, len(around.kept)),
        "after": (around.degree_after, sum(around.kept)),
    }
    for index, (when, (degree, shown)) in enumerate(counts.items()):
        axes = figure.add_subplot(1, 2, index + 1)
        ours, drawn = (f"{count:,} edge{'s' * (count != 1)}" for count in (degree, shown))
        axes.set_title(plain(f"{when}: {ours} of {ids[0]}; {drawn} drawn"), loc="left")
        axes.set_axis_off()
        axes.set_aspect("equal")
        axes.set_xlim(-1.28, 1.28)
        axes.set_ylim(-1.28, 1.28)
        _draw_edges(axes, around, points, removed=when == "before")
        _draw_nodes(axes, points, [_NO_CLASS if c < 0 else looks[c] for c in classes])
        _draw_labels(axes, around, points, ids)
    handles = [
        _handle(f"class {names[c]}" if names[c].isdecimal() else names[c], looks[c])
        for c in sorted(set(classes) - {-1})
    ]
    if -1 in classes and names:
        handles.append(_handle("no class", _NO_CLASS))
    handles += [
        Line2D([], [], label=label, **style)
        for label, kept, style in (("kept", True, _KEPT), ("removed", False, _REMOVED))
        if kept in around.kept
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 8))
    return figure


def positions(around: Neighbourhood) -> list[Point]:
    """Return the position of each node: on rings, next to the node that it is reached through.

    Example:
        >>> around = Neighbourhood([4, 7, 8], [0, 1, 1], [0, 0, 0], [], [], 0, 2, 2)
        >>> [(round(x), round(y)) for x, y in positions(around)]
        [(0, 0), (0, 1), (0, -1)]
    """
    rings = max(around.hops)
    angle = dict.fromkeys(range(len(around.nodes)), 0.0)
    first = _in_order(around)
    children = {
        node: [c for c, p in enumerate(around.parents) if p == node and around.hops[c] == 2]
        for node in first
    }
    total = sum(max(1, len(children[node])) for node in first)
    done = 0.0
    for node in first:
        share = max(1, len(children[node]))
        angle[node] = (done + share / 2) / max(total, 1)
        for index, child in enumerate(children[node]):
            angle[child] = (done + index + 0.5) / total
        done += share
    points = []
    for node, hop in enumerate(around.hops):
        turn = math.pi - 2 * math.pi * angle[node]
        radius = hop / max(rings, 1)
        points.append((radius * math.cos(turn), radius * math.sin(turn)))
    return points


def _in_order(around: Neighbourhood) -> list[int]:
    """Return the direct neighbours, those with an edge between them one after the other."""
    ring = {node for node, hop in enumerate(around.hops) if hop == 1}
    joined: dict[int, list[int]] = {node: [] for node in ring}
    for one, two in around.edges:
        if one in ring and two in ring:
            joined[one].append(two)
            joined[two].append(one)
    order: list[int] = []
    waiting = sorted(ring, reverse=True)
    while waiting:
        node = waiting.pop()
        if node not in order:
            order.append(node)
            waiting += sorted(joined[node], reverse=True)
    return order


def _draw_edges(axes: Axes, around: Neighbourhood, points: list[Point], removed: bool) -> None:
    for (one, two), kept in zip(around.edges, around.kept, strict=True):
        if kept or removed:
            xs, ys = _line(points[one], points[two])
            axes.plot(xs, ys, zorder=2 if kept else 1, **(_KEPT if kept else _REMOVED))


def _line(one: Point, two: Point) -> tuple[list[float], list[float]]:
    """Return a straight line, or a bent one where it would pass through the middle node."""
    (a, b), (c, d) = one, two
    length = math.hypot(c - a, d - b)
    passes = a * c + b * d < 0 and abs(a * d - b * c) < 0.12 * length
    if not passes:
        return [a, c], [b, d]
    bend = 0.35 / length
    x, y = (a + c) / 2 + bend * (d - b), (b + d) / 2 - bend * (c - a)
    steps = [step / 24 for step in range(25)]
    weights = [((1 - s) ** 2, 2 * s * (1 - s), s**2) for s in steps]
    return (
        [u * a + v * x + w * c for u, v, w in weights],
        [u * b + v * y + w * d for u, v, w in weights],
    )


def _draw_nodes(axes: Axes, points: list[Point], looks: list[Look]) -> None:
    for node, ((x, y), look) in enumerate(zip(points, looks, strict=True)):
        middle = node == 0
        size = (75 if len(points) <= _STRAIGHT else 50) * (1.4 if look.marker == "cross" else 1)
        axes.scatter(
            [x],
            [y],
            s=3 * size if middle else size,
            marker=MARKERS[look.marker],
            facecolor="w" if look.hollow else look.colour,
            edgecolor=INK if middle else look.colour if look.hollow else "w",
            linewidths=1.8 if middle else 0.7,
            zorder=3,
        )


def _draw_labels(
    axes: Axes, around: Neighbourhood, points: list[Point], ids: Sequence[int | str]
) -> None:
    """Write the ids outwards; to the side for nodes with others behind them."""
    from matplotlib.patheffects import withStroke

    few = len(points) <= _STRAIGHT
    for node, ((x, y), name) in enumerate(zip(points, ids, strict=True)):
        middle, far = node == 0, math.hypot(x, y) or 1.0
        across, up = (0.0, -1.0) if middle else (x / far, y / far)
        inner = not middle and node in around.parents
        if inner:
            across, up = up, -across
        straight = few or middle or inner
        gap = 13 if middle else 8 if few else 6
        turn = math.degrees(math.atan2(up, across))
        axes.annotate(
            plain(str(name) if len(str(name)) <= 14 else f"{str(name)[:12]}…"),
            (x, y),
            (gap * across, gap * up),
            textcoords="offset points",
            ha="center" if straight and abs(across) < 0.5 else "left" if across >= 0 else "right",
            va="center" if not straight or abs(up) < 0.5 else "bottom" if up > 0 else "top",
            rotation=0 if straight else turn if across >= 0 else turn - 180,
            rotation_mode="anchor",
            fontsize=9 if few or middle else 7,
            fontweight="bold" if middle else "normal",
            path_effects=[withStroke(linewidth=2.2, foreground="w")],
            zorder=4,
        )


def _handle(label: str, look: Look) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D(
        [], [], linestyle="none", marker=MARKERS[look.marker], markersize=7, label=plain(label),
        markerfacecolor="w" if look.hollow else look.colour, markeredgecolor=look.colour,
    )  # fmt: skip
