"""What a search for the sparsest winning ticket has found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from teddy.sweep.level_search import LevelPair
from teddy.sweep.metric import Metric
from teddy.sweep.sequential import Decision, SequentialTest
from teddy.sweep.statistics import Difference


@dataclass(frozen=True)
class TriedPair:
    """A point that was tried, with the shares of removed edges and weights, and its decision."""

    point: LevelPair
    graph_sparsity: float
    weight_sparsity: float
    decision: Decision

    def to_dict(self) -> dict[str, Any]:
        """Plain data, the point and the decision not nested."""
        plain = asdict(self)
        point, decision = plain.pop("point"), plain.pop("decision")
        return {**point, **plain, **decision}


@dataclass(frozen=True)
class SparsestPair:
    """A point that was accepted with none sparser, and its test metric.

    Attributes:
        seed: Seed of the ticket of highest validation metric.
        ticket: Test metric of the tickets, one a seed.
        dense: Test metric of the dense models.
        test: Their difference, paired over seeds, with a 95% interval.
        hits: Test hits@k by ``ticket`` and ``dense``, one a seed; None unless links are predicted.
    """

    tried: TriedPair
    seed: int
    ticket: list[float]
    dense: list[float]
    test: Difference
    hits: dict[str, list[float]] | None = None


@dataclass(frozen=True)
class SearchResult:
    """What a search has found.

    Attributes:
        method: The method, with its options.
        levels: Levels to choose from.
        frontier: Whether edges and weights had a level each.
        tried: Points in the order in which they were tried.
        answers: The sparsest level, or the corners of the frontier; nothing if none was accepted.
        against: Points that speak against the assumption of the search: accepted beyond the
            answer, or rejected within it. They are of cells that the folder had.
        tickets: Trainings of tickets that the search asked for.
        dense: Trainings of dense models.
        grid: Trainings of all points and seeds.
        computed: Cells that this run computed; the folder had the others.
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
        """The answer with the fewest edges and weights, as shares together; None if there is none.

        On a frontier there are others that have fewer of one of them.
        """
        if not self.answers:
            return None
        return max(self.answers, key=lambda a: a.tried.graph_sparsity + a.tried.weight_sparsity)

    @property
    def undecided(self) -> list[LevelPair]:
        """Points that could be neither accepted nor rejected with all seeds."""
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
