"""The result of each data set and model in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from teddy.report.comparison import Forest, overall, tally
from teddy.sparsity import schedule_sparsity
from teddy.sweep.statistics import ENOUGH_SEEDS, TOO_FEW, Difference
from teddy.sweep.summary import Summary, sparsest_winning

#: Data set, model, method, level.
Key = tuple[str, str, str, int]


@dataclass(frozen=True)
class Headline:
    """Result of a data set and model.

    Attributes:
        verdict: ``winning``, ``none`` (no ticket wins), ``too few seeds`` or ``dense`` (no ticket).
        more: Further sentences; may be empty.
        baseline: Name of the baseline of ``methods``.
        methods: Name, overall verdict against the baseline, and tally of each method.
    """

    dataset: str
    model: str
    verdict: str
    sentence: str
    more: str = ""
    baseline: str = ""
    methods: Sequence[tuple[str, str, str]] = ()


def headlines(
    summaries: Sequence[Summary],
    last: Mapping[Key, Difference] | None = None,
    forests: Sequence[Forest] = (),
) -> list[Headline]:
    """Return one headline for each data set and model.

    Args:
        summaries: Seeds of each cell together.
        last: By data set, model, method and level, the difference to dense at the last epoch.
        forests: Comparisons with a baseline, one for each data set and model.

    Example:
        >>> sparsity = 1 - 0.95**5
        >>> summary = Summary("cora", "gcn", "teddy", 5, sparsity, sparsity, 3, 82.0, 0.5, 81.5,
        ...     81.0, Difference(1.0, 0.2, 1.8, 3), None, 3.0)
        >>> line, = headlines([summary])
        >>> line.sentence
        'The sparsest winning ticket is teddy at level 5. It removes 22.6% of the edges and of the
        weights and reaches 82.00% test accuracy. That is +1.00 points against dense (95% interval
        +0.20 to +1.80, 3 seeds).'
    """
    problems = sorted({(s.dataset, s.model) for s in summaries})
    lines = []
    for index, problem in enumerate(problems):
        compared = next((forest for forest in forests if forest.problem == index), None)
        chosen = [s for s in summaries if (s.dataset, s.model) == problem]
        lines.append(_headline(chosen, last or {}, compared))
    return lines


def signed(value: float) -> str:
    """Write a difference with its sign, and a minus as wide as the plus.

    Example:
        >>> signed(0.5), signed(-0.001)
        ('+0.50', '0.00')
    """
    text = f"{value:+.2f}"
    return "0.00" if float(text) == 0 else text.replace("-", "−")  # noqa: RUF001


def removed(summary: Summary) -> str:
    """Describe the shares that a ticket removes.

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


def _headline(
    summaries: list[Summary], last: Mapping[Key, Difference], forest: Forest | None
) -> Headline:
    verdict, sentence, more = _ticket_result(summaries, last)
    methods: list[tuple[str, str, str]] = []
    baseline = "dense"
    if forest is not None:
        baseline = forest.baseline or "dense"
        methods = [(name, overall(group), tally(group)) for name, group in forest.methods.items()]
    first = summaries[0]
    return Headline(first.dataset, first.model, verdict, sentence, more, baseline, methods)


def _ticket_result(
    summaries: list[Summary], last: Mapping[Key, Difference]
) -> tuple[str, str, str]:
    """Return the verdict, the sentence about the best ticket, and further sentences."""
    tickets = [s for s in summaries if s.verdict != "dense"]
    if not tickets:
        dense = max(summaries, key=lambda s: s.seeds)
        return "dense", f"Dense model only: {_value(dense)}, {_seeds(dense.seeds)}.", ""
    winners = [s for s in sparsest_winning(tickets).values() if s is not None]
    if winners:
        best = max(winners, key=_sparse_and_good)
        others = sorted((s for s in winners if s is not best), key=_sparse_and_good, reverse=True)
        more = _last_epoch(best, last)
        if others:
            names = ", ".join(f"{s.method} (level {s.level})" for s in others)
            more += f" Also winning: {names}."
        return "winning", f"The sparsest winning ticket is {_ticket(best)}", more
    best = max(tickets, key=lambda s: s.difference.mean)
    if all(s.verdict == TOO_FEW for s in tickets):
        sentence = f"A verdict needs {ENOUGH_SEEDS} seeds. The highest mean is {_ticket(best)}"
        return TOO_FEW, sentence, _last_epoch(best, last)
    only = f"The only ticket is {best.verdict}. It"
    none = f"None of the {len(tickets)} tickets is winning. The nearest"
    sentence = f"{only if len(tickets) == 1 else none} is {_ticket(best)}"
    return "none", sentence, _last_epoch(best, last)


def _sparse_and_good(summary: Summary) -> tuple[float, float]:
    return round(summary.graph_sparsity + summary.weight_sparsity, 9), summary.difference.mean


def _ticket(summary: Summary) -> str:
    return (
        f"{summary.method}{_level(summary)}. It removes {removed(summary) or 'nothing'} and "
        f"reaches {summary.mean:.2f}% test {summary.metric.name}{_hits(summary)}. That is "
        f"{_points(summary.difference, summary.seeds)}."
    )


def _level(summary: Summary) -> str:
    """Return the level of the paper's schedule, for a ticket at exactly that sparsity."""
    sparsity = schedule_sparsity(summary.level)
    shares = summary.graph_sparsity, summary.weight_sparsity
    is_exact = any(abs(share - sparsity) < 1e-9 for share in shares)
    return f" at level {summary.level}" if is_exact else ""


def _points(difference: Difference, seeds: int) -> str:
    mean = f"{signed(difference.mean)} points against dense"
    if difference.low is None or difference.high is None:
        return f"{mean} ({_seeds(seeds)})"
    interval = f"{signed(difference.low)} to {signed(difference.high)}"
    return f"{mean} (95% interval {interval}, {_seeds(seeds)})"


def _last_epoch(summary: Summary, last: Mapping[Key, Difference]) -> str:
    key = summary.dataset, summary.model, summary.method, summary.level
    against = f", {signed(last[key].mean)} points against dense there" if key in last else ""
    return f"At the last epoch it reaches {summary.last:.2f}%{against}."


def _value(summary: Summary) -> str:
    spread = f" ± {summary.deviation:.2f}" if summary.seeds > 1 else ""
    return f"{summary.mean:.2f}{spread}% test {summary.metric.name}{_hits(summary)}"


def _hits(summary: Summary) -> str:
    """Return the second metric of link prediction as a text; empty for other tasks."""
    return "" if summary.hits is None else f" ({summary.metric.hits} {summary.hits:.2f}%)"


def _seeds(count: int) -> str:
    return f"{count} seed{'s' * (count > 1)}"
