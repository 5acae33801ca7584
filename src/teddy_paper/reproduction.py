"""What a reproduction is: the sweeps it takes, and what is made of their results."""

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

#: UGS where its twenty rounds take too long: masks are learned in four, 23% go in each.
UGS_FEW_ROUNDS = "ugs:stride=5"
#: The paper's sets for the figures and tables of its Section 6.1.
CITATION = ("cora", "citeseer", "pubmed")
#: And its models.
MODELS = ("gcn", "gat", "gin")


@dataclass(frozen=True)
class Scope:
    """How much to compute.

    Attributes:
        datasets: Those that can be read here, in the paper's order.
        seeds: Seeds of one-shot methods; ``iterative_seeds``: of those that take many rounds.
        levels: Levels of the figures; ``extreme``: of the extreme regime.
        quick: A coarse version: few epochs, narrow models.
        changes: Settings that differ from the paper's, by name.
        folder: For what a reproduction keeps besides the sweep.
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
        """The coarse version.

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
        """Of all trainings: the paper's, with the tuned strength of distillation."""
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
        """A part of the sweep; every cell brings its dense model along.

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
    """A table of results: texts, numbers, and None where a value is not known."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Finding:
    """Whether a claim of the paper, by its id, holds on our runs.

    ``holds`` is None where our runs can't tell, or it depends on the reading.
    """

    claim: str
    holds: bool | None
    evidence: str


@dataclass(frozen=True)
class Result:
    """Content of a reproduction; charts without a panel are left out.

    ``made_by``, the command and the settings, is filled in by :func:`teddy_paper.compute.make`.
    """

    tables: Sequence[ResultTable] = ()
    charts: Sequence[Chart] = ()
    findings: Sequence[Finding] = ()
    notes: Sequence[str] = ()
    made_by: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "charts", [chart for chart in self.charts if chart.panels])


#: Called with what is being done, and how much of it is done and wanted.
Progress = Callable[[str, int, int], None]
Make = Callable[[Results, Scope], Result]
Work = Callable[[Scope, Progress], list[str]]
Grids = Callable[[Scope], list[Grid]]


@dataclass(frozen=True)
class Reproduction:
    """A table or figure of the paper, or several that belong together.

    Attributes:
        places: Tables and figures of the paper; empty for a study of our own.
        make: Makes tables, charts and findings of the results.
        grids: Parts of the sweep that it takes.
        artefacts: Of :data:`teddy_paper.published.ARTEFACTS`, those whose claims it judges.
        work: What it computes besides, into the scope's folder; done again, it goes on. Returns
            a line for each thing that failed.
        measures_time: Whether its cells are computed one at a time, in a sweep of their own.
        settings: Of its trainings, in a sweep of their own; None: those of all.
        datasets: Those that it is about, where they aren't :data:`CITATION`. It isn't in ``all``.
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
        """The folder of its sweep, and the settings."""
        own = self.measures_time or self.settings is not None
        folder = scope.folder / (f"sweep-{self.name}" if own else "sweep")
        return folder, scope.settings if self.settings is None else self.settings(scope)


REPRODUCTIONS: Registry[Reproduction] = Registry("table or figure")


def reproduction(
    name: str, places: tuple[str, ...], title: str, grids: Grids = lambda scope: [], **options: Any
) -> Callable[[Make], Make]:
    """Register what makes a table or figure; the one line that a new one needs.

    The arguments are fields of :class:`Reproduction`. By default it judges the claims of its name.
    """
    artefacts = options.pop("artefacts", (name,) if places else ())

    def register(make: Make) -> Make:
        entry = Reproduction(name, places, title, make, grids, artefacts=artefacts, **options)
        REPRODUCTIONS.register(name)(entry)
        return make

    return register
