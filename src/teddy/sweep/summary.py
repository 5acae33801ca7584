"""Results of a sweep over seeds: verdicts, and the sparsest winning ticket of a method."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from teddy.errors import InputError
from teddy.sweep.metric import Metric
from teddy.sweep.resolution import resolution_of
from teddy.sweep.statistics import Difference, known_mean, paired_difference, spread

Row = dict[str, Any]


@dataclass(frozen=True)
class Summary:
    """Mean results over the seeds of a cell.

    Attributes:
        level: Level of the paper's schedule; 0 is the dense model.
        graph_sparsity: Share of removed edges.
        weight_sparsity: Share of removed weights.
        seeds: Number of seeds.
        mean: Mean of the test metric.
        deviation: Standard deviation of the test metric.
        last: Mean test metric at the last epoch.
        dense: Mean test metric of the dense models of these seeds.
        difference: Difference to dense, paired over seeds.
        against: Difference to another method at the same level, paired over common seeds; None
            without one.
        seconds: Mean time of a level: the last round of masks and the ticket's training.
        metric: The metric, which all cells share.
        hits: Mean test hits@k of link prediction; None otherwise.
        dense_hits: Mean test hits@k of the dense models.
    """

    dataset: str
    model: str
    method: str
    level: int
    graph_sparsity: float
    weight_sparsity: float
    seeds: int
    mean: float
    deviation: float
    last: float
    dense: float
    difference: Difference
    against: Difference | None
    seconds: float
    metric: Metric = field(default_factory=Metric)
    hits: float | None = None
    dense_hits: float | None = None

    @property
    def verdict(self) -> str:
        """Verdict of the difference to dense; ``dense`` for the dense model."""
        return self.difference.verdict if self.level else "dense"

    def to_dict(self) -> Row:
        """Plain data; with hits@k for link prediction."""
        plain = {
            "simulation" if key == "level" else key: value for key, value in asdict(self).items()
        }
        plain |= {"task": self.metric.task, "metric": self.metric.name}
        if self.hits is None:
            del plain["hits"], plain["dense_hits"]
        else:
            plain["hits_at"] = self.metric.hits_at
        return {**plain, "verdict": self.verdict}


def summarize(rows: Iterable[Row], against: str | None = None) -> list[Summary]:
    """Summarize the seeds of each cell.

    Args:
        rows: Rows of :func:`teddy.sweep.results_table.read_table`.
        against: A method to compare the others with.

    Raises:
        InputError: if rows have different metrics, or the method has no results.

    Example:
        >>> row = {"dataset": "cora", "model": "gcn", "method": "teddy", "simulation": 1,
        ...     "graph_sparsity": 0.05, "weight_sparsity": 0.05, "last_test": 80.0,
        ...     "seconds_round": 0.0, "seconds_sparse": 2.0, "test_rows": 1000}
        >>> rows = [{**row, "seed": seed, "test": 82.0 + seed, "dense_test": 81.0}
        ...     for seed in range(3)]
        >>> summary, = summarize(rows)
        >>> summary.mean, summary.difference.mean, summary.verdict
        (83.0, 2.0, 'undecided')
    """
    rows = list(rows)
    metric = Metric.from_rows(rows)
    groups: dict[tuple[Any, ...], dict[int, Row]] = {}
    for row in rows:
        key = (row["dataset"], row["model"], row["method"], row["simulation"])
        groups.setdefault(key, {})[row["seed"]] = row
    if against is not None and against not in {key[2] for key in groups}:
        known = ", ".join(sorted({key[2] for key in groups}))
        raise InputError(f"against is '{against}', which has no results, expected one of: {known}")
    summaries = []
    for key, seeds in sorted(groups.items()):
        other = groups.get((*key[:2], against, key[3]), {}) if key[2] != against else {}
        summaries.append(_summary(metric, seeds, other))
    return summaries


def sparsest_winning(summaries: Iterable[Summary]) -> dict[tuple[str, str, str], Summary | None]:
    """Sparsest level with the verdict ``winning`` of each data set, model and method.

    Example:
        >>> sparsest_winning([])
        {}
    """
    sparsest: dict[tuple[str, str, str], Summary | None] = {}
    for summary in sorted(summaries, key=lambda s: s.level):
        key = summary.dataset, summary.model, summary.method
        sparsest.setdefault(key, None)
        if summary.level > 0 and summary.verdict == "winning":
            sparsest[key] = summary
    return dict(sorted(sparsest.items()))


def best_methods(summaries: Iterable[Summary]) -> dict[tuple[str, str, int], str]:
    """Method of highest mean test metric for each data set, model and level.

    Example:
        >>> best_methods([])
        {}
    """
    best: dict[tuple[str, str, int], Summary] = {}
    for summary in summaries:
        key = summary.dataset, summary.model, summary.level
        if key not in best or summary.mean > best[key].mean:
            best[key] = summary
    return {key: summary.method for key, summary in best.items()}


def _summary(metric: Metric, ours: dict[int, Row], other: dict[int, Row]) -> Summary:
    rows = list(ours.values())
    first, tests = rows[0], [row["test"] for row in rows]
    both = sorted(ours.keys() & other.keys())
    compare = partial(
        paired_difference, test_rows=first["test_rows"], resolution=resolution_of(rows)
    )
    against = None
    if both:
        against = compare(
            [ours[seed]["test"] for seed in both], [other[seed]["test"] for seed in both]
        )
    names = ("dataset", "model", "method", "graph_sparsity", "weight_sparsity")
    return Summary(
        **{name: first[name] for name in names},
        level=first["simulation"],
        seeds=len(rows),
        mean=_mean(tests),
        deviation=spread(tests),
        last=_mean([row["last_test"] for row in rows]),
        dense=_mean([row["dense_test"] for row in rows]),
        difference=compare(tests, [row["dense_test"] for row in rows]),
        against=against,
        seconds=_mean([row["seconds_round"] + row["seconds_sparse"] for row in rows]),
        metric=metric,
        hits=known_mean(row.get("hits") for row in rows),
        dense_hits=known_mean(row.get("dense_hits") for row in rows),
    )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
