"""What a sweep consists of: cells, and the tasks in which they are computed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Any

from teddy.data.catalog import DATASETS
from teddy.errors import InputError
from teddy.methods import Level
from teddy.methods.spec import MethodSpec
from teddy.models import parse_model
from teddy.numbers import check_count, check_seed
from teddy.sweep.tuned import tuned_settings
from teddy.training import TrainConfig


@dataclass(frozen=True)
class Settings:
    """What all cells of a sweep have in common.

    Attributes:
        config: Of every training; ``distill`` there is not used.
        distill: Strength of the distillation for methods that distil; None: their own.
        tuned: Whether to take the tuned strength where one is known.
        model_options: Options of the models.
        split: As of :func:`teddy.load_dataset`.
        split_seed: Of a split that is drawn.
        data_dir: Folder with raw data sets.
        inductive: Whether training sees the training nodes only.
        device: To train on.
        threads: Of each job; results are the same whatever the number of jobs.
    """

    config: TrainConfig = field(default_factory=TrainConfig)
    distill: float | None = None
    tuned: bool = False
    model_options: dict[str, Any] = field(default_factory=dict)
    split: str | None = None
    split_seed: int = 0
    data_dir: str | None = None
    inductive: bool = False
    device: str = "cpu"
    threads: int = 1

    def __post_init__(self) -> None:
        if self.split_seed and self.split is None:
            raise InputError(f"split_seed is {self.split_seed}, expected a split to draw, too")

    def to_dict(self) -> dict[str, Any]:
        """What decides the results, as plain data."""
        plain = asdict(self)
        plain.update(plain.pop("config"), distill=self.distill)
        del plain["data_dir"]
        return plain


@dataclass(frozen=True)
class Cell:
    """One point of the grid.

    Example:
        >>> cell = Cell("cora", "gcn", "ugs", 0, 5)
        >>> cell.key
        'cora-gcn-ugs-seed0-simulation5-...'
    """

    dataset: str
    model: str
    method: str
    seed: int
    simulation: int

    @staticmethod
    def of(row: dict[str, Any]) -> Cell:
        """The cell that a row is the result of."""
        parts: dict[str, Any] = {part.name: row.get(part.name) for part in fields(Cell)}
        return Cell(**parts)

    @property
    def key(self) -> str:
        """Name of its file."""
        return file_name(
            self.dataset, self.model, self.method, f"seed{self.seed}",
            f"simulation{self.simulation}",
        )  # fmt: skip


@dataclass(frozen=True)
class Task:
    """Cells of one data set, model, method and seed: those that one process computes in turn."""

    dataset: str
    model: str
    method: str
    seed: int
    simulations: tuple[int, ...]

    @property
    def key(self) -> str:
        """Name of what belongs to the task."""
        return file_name(self.dataset, self.model, self.method, f"seed{self.seed}")

    @property
    def dense_key(self) -> str:
        """Name of the dense model, which tasks of other methods share."""
        return file_name(self.dataset, self.model, f"seed{self.seed}")

    @property
    def cells(self) -> list[Cell]:
        """The cells, in the order of computation."""
        return [
            Cell(self.dataset, self.model, self.method, self.seed, simulation)
            for simulation in self.simulations
        ]


@dataclass(frozen=True)
class Grid:
    """Methods x models x data sets x simulations x seeds.

    Example:
        >>> grid = Grid(["citeseer"], ["gin"], ["teddy", "random"], [0, 5], [0, 1, 2])
        >>> len(grid.cells), len(grid.tasks)
        (12, 6)
    """

    datasets: Sequence[str]
    models: Sequence[str]
    methods: Sequence[str]
    simulations: Sequence[int]
    seeds: Sequence[int]

    def __post_init__(self) -> None:
        for name in ("datasets", "models", "methods", "simulations", "seeds"):
            if not getattr(self, name):
                raise InputError(f"got no {name}, expected at least one")
        for model in self.models:
            parse_model(model)
        parsed = [str(MethodSpec.parse(method)) for method in self.methods]
        cleaned: dict[str, list[Any]] = {
            "models": list(self.models),
            "datasets": [_canonical(str(name)) for name in self.datasets],
            "methods": parsed,
            "simulations": sorted(check_count(i, "simulation", 0) for i in self.simulations),
            "seeds": [check_seed(seed) for seed in self.seeds],
        }
        for name, values in cleaned.items():
            object.__setattr__(self, name, list(dict.fromkeys(values)))

    @property
    def tasks(self) -> list[Task]:
        """All tasks; those that share a dense model are far apart."""
        return [
            Task(dataset, model, method, seed, tuple(self.simulations))
            for method, dataset, model, seed in product(
                self.methods, self.datasets, self.models, self.seeds
            )
        ]

    @property
    def cells(self) -> list[Cell]:
        """All cells."""
        return [cell for task in self.tasks for cell in task.cells]


def _canonical(dataset: str) -> str:
    """One spelling of a name that is known."""
    return dataset.lower() if dataset.lower() in DATASETS else dataset


def level_of(spec: MethodSpec, simulation: int) -> Level:
    """The sparsities of a simulation for a method."""
    return spec.level(Level.simulation(simulation))


def distill_of(spec: MethodSpec, task: Task, settings: Settings) -> float:
    """The strength of the distillation: of the method in the grid, of the sweep, of the method.

    A method that doesn't distil by itself doesn't because others do.

    Example:
        >>> task = Task("citeseer", "gin", "ugs", 0, (1,))
        >>> distill_of(MethodSpec.parse("ugs"), task, Settings(distill=5.0))
        0.0
        >>> distill_of(MethodSpec.parse("random"), task, Settings(distill=5.0))
        5.0
    """
    if spec.distill is not None:
        return spec.distill
    own = spec.method.distill
    if own == 0:
        return own
    if settings.distill is not None:
        return settings.distill
    if settings.tuned:
        return tuned_settings(task.dataset, task.model).get("distill", own)
    return own


def file_name(*parts: str, digest_only: str = "") -> str:
    """A readable file name that no other parts have.

    Args:
        parts: Words of the name.
        digest_only: What the name depends on besides, but doesn't show.

    Example:
        >>> file_name("my/graph", "ugs:distill=1")
        'graph-ugs-distill-1-...'
    """
    digest = hashlib.sha256("\0".join([*parts, digest_only]).encode()).hexdigest()[:8]
    stems = [Path(part).stem if "/" in part else part for part in parts]
    words = re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(stems)).strip("-")
    return f"{words[:100]}-{digest}"
