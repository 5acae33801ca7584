"""``Reproduction``: the sweeps of a table or figure, and a function of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any

from teddy.registry import Registry
from teddy.report.chart import Chart
from teddy.settings import Settings
from teddy.sweep import Grid
from teddy_paper.results import Results

#: UGS in four rounds of 23% each, where twenty rounds take too long.
UGS_FEW_ROUNDS = "ugs:stride=5"
#: Data sets of the paper's Section 6.1.
CITATION = ("cora", "citeseer", "pubmed")
#: Models of the paper's Section 6.1.
MODELS = ("gcn", "gat", "gin")


@dataclass(frozen=True)
class Scope:
    """Extent of a reproduction.

    Attributes:
        datasets: Available data sets, in the paper's order.
        seeds: Number of seeds of one-shot methods.
        iterative_seeds: Number of seeds of iterative methods.
        levels: Levels of the paper's schedule in the figures.
        extreme: Levels of the extreme regime.
        quick: Whether to compute a coarse version: few epochs, narrow models.
        changes: Settings that differ from the paper's, by name.
        folder: Folder of the sweep and other results.
    """

    datasets: tuple[str, ...] = CITATION
    seeds: int = 5
    iterative_seeds: int = 3
    levels: tuple[int, ...] = (1, 5, 10, 15, 20)
    extreme: tuple[int, ...] = (20, 25, 30, 35, 40)
    quick: bool = False
    changes: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path("runs/paper")

    @staticmethod
    def quick_scope(**changes: Any) -> Scope:
        """Make the scope of a coarse version.

        Example:
            >>> Scope.quick_scope().levels
            (1, 5)
        """
        coarse = Scope(
            ("cora", "citeseer"), seeds=2, iterative_seeds=1, levels=(1, 5),
            extreme=(20, 40), quick=True,
        )  # fmt: skip
        return replace(coarse, **changes)

    @property
    def settings(self) -> Settings:
        """Settings of the paper, with tuned distillation, and the changes."""
        quick = {"epochs": 40, "hidden_channels": 32} if self.quick else {}
        return Settings.from_dict({"tuned": True, **quick, **self.changes})

    @property
    def data_dir(self) -> str | None:
        """Folder with raw data sets."""
        return self.settings.data.data_dir

    def grid(
        self,
        methods: Sequence[str],
        models: Sequence[str] = MODELS,
        levels: Sequence[int] | None = None,
        datasets: Sequence[str] | None = None,
        iterative: bool = False,
    ) -> Grid:
        """Make a grid; each cell comes with its dense model.

        Example:
            >>> len(Scope().grid(["teddy"], ["gin"]).cells)
            75
        """
        return Grid(
            self.datasets if datasets is None else datasets,
            models,
            methods,
            self.levels if levels is None else levels,
            range(self.iterative_seeds if iterative else self.seeds),
        )


@dataclass(frozen=True)
class ResultTable:
    """A table of texts and numbers; None is an unknown value."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Finding:
    """Verdict on a claim of the paper, by its id, with evidence from our runs.

    ``holds`` is None if the runs do not decide it, or it depends on the reading.
    """

    claim: str
    holds: bool | None
    evidence: str


@dataclass(frozen=True)
class Result:
    """Result of a reproduction; charts without panels are left out.

    ``made_by``, the command and the settings, is filled in by :func:`teddy_paper.compute.make`.
    """

    tables: Sequence[ResultTable] = ()
    charts: Sequence[Chart] = ()
    findings: Sequence[Finding] = ()
    notes: Sequence[str] = ()
    made_by: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "charts", [chart for chart in self.charts if chart.panels])


#: Called with the name of the work, the finished amount and the total.
Progress = Callable[[str, int, int], None]
Make = Callable[[Results, Scope], Result]
Work = Callable[[Scope, Progress], list[str]]
Grids = Callable[[Scope], list[Grid]]


@dataclass(frozen=True)
class Reproduction:
    """A table or figure of the paper, or several that belong together.

    Attributes:
        places: Tables and figures of the paper; empty for our own study.
        make: Function that makes tables, charts and findings of the results.
        grids: Function that returns the grids of its sweep.
        artefacts: Keys of :data:`teddy_paper.published.ARTEFACTS` whose claims it checks.
        work: Function for other computations in the scope's folder, which resumes. It returns a
            line for each failure.
        measures_time: Whether its cells are computed one at a time, in a separate sweep.
        settings: Function for its settings, in a separate sweep; None: the common settings.
        datasets: Its data sets; if they are not :data:`CITATION`, it is not part of ``all``.
    """

    name: str
    places: tuple[str, ...]
    title: str
    make: Make
    grids: Grids
    _: KW_ONLY
    artefacts: tuple[str, ...] = ()
    work: Work | None = None
    measures_time: bool = False
    settings: Callable[[Scope], Settings] | None = None
    datasets: tuple[str, ...] = CITATION

    def sweep(self, scope: Scope) -> tuple[Path, Settings]:
        """Folder and settings of its sweep."""
        separate = self.measures_time or self.settings is not None
        folder = scope.folder / (f"sweep-{self.name}" if separate else "sweep")
        return folder, scope.settings if self.settings is None else self.settings(scope)


REPRODUCTIONS: Registry[Reproduction] = Registry("table or figure")


def reproduction(
    name: str, places: tuple[str, ...], title: str, grids: Grids = lambda scope: [], **options: Any
) -> Callable[[Make], Make]:
    """Register a function as a reproduction; arguments are fields of :class:`Reproduction`.

    By default it checks the claims of the artefact with its name.
    """
    artefacts = options.pop("artefacts", (name,) if places else ())

    def register(make: Make) -> Make:
        entry = Reproduction(name, places, title, make, grids, artefacts=artefacts, **options)
        REPRODUCTIONS.register(name)(entry)
        return make

    return register
