"""Computation of reproductions: run their sweeps, and make their results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from teddy import __version__
from teddy.errors import InputError
from teddy.methods.spec import MethodSpec
from teddy.models import parse_model
from teddy.sweep import Grid, read_table, run_sweep
from teddy.sweep.folder import Folder
from teddy.sweep.run import failure_line, recorded
from teddy.tasks import load_dataset
from teddy_paper.published import CLAIMS
from teddy_paper.reproduction import CITATION, Finding, Progress, Reproduction, Result, Scope
from teddy_paper.reproduction import REPRODUCTIONS as REPRODUCTIONS
from teddy_paper.results import Results

# Reproductions in the order of the paper; importing their modules registers them.
_MODULES = (
    "dataset_sizes", "toy_example", "degree_importance", "laplacian_energy", "accuracy", "macs",
    "pruned_degrees", "extreme", "transformers", "edges_only", "ablation", "timing", "attribution",
    "inductive", "large_scale",
)  # fmt: skip
for _module in _MODULES:
    import_module(f"teddy_paper.{_module}")
# The order must not depend on which module was imported first.
REPRODUCTIONS.arrange(
    [name.replace("dataset_sizes", "datasets").replace("_", "-") for name in _MODULES]
)


@dataclass(frozen=True)
class Selection:
    """Models and methods to compute; None: all of them."""

    models: Sequence[str] | None = None
    methods: Sequence[str] | None = None

    def __post_init__(self) -> None:
        for model in self.models or ():
            parse_model(model)  # raises on an unknown name
        if self.methods is not None:
            methods = [str(MethodSpec.parse(method)) for method in self.methods]
            object.__setattr__(self, "methods", methods)

    def restrict(self, grid: Grid) -> Grid | None:
        """Restrict a grid; None if nothing is left.

        Example:
            >>> grid = Grid(["citeseer"], ["gcn", "gat"], ["teddy"], [1], [0])
            >>> Selection(models=["gat"]).restrict(grid).models
            ['gat']
            >>> Selection(methods=["ugs"]).restrict(grid) is None
            True
        """
        models = [m for m in grid.models if self.models is None or m in self.models]
        methods = [m for m in grid.methods if self.methods is None or m in self.methods]
        return replace(grid, models=models, methods=methods) if models and methods else None

    def grids_of(self, entry: Reproduction, scope: Scope) -> list[Grid]:
        """Restricted grids of an entry, without empty ones."""
        return [part for grid in entry.grids(scope) if (part := self.restrict(grid)) is not None]


def available(datasets: Sequence[str], data_dir: str | None) -> tuple[tuple[str, ...], list[str]]:
    """Return the readable data sets, and a line for each of the others.

    Example:
        >>> available(["citeseer"], None)
        (('citeseer',), [])
    """
    readable, lines = [], []
    for name in datasets:
        try:
            load_dataset(name, data_dir=data_dir)
            readable.append(name)
        except InputError as error:
            lines.append(f"without {name}: {error}")
    if not readable:
        reasons = "; ".join(lines)
        raise InputError(f"no data set can be read, expected at least one ({reasons})")
    return tuple(readable), lines


def compute(
    entry: Reproduction,
    scope: Scope,
    part: Selection,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[str]:
    """Compute missing results; return a line for each failure."""
    failures: list[str] = []
    if entry.work is not None:
        failures += entry.work(scope, progress or (lambda what, done, wanted: None))
    whole, grids = entry.grids(scope), part.grids_of(entry, scope)
    if whole and not grids:
        methods = dict.fromkeys(method for grid in whole for method in grid.methods)
        models = dict.fromkeys(model for grid in whole for model in grid.models)
        raise InputError(
            f"{entry.name} has none of the requested models and methods, expected some of "
            f"{', '.join(models)} and of {', '.join(methods)}"
        )
    total = sum(len(grid.cells) for grid in grids)
    before = 0
    for grid in grids:

        def report(done: int, wanted: int, before: int = before) -> None:
            if progress is not None:
                progress(f"cells of {entry.name}", before + done, total)

        outcome = run_sweep(
            grid, *entry.sweep(scope), jobs=1 if entry.measures_time else jobs, progress=report
        )
        failures += map(failure_line, outcome.failures)
        before += len(grid.cells)
    return failures


def missing_cells(entry: Reproduction, scope: Scope, part: Selection) -> tuple[int, set[Path]]:
    """Number of cells of an entry, and files of those to compute.

    Example:
        >>> entry = REPRODUCTIONS["extreme"]
        >>> cells, missing = missing_cells(entry, Scope(folder=Path("nowhere")), Selection())
        >>> cells == len(missing)
        True
    """
    folder = Folder(entry.sweep(scope)[0])
    cells = {cell.key: cell for grid in part.grids_of(entry, scope) for cell in grid.cells}
    return len(cells), {folder.cell_path(c) for c in cells.values() if not folder.done(c)}


def make(entry: Reproduction, scope: Scope) -> Result:
    """Make tables, charts and findings of the results.

    Each claim about the entry has a finding.

    Raises:
        InputError: if there are no results, or results of other settings.
    """
    rows: list[dict[str, Any]] = []
    if entry.grids(scope):
        path, settings = entry.sweep(scope)
        folder = Folder(path)
        rows = read_table(folder.path)
        folder.check_settings({"version": __version__, **recorded(settings)})
    result = entry.make(Results(rows), scope)
    findings = list(result.findings)
    if scope.quick and rows:
        findings = [
            replace(finding, holds=None, evidence=f"too coarse to judge; {finding.evidence}")
            for finding in findings
        ]
    judged = {finding.claim for finding in findings}
    findings += [
        Finding(claim.id, None, "not checked here")
        for claim in CLAIMS
        if claim.artefact in entry.artefacts and claim.id not in judged
    ]
    return replace(result, findings=findings, made_by=_made_by(entry, scope, rows))


def _made_by(entry: Reproduction, scope: Scope, rows: list[dict[str, Any]]) -> str:
    """Command, settings and versions in one line."""
    parts = [f"`teddy reproduce {entry.name}{' --quick' if scope.quick else ''}`"]
    if rows:
        settings = entry.sweep(scope)[1]
        hidden = settings.model_options.get("hidden_channels")
        width = "the paper's width" if hidden is None else f"hidden {hidden}"
        listed = {"epochs", "hidden_channels", "data_dir"}
        others = [f"{name} {value}" for name, value in scope.changes.items() if name not in listed]
        strength = [] if "distill" in scope.changes else ["lambda as in `tuned.json`"]
        parts.append(", ".join([f"{settings.train.epochs} epochs", width, *strength, *others]))
        parts.extend(sorted({str(row.get("versions")) for row in rows}))
    return "; ".join(parts)


def resolve_names(names: Sequence[str]) -> list[str]:
    """Resolve names, places such as ``table1``, or ``all`` (of the citation sets).

    Example:
        >>> resolve_names(["table1", "Figure 2", "toy-example"])
        ['extreme', 'laplacian-energy', 'toy-example']
    """
    places = {
        place.lower().replace(" ", ""): name
        for name in REPRODUCTIONS
        for place in REPRODUCTIONS[name].places
    }
    usual = [name for name in REPRODUCTIONS if REPRODUCTIONS[name].datasets == CITATION]
    chosen = usual if "all" in names else []
    for name in names:
        word = name.lower().replace(" ", "")
        if re.fullmatch(r"(table|figure)\d+", word) and word not in places:
            raise InputError(f"'{name}' is not reproduced, expected one of: {', '.join(places)}")
        if name != "all":
            chosen.append(places.get(word, name))
            REPRODUCTIONS[chosen[-1]]  # raises on an unknown name
    return list(dict.fromkeys(chosen))
