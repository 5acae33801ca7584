"""Running what a reproduction takes, and making what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from teddy.data import load_dataset
from teddy.errors import InputError
from teddy.methods.spec import MethodSpec
from teddy.models import MODELS
from teddy.paper.reproduction import (
    REPRODUCTIONS,
    Progress,
    Reproduction,
    Result,
    Scope,
    by_place,
)
from teddy.paper.results import Results
from teddy.sweep import Grid, read_table, run_sweep


@dataclass(frozen=True)
class Part:
    """Which part of a reproduction's sweeps to compute; None: all of it."""

    models: Sequence[str] | None = None
    methods: Sequence[str] | None = None

    def __post_init__(self) -> None:
        for model in self.models or ():
            MODELS[model]  # a wrong name is an error before the work
        if self.methods is not None:
            methods = [str(MethodSpec.parse(method)) for method in self.methods]
            object.__setattr__(self, "methods", methods)

    def of(self, grid: Grid) -> Grid | None:
        """The part of a grid; None if nothing is left.

        Example:
            >>> grid = Grid(["citeseer"], ["gcn", "gat"], ["teddy"], [1], [0])
            >>> Part(models=["gat"]).of(grid).models
            ['gat']
            >>> Part(methods=["ugs"]).of(grid) is None
            True
        """
        models = [m for m in grid.models if self.models is None or m in self.models]
        methods = [m for m in grid.methods if self.methods is None or m in self.methods]
        return replace(grid, models=models, methods=methods) if models and methods else None


def available(datasets: Sequence[str], data_dir: str | None) -> tuple[tuple[str, ...], list[str]]:
    """Which data sets can be read here, and a line for each that can't.

    Example:
        >>> available(["citeseer"], None)
        (('citeseer',), [])
    """
    found, lines = [], []
    for name in datasets:
        try:
            load_dataset(name, data_dir=data_dir)
            found.append(name)
        except InputError as error:
            lines.append(f"without {name}: {error}")
    if not found:
        raise InputError(f"none of {', '.join(datasets)} can be read here, expected one at least")
    return tuple(found), lines


def compute(
    entry: Reproduction,
    scope: Scope,
    part: Part,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Compute what is missing, and return the cells that failed."""
    if entry.work is not None:
        entry.work(scope, progress or (lambda what, done, wanted: None))
    failures: list[dict[str, Any]] = []
    grids = [small for grid in entry.grids(scope) if (small := part.of(grid)) is not None]
    total = sum(len(grid.cells) for grid in grids)
    before = 0
    for grid in grids:

        def report(done: int, wanted: int, before: int = before) -> None:
            if progress is not None:
                progress(f"cells of {entry.name}", before + done, total)

        outcome = run_sweep(
            grid,
            sweep_folder(entry, scope),
            scope.settings,
            jobs=1 if entry.measures_time else jobs,
            progress=report,
        )
        failures += outcome.failures
        before += len(grid.cells)
    return failures


def make(entry: Reproduction, scope: Scope) -> Result:
    """Make tables, charts and findings of what has been computed."""
    folder = sweep_folder(entry, scope)
    rows = read_table(folder) if (folder / "cells").is_dir() else []
    return entry.make(Results(rows), scope)


def sweep_folder(entry: Reproduction, scope: Scope) -> Path:
    """The sweep of an entry: one for all, but for those that measure time."""
    return scope.folder / (f"sweep-{entry.name}" if entry.measures_time else "sweep")


def names_of(names: Sequence[str]) -> list[str]:
    """The reproductions that are meant by names, places or ``all``.

    Example:
        >>> names_of(["table1", "toy-example"])
        ['extreme', 'toy-example']
    """
    if "all" in names:
        return list(REPRODUCTIONS)
    found = list(dict.fromkeys(by_place(name) for name in names))
    for name in found:
        REPRODUCTIONS[name]  # a wrong name is an error before the work
    return found
