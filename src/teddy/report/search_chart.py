"""A search as a chart: what was tried, with bounds, and the frontier."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from teddy.report.chart import Chart, Line, Panel, Points
from teddy.sweep.sparsest import Sparsest, Tried


def search_chart(found: Sparsest) -> Chart:
    """Draw a search along the diagonal over sparsity, one of the frontier over both sparsities.

    Example:
        >>> from teddy.sweep import Judgement, Point, Rule
        >>> judgement = Judgement(4, 1.0, -0.2, 2.2, "accepted")
        >>> found = Sparsest("citeseer", "gin", "teddy", Rule(0.2), [20], False,
        ...     [Tried(Point(20, 20), 0.64, 0.64, judgement)], [], [], 4, 4, 8, 8)
        >>> [mark.label for mark in search_chart(found).panels[0].marks]
        ['accepted', 'bounds']
    """
    panel = _frontier(found) if found.frontier else _diagonal(found)
    title = f"{found.dataset}, {found.model}, {found.method}"
    return Chart("search", title, [panel])


def _diagonal(found: Sparsest) -> Panel:
    def removed(tried: Tried) -> float:
        return 100 * max(tried.graph_sparsity, tried.weight_sparsity)

    marks: list[Line | Points] = [*_points(found, removed, lambda tried: tried.judgement.mean)]
    for tried in found.tried:
        bounds = [tried.judgement.low, tried.judgement.high]
        marks.append(Line("bounds", [removed(tried)] * 2, bounds))
    return Panel(
        "",
        "removed (%)",
        f"validation {found.metric.name}, to dense (points)",
        marks,
        level=-found.rule.tolerance,
        level_label="tolerance",
    )


def _frontier(found: Sparsest) -> Panel:
    marks: list[Line | Points] = [
        *_points(found, lambda t: 100 * t.graph_sparsity, lambda t: 100 * t.weight_sparsity)
    ]
    corners = [answer.tried for answer in found.answers]
    if corners:
        marks.append(Line("frontier", *_steps(corners)))
    return Panel("", "edges removed (%)", "weights removed (%)", marks)


def _points(
    found: Sparsest, x: Callable[[Tried], float], y: Callable[[Tried], float]
) -> Iterator[Points]:
    """Points of each verdict that occurs."""
    for verdict in ("accepted", "undecided", "rejected"):
        some = [tried for tried in found.tried if tried.judgement.verdict == verdict]
        if some:
            yield Points(verdict, [x(tried) for tried in some], [y(tried) for tried in some])


def _steps(corners: list[Tried]) -> tuple[list[float], list[float]]:
    """The staircase below which everything is within the tolerance, the sparsest graph first."""
    x, y = [100 * corners[0].graph_sparsity], [0.0]
    for corner, following in zip(corners, [*corners[1:], None], strict=True):
        x += [100 * corner.graph_sparsity]
        y += [100 * corner.weight_sparsity]
        x += [100 * following.graph_sparsity if following else 0.0]
        y += [100 * corner.weight_sparsity]
    return x, y
