"""The result in a plain sentence for each data set and model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from teddy.sparsity import schedule_sparsity
from teddy.sweep.statistics import ENOUGH_SEEDS, TOO_FEW, Difference
from teddy.sweep.summary import Summary, sparsest_winning

#: Data set, model, method, simulation.
Key = tuple[str, str, str, int]


@dataclass(frozen=True)
class Headline:
    """What was found for a data set and model.

    Attributes:
        verdict: ``winning``, ``none`` (of the tickets wins), ``too few seeds`` or ``dense`` (only).
        more: Further sentences; may be empty.
    """

    dataset: str
    model: str
    verdict: str
    sentence: str
    more: str = ""


def headlines(
    summaries: Sequence[Summary], last: Mapping[Key, Difference] | None = None
) -> list[Headline]:
    """One for each data set and model.

    Args:
        last: By data set, model, method and simulation, the difference to dense at the last epoch.

    Example:
        >>> level = 1 - 0.95**5
        >>> found = Summary("cora", "gcn", "teddy", 5, level, level, 3, 82.0, 0.5, 81.5, 81.0,
        ...     Difference(1.0, 0.2, 1.8, 3), None, 3.0)
        >>> line, = headlines([found])
        >>> line.sentence
        'The sparsest winning ticket is teddy at simulation 5, with 22.6% of the edges and of the
        weights removed: 82.00% test accuracy, +1.00 points against dense (95% interval +0.20 to
        +1.80, 3 seeds).'
    """
    places = sorted({(s.dataset, s.model) for s in summaries})
    return [
        _headline([s for s in summaries if (s.dataset, s.model) == place], last or {})
        for place in places
    ]


def signed(value: float) -> str:
    """A difference with its sign, and a minus as wide as the plus.

    Example:
        >>> signed(0.5), signed(-0.001)
        ('+0.50', '0.00')
    """
    text = f"{value:+.2f}"
    return "0.00" if float(text) == 0 else text.replace("-", "−")  # noqa: RUF001


def removed(summary: Summary) -> str:
    """What a ticket leaves out.

    Example:
        >>> same = Difference(0, 0, 0, 1)
        >>> removed(Summary("", "", "", 5, 0.5, 0.0, 1, 0, 0, 0, 0, same, None, 0))
        '50.0% of the edges'
    """
    edges, weights = (f"{100 * s:.1f}%" for s in (summary.graph_sparsity, summary.weight_sparsity))
    if edges == weights:
        return f"{edges} of the edges and of the weights"
    shares = {"edges": edges, "weights": weights}
    return " and ".join(f"{share} of the {w}" for w, share in shares.items() if share != "0.0%")


def _headline(here: list[Summary], last: Mapping[Key, Difference]) -> Headline:
    dataset, model = here[0].dataset, here[0].model
    tickets = [s for s in here if s.verdict != "dense"]
    if not tickets:
        dense = max(here, key=lambda s: s.seeds)
        sentence = f"Only the dense model is there: {_value(dense)}, {_seeds(dense.seeds)}."
        return Headline(dataset, model, "dense", sentence)
    winners = [s for s in sparsest_winning(tickets).values() if s is not None]
    if winners:
        best = max(winners, key=_sparse_and_good)
        sentence = f"The sparsest winning ticket is {_ticket(best)}."
        others = sorted((s for s in winners if s is not best), key=_sparse_and_good, reverse=True)
        more = _last_epoch(best, last)
        if others:
            names = ", ".join(f"{s.method} (simulation {s.level})" for s in others)
            more += f" Winning, too: {names}."
        return Headline(dataset, model, "winning", sentence, more.strip())
    best = max(tickets, key=lambda s: s.difference.mean)
    if all(s.verdict == TOO_FEW for s in tickets):
        sentence = (
            f"Too few seeds for a verdict, which takes {ENOUGH_SEEDS}; the highest mean is "
            f"{_ticket(best)}."
        )
        return Headline(dataset, model, TOO_FEW, sentence, _last_epoch(best, last))
    sentence = f"No winning ticket among {len(tickets)}; the nearest is {_ticket(best)}."
    return Headline(dataset, model, "none", sentence, _last_epoch(best, last))


def _sparse_and_good(summary: Summary) -> tuple[float, float]:
    return round(summary.graph_sparsity + summary.weight_sparsity, 9), summary.difference.mean


def _ticket(summary: Summary) -> str:
    return (
        f"{summary.method}{_level(summary)}, with {removed(summary)} removed: "
        f"{summary.mean:.2f}% test {summary.metric.name}{_hits(summary)}, "
        f"{_points(summary.difference, summary.seeds)}"
    )


def _level(summary: Summary) -> str:
    """The paper's level, of a ticket that is at one."""
    level = schedule_sparsity(summary.level)
    shares = summary.graph_sparsity, summary.weight_sparsity
    at_it = any(abs(share - level) < 1e-9 for share in shares)
    return f" at simulation {summary.level}" if at_it else ""


def _points(difference: Difference, seeds: int) -> str:
    mean = f"{signed(difference.mean)} points against dense"
    if difference.low is None or difference.high is None:
        return f"{mean} ({_seeds(seeds)})"
    interval = f"{signed(difference.low)} to {signed(difference.high)}"
    return f"{mean} (95% interval {interval}, {_seeds(seeds)})"


def _last_epoch(summary: Summary, last: Mapping[Key, Difference]) -> str:
    key = summary.dataset, summary.model, summary.method, summary.level
    against = f", {signed(last[key].mean)} points against dense there" if key in last else ""
    return f"At the last epoch it has {summary.last:.2f}%{against}."


def _value(summary: Summary) -> str:
    spread = f" ± {summary.deviation:.2f}" if summary.seeds > 1 else ""
    return f"{summary.mean:.2f}{spread}% test {summary.metric.name}{_hits(summary)}"


def _hits(summary: Summary) -> str:
    """The second metric of link prediction."""
    return "" if summary.hits is None else f" ({summary.metric.hits} {summary.hits:.2f}%)"


def _seeds(count: int) -> str:
    return f"{count} seed{'s' * (count > 1)}"
