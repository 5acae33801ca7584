"""Levels that a search chooses from, trained as cells of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

from teddy.errors import InputError
from teddy.methods.spec import MethodSpec
from teddy.settings import Settings
from teddy.store.atomic import StrPath
from teddy.sweep.data_versions import cached_dataset, data_version, held_out
from teddy.sweep.folder import Folder
from teddy.sweep.grid import Grid
from teddy.sweep.level_search import LevelPair
from teddy.sweep.metric import Metric
from teddy.sweep.resolution import HeldOut
from teddy.sweep.run import Outcome, checked, failure_line, run_sweep, source_of

#: Called with the name of the work, the finished amount and the total.
Progress = Callable[[str, int, int], None]


class Candidates:
    """Pairs of levels of a data set, model and method, trained in the folder of a sweep.

    A search calls :meth:`differences` and :meth:`known`, which read the validation metric only.

    Args:
        progress: Called with the finished seeds.

    Attributes:
        computed: Number of newly computed cells.
    """

    def __init__(
        self,
        dataset: str,
        model: str,
        spec: MethodSpec,
        out: StrPath,
        settings: Settings,
        jobs: int = 1,
        plugins: Sequence[str | Path] = (),
        progress: Progress | None = None,
    ) -> None:
        self.model, self.spec, self.out = model, spec, Path(out)
        self.dataset = Grid([dataset], [model], [str(spec)], [1], [0]).datasets[0]
        self.settings = checked(settings, [model])
        self.metric = Metric.from_task(self.settings.task.task)
        self.jobs, self.plugins, self.progress = jobs, plugins, progress
        self.computed = 0

    def held_out(self, mask: str) -> HeldOut:
        """Size of the validation or test set, by ``val_mask`` or ``test_mask``."""
        source = source_of(self.dataset)
        version = data_version(source, self.settings)
        data = cached_dataset(source, self.settings, version)
        return held_out(data, mask, self.settings)

    def sparsities(self, point: LevelPair, seeds: int) -> tuple[float, float]:
        """Measured graph sparsity and weight sparsity, means over seeds."""
        rows = self._rows(point, seeds)
        edges, weights = (
            mean(1 - row[f"{name}_kept"] / max(1, row[f"{name}_total"]) for row in rows)
            for name in ("edges", "weights")
        )
        return edges, weights

    def differences(self, point: LevelPair, seeds: int) -> list[float]:
        """Validation metric, ticket minus dense, of the first seeds; trains missing seeds."""
        self._run(point, range(seeds))
        return self.known(point, seeds)

    def known(self, point: LevelPair, seeds: int) -> list[float]:
        """Validation metric, ticket minus dense, of the seeds with results; trains nothing."""
        return [float(row["val"]) - float(row["dense_val"]) for row in self._rows(point, seeds)]

    def best_seed(self, point: LevelPair, seeds: int) -> int:
        """Seed of highest validation metric, the first of equals."""
        best = max(self._rows(point, seeds), key=lambda row: float(row["val"]))
        return int(best["seed"])

    def test_accuracies(self, point: LevelPair, seeds: int) -> tuple[list[float], list[float]]:
        """Test metric of tickets and dense models; read once the search has ended."""
        rows = self._rows(point, seeds)
        return [row["test"] for row in rows], [row["dense_test"] for row in rows]

    def test_hits(self, point: LevelPair, seeds: int) -> dict[str, list[float]] | None:
        """Test hits@k of tickets and dense models in link prediction; None otherwise."""
        rows = [row for row in self._rows(point, seeds) if row.get("hits") is not None]
        if not rows:
            return None
        return {"ticket": [r["hits"] for r in rows], "dense": [r["dense_hits"] for r in rows]}

    def ticket(self, point: LevelPair, seed: int) -> Path:
        """File of a ticket, which is trained if it is missing."""
        outcome = self._run(point, [seed], keep_tickets=True)
        (cell,) = self._grid(point, [seed]).cells
        path = Folder(self.out).ticket_path(cell)
        if not path.exists():
            raise _failed(outcome)
        return path

    def _run(self, point: LevelPair, seeds: Sequence[int], keep_tickets: bool = False) -> Outcome:
        what = f"seeds, levels {point.edges} and {point.weights}"
        progress = self.progress
        outcome = run_sweep(
            self._grid(point, seeds),
            self.out,
            self.settings,
            jobs=self.jobs,
            keep_tickets=keep_tickets,
            plugins=self.plugins,
            progress=None if progress is None else lambda done, n: progress(what, done, n),
        )
        self.computed += outcome.computed
        if outcome.missing:
            raise _failed(outcome)
        return outcome

    def _grid(self, point: LevelPair, seeds: Sequence[int]) -> Grid:
        method, level = grid_coordinates(self.spec, point)
        return Grid([self.dataset], [self.model], [method], [level], list(seeds))

    def _rows(self, point: LevelPair, seeds: int) -> list[dict[str, Any]]:
        folder = Folder(self.out)
        cells = self._grid(point, range(seeds)).cells
        rows = [folder.read_cell(cell) for cell in cells if folder.done(cell)]
        return [row for row in rows if row is not None]


def grid_coordinates(spec: MethodSpec, point: LevelPair) -> tuple[str, int]:
    """Method with options and level of a pair's cells in a sweep.

    Example:
        >>> spec = MethodSpec.parse("teddy:distill=5")
        >>> grid_coordinates(spec, LevelPair(20, 20)), grid_coordinates(spec, LevelPair(20, 5))
        (('teddy:distill=5', 20), ('teddy:distill=5:weight_level=5', 20))
        >>> grid_coordinates(spec, LevelPair(0, 5)), grid_coordinates(spec, LevelPair(5, 0))
        (('teddy:distill=5:only=weights', 5), ('teddy:distill=5:only=edges', 5))
    """
    if point.edges == point.weights:
        return str(spec), point.edges
    if point.edges == 0:  # level 0 is the dense model
        return str(replace(spec, only="weights")), point.weights
    if point.weights == 0:
        return str(replace(spec, only="edges")), point.edges
    return str(replace(spec, weight_level=point.weights)), point.edges


def _failed(outcome: Outcome) -> InputError:
    why = failure_line(outcome.failures[0]) if outcome.failures else "a training has no result"
    return InputError(f"{why}; rerun the same command to retry")
