"""Grid of a sweep: cells, and the series in which they are computed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from itertools import product
from pathlib import Path
from typing import Any

from teddy.data.catalog import DATASETS
from teddy.errors import InputError
from teddy.methods.make_problem import settings_of
from teddy.methods.plugin import check_model
from teddy.methods.spec import MethodSpec
from teddy.settings import Settings
from teddy.sparsity import check_count, check_seed

# Names of a cell's fields in stored results.
_COLUMNS = ("dataset", "model", "method", "seed", "simulation")


@dataclass(frozen=True)
class Cell:
    """One training of the grid, or the dense model at level 0.

    Example:
        >>> cell = Cell("cora", "gcn", "ugs", 0, 5)
        >>> cell.key
        'cora-gcn-ugs-seed0-simulation5-...'
    """

    dataset: str
    model: str
    method: str
    seed: int
    level: int

    @staticmethod
    def from_row(row: dict[str, Any]) -> Cell:
        """Cell of a result."""
        values: list[Any] = [row.get(name) for name in _COLUMNS]
        return Cell(*values)

    def to_row(self) -> dict[str, Any]:
        """First columns of its result."""
        return dict(zip(_COLUMNS, astuple(self), strict=True))

    @property
    def key(self) -> str:
        """Name of its file."""
        return file_name(
            self.dataset, self.model, self.method, f"seed{self.seed}",
            f"simulation{self.level}",
        )  # fmt: skip


@dataclass(frozen=True)
class Series:
    """Cells of one data set, model, method and seed, computed in turn by one process."""

    dataset: str
    model: str
    method: str
    seed: int
    levels: tuple[int, ...]

    @property
    def key(self) -> str:
        """Name of the series' files."""
        return file_name(self.dataset, self.model, self.method, f"seed{self.seed}")

    @property
    def dense_key(self) -> str:
        """Name of the dense model, which series of all methods share."""
        return file_name(self.dataset, self.model, f"seed{self.seed}")

    @property
    def cells(self) -> list[Cell]:
        """The cells, in the order of computation."""
        place = self.dataset, self.model, self.method, self.seed
        return [Cell(*place, level) for level in self.levels]


@dataclass(frozen=True)
class Grid:
    """Product of methods, models, data sets, levels of the paper's schedule and seeds.

    Example:
        >>> grid = Grid(["citeseer"], ["gin"], ["teddy", "random"], [0, 5], [0, 1, 2])
        >>> len(grid.cells), len(grid.series)
        (12, 6)
    """

    datasets: Sequence[str]
    models: Sequence[str]
    methods: Sequence[str]
    levels: Sequence[int]
    seeds: Sequence[int]

    def __post_init__(self) -> None:
        for name in ("datasets", "models", "methods", "levels", "seeds"):
            if not getattr(self, name):
                raise InputError(f"got no {name}, expected at least one")
        for model in self.models:
            check_model(model)
        datasets = map(str, self.datasets)  # known names in lower case
        cleaned: dict[str, list[Any]] = {
            "models": list(self.models),
            "datasets": [name.lower() if name.lower() in DATASETS else name for name in datasets],
            "methods": [str(MethodSpec.parse(method)) for method in self.methods],
            "levels": sorted(check_count(i, "level", 0) for i in self.levels),
            "seeds": [check_seed(seed) for seed in self.seeds],
        }
        for name, values in cleaned.items():
            object.__setattr__(self, name, list(dict.fromkeys(values)))

    @property
    def series(self) -> list[Series]:
        """All series; those that share a dense model are far apart in the order."""
        parts = product(self.methods, self.datasets, self.models, self.seeds)
        levels = tuple(self.levels)
        return [Series(d, model, method, seed, levels) for method, d, model, seed in parts]

    @property
    def cells(self) -> list[Cell]:
        """All cells."""
        return [cell for series in self.series for cell in series.cells]


def settings_for(series: Series, settings: Settings) -> Settings:
    """Settings of a series.

    The lambda of a sweep applies to methods that distil by default, so not to ugs and wd-glt.

    Example:
        >>> settings = Settings.from_dict({"distill": 5.0})
        >>> for name in ("ugs", "random", "ugs:distill=1"):
        ...     series = Series("citeseer", "gin", name, 0, (1,))
        ...     print(settings_for(series, settings).train.distill)
        0.0
        5.0
        1.0
    """
    spec = MethodSpec.parse(series.method)
    if spec.method.distill == 0:
        settings = settings.updated(distill=None)
    return settings_of(spec, settings, series.dataset, series.model)


def file_name(*parts: str, digest_only: str = "") -> str:
    """Make a readable file name, unique to its parts.

    Args:
        parts: Words of the name.
        digest_only: Text that is part of the digest only.

    Example:
        >>> file_name("my/graph", "ugs:distill=1")
        'graph-ugs-distill-1-...'
    """
    digest = hashlib.sha256("\0".join([*parts, digest_only]).encode()).hexdigest()[:8]
    stems = [Path(part).stem if "/" in part else part for part in parts]
    words = re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(stems)).strip("-")
    return f"{words[:100]}-{digest}"
