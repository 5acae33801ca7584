"""Charts as plain data, without their look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Line:
    """Values along an axis, with an error band where there are several seeds.

    Attributes:
        spread: Half the height of the band at each position; None: no band.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    spread: Sequence[float] | None = None


@dataclass(frozen=True)
class Points:
    """Single points, any number of them."""

    label: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """Lines or points over common axes.

    Attributes:
        xlabel: Name of the horizontal axis, with its unit. ``ylabel`` names the vertical one.
        level: A horizontal line to compare with: the dense model.
    """

    title: str
    xlabel: str
    ylabel: str
    marks: Sequence[Line | Points]
    level: float | None = None
    level_label: str = "dense"
    log: bool = False


@dataclass(frozen=True)
class Heatmap:
    """Values over two discrete axes.

    Attributes:
        values: A value for each column of each row; None: unknown.
    """

    title: str
    xlabel: str
    ylabel: str
    columns: Sequence[str]
    rows: Sequence[str]
    values: Sequence[Sequence[float | None]]


@dataclass(frozen=True)
class Chart:
    """Panels in a grid, read along rows.

    Example:
        >>> panel = Panel("gin on citeseer", "edges removed (%)", "test accuracy (%)",
        ...     [Line("teddy", [5, 64], [70.0, 70.8], [0.5, 1.2])], level=67.7)
        >>> Chart("accuracy", "Accuracy against sparsity", [panel]).columns
        3
    """

    name: str
    title: str
    panels: Sequence[Panel | Heatmap]
    columns: int = field(default=3, kw_only=True)
