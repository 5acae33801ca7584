"""Result of a search for the sparsest winning ticket."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from teddy.sweep.level_search import LevelPair
from teddy.sweep.metric import Metric
from teddy.sweep.sequential import Decision, SequentialTest
from teddy.sweep.statistics import Difference


@dataclass(frozen=True)
class TriedPair:
    """A pair of levels that was tried, its measured sparsities, and the decision."""

    point: LevelPair
    graph_sparsity: float
    weight_sparsity: float
    decision: Decision

    def to_dict(self) -> dict[str, Any]:
        """Plain data, flattened."""
        plain = asdict(self)
        point, decision = plain.pop("point"), plain.pop("decision")
        return {**point, **plain, **decision}


@dataclass(frozen=True)
class SparsestPair:
    """An accepted pair of levels with none sparser, and its test metric.

    Attributes:
        tried: The pair.
        seed: Seed of the ticket of highest validation metric.
        ticket: Test metric of the tickets, by seed.
        dense: Test metric of the dense models, by seed.
        test: Their difference, paired over seeds, with a 95% interval.
        hits: Test hits@k of ``ticket`` and ``dense``, by seed; None except for link prediction.
    """

    tried: TriedPair
    seed: int
    ticket: list[float]
    dense: list[float]
    test: Difference
    hits: dict[str, list[float]] | None = None


@dataclass(frozen=True)
class SearchResult:
    """Result of a search.

    Attributes:
        method: The method, with its options.
        rule: The sequential test.
        levels: Levels to choose from.
        frontier: Whether edges and weights had separate levels.
        tried: Pairs in the order in which they were tried.
        answers: The sparsest level, or the corners of the frontier; empty if none was accepted.
        against: Pairs that contradict the assumption of the search: accepted beyond the answer, or
            rejected within it. They come from cells that the folder already had.
        tickets: Number of ticket trainings that the search used.
        dense: Number of dense trainings.
        grid: Number of trainings of the full grid.
        computed: Number of cells that this run computed.
    """

    dataset: str
    model: str
    method: str
    rule: SequentialTest
    levels: list[int]
    frontier: bool
    tried: list[TriedPair]
    answers: list[SparsestPair]
    against: list[TriedPair]
    tickets: int
    dense: int
    grid: int
    computed: int
    metric: Metric = field(default_factory=Metric)

    @property
    def sparsest(self) -> SparsestPair | None:
        """Answer of the largest sum of graph sparsity and weight sparsity, or None."""
        if not self.answers:
            return None
        return max(self.answers, key=lambda a: a.tried.graph_sparsity + a.tried.weight_sparsity)

    @property
    def undecided(self) -> list[LevelPair]:
        """Pairs that were neither accepted nor rejected with all seeds."""
        return [t.point for t in self.tried if t.decision.verdict == "undecided"]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as ``teddy search --json`` prints it."""
        return {
            "dataset": self.dataset,
            "model": self.model,
            "method": self.method,
            "task": self.metric.task,
            "metric": self.metric.name,
            **asdict(self.rule),
            "levels": self.levels,
            "frontier": self.frontier,
            "answers": [
                {
                    **answer.tried.to_dict(),
                    "seed": answer.seed,
                    "test": {
                        "ticket": answer.ticket,
                        "dense": answer.dense,
                        "difference": asdict(answer.test),
                    },
                    **(
                        {}
                        if answer.hits is None
                        else {"hits": {"at": self.metric.hits_at, **answer.hits}}
                    ),
                }
                for answer in self.answers
            ],
            "tried": [tried.to_dict() for tried in self.tried],
            "against_the_assumption": [tried.to_dict() for tried in self.against],
            "trainings": {
                name: getattr(self, name) for name in ("tickets", "dense", "grid", "computed")
            },
        }
