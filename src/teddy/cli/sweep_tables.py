"""Tables of sweeps and searches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from teddy.cli.printing import print_table, print_text
from teddy.sparsity import schedule_sparsity
from teddy.sweep import (
    LevelPair,
    SearchResult,
    ServedTicket,
    ServingSearch,
    SparsestPair,
    TriedPair,
)
from teddy.sweep.metric import Metric
from teddy.sweep.statistics import ENOUGH_SEEDS, TOO_FEW
from teddy.sweep.summary import Summary, best_methods, sparsest_winning

_MARK = {"winning": "w", "losing": "l", "undecided": "?", TOO_FEW: "f"}
_JUDGED = ("winning", "losing", "undecided")


def sweep_tables(summaries: list[Summary], against: str | None) -> None:
    """Print, for each data set and model, the metric by method and level; then the winners."""
    best = best_methods(summaries)
    metric = summaries[0].metric if summaries else Metric()
    for dataset, model in dict.fromkeys((s.dataset, s.model) for s in summaries):
        shown = [s for s in summaries if (s.dataset, s.model) == (dataset, model)]
        by_cell = {(s.method, s.level): s for s in shown}
        levels = sorted({s.level for s in shown} - {0})
        cells = {s.method: [by_cell.get((s.method, i)) for i in levels] for s in shown}
        seeds = max(s.seeds for s in shown)
        complete = next(s for s in shown if s.seeds == seeds)  # for the mean of the dense models
        headings = [f"{i} (-{100 * schedule_sparsity(i):.0f}%)" for i in levels]
        print_table(
            f"{dataset}, {model}: test {metric.name} %, {seeds} seed{'s' * (seeds > 1)}, "
            f"dense {complete.dense:.2f}",
            ("level", *headings),
            [(method, *(_cell(s, best, seeds) for s in row)) for method, row in cells.items()],
        )
        if metric.hits is not None:
            print_table(
                f"{dataset}, {model}: test {metric.hits} %, the second metric, "
                f"dense {_hits(complete.dense_hits)}",
                ("level", *headings),
                [
                    (method, *("-" if s is None else _hits(s.hits) for s in row))
                    for method, row in cells.items()
                ],
            )
    print_text(
        "w winning, l losing, ? undecided against the dense models of the same seeds, f too few "
        f"seeds (a verdict needs {ENOUGH_SEEDS}); * the highest of its column; (n) with n seeds"
    )
    sparsest = sparsest_winning(summaries)
    if any(sparsest.values()):
        print_table(
            "Sparsest winning ticket, difference to dense with 95% interval",
            (
                "",
                "level",
                "removed",
                f"{metric.name} %",
                "difference",
                *(() if metric.hits is None else (f"{metric.hits} %",)),
            ),
            [_winner(key, winner) for key, winner in sparsest.items() if winner is not None],
        )
    judged = {(s.dataset, s.model, s.method) for s in summaries if s.verdict in _JUDGED}
    without = [key for key, winner in sparsest.items() if winner is None]
    for title, keys in (
        ("No winning ticket", [key for key in without if key in judged]),
        ("Too few seeds for a verdict", [key for key in without if key not in judged]),
    ):
        if keys:
            print_text(f"{title}: {', '.join(' '.join(key) for key in keys)}")
    if against is not None:
        print_table(
            f"Difference to {against}, paired over seeds, 95% interval",
            ("", "level", "difference"),
            [
                (f"{s.dataset} {s.model} {s.method}", s.level, s.against)
                for s in summaries
                if s.against is not None and s.level > 0
            ],
        )


def _cell(summary: Summary | None, best: dict[tuple[str, str, int], str], seeds: int) -> str:
    if summary is None:
        return "-"
    mean = f"{summary.mean:.1f}"
    if summary.seeds > 1:
        mean += f"±{summary.deviation:.1f}"
    if summary.seeds < seeds:
        mean += f" ({summary.seeds})"
    highest = best[summary.dataset, summary.model, summary.level] == summary.method
    return f"{mean} {_MARK[summary.verdict]}{'*' if highest else ' '}"


def _hits(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _winner(key: tuple[str, ...], winner: Summary) -> tuple[Any, ...]:
    share = max(winner.graph_sparsity, winner.weight_sparsity)
    hits = () if winner.metric.hits is None else (_hits(winner.hits),)
    mean = f"{winner.mean:.2f}"
    return " ".join(key), winner.level, f"{100 * share:.1f}%", mean, winner.difference, *hits


def search_tables(result: SearchResult, folder: Path, ticket: str | None) -> None:
    """Print the levels tried, the answer, its test metric and the number of trainings."""
    metric = result.metric
    _levels_tried(result)
    if result.answers:
        hits = [] if metric.hits is None else [f"dense {metric.hits}", f"ticket {metric.hits}"]
        print_table(
            f"Test {metric.name} % of the answer, computed after the search; 95% interval",
            ("level", "seeds", "dense", "ticket", "difference", *hits),
            [_test(answer) for answer in result.answers],
        )
    print_text(_line(result))
    trainings = result.tickets + result.dense
    print_text(
        f"{trainings} trainings, {result.dense} of them dense; all levels and seeds would be "
        f"{result.grid}. {result.computed} computed now: {folder}"
    )
    if ticket is not None and result.sparsest is not None:
        point, seed = result.sparsest.tried.point, result.sparsest.seed
        print_text(f"Ticket (level {point}, seed {seed}): {ticket}")


def serving_tables(found: ServingSearch, folder: Path, ticket: str | None) -> None:
    """Print the levels tried by each method, and the accepted tickets, the cheapest first."""
    for result in found.searches:
        _levels_tried(result)
    rule, metric = found.searches[0].rule, found.searches[0].metric
    if found.tickets:
        nodes = f"{found.batch:,} random node{'s' * (found.batch > 1)}"
        print_table(
            f"Accepted tickets, by the messages that a server sums for {nodes}; test "
            f"{metric.name} %, computed after the search",
            ("method", "level", "edges", "messages", "nodes", "dense", "ticket", "difference"),
            [_served(served) for served in found.tickets],
        )
    best = found.cheapest
    print_text(
        f"No ticket was accepted as at most {rule.tolerance:g} points below dense."
        if best is None
        else f"Cheapest: {best.method}, level {best.answer.tried.point}, "
        f"{_fewer(best.cost.dense_edges, best.cost.edges)} messages than the dense model. On "
        f"validation at most {rule.tolerance:g} points below dense, with "
        f"{found.confidence:.0%} confidence."
    )
    computed = sum(result.computed for result in found.searches)
    print_text(f"{computed} cells computed now: {folder}")
    if ticket is not None and best is not None:
        print_text(f"Ticket ({best.method}, seed {best.answer.seed}): {ticket}")


def _served(served: ServedTicket) -> tuple[Any, ...]:
    cost, answer = served.cost, served.answer
    dense, ticket = (f"{sum(v) / len(v):.2f}" for v in (answer.dense, answer.ticket))
    return (
        served.method, str(answer.tried.point), f"{-100 * answer.tried.graph_sparsity or 0.0:.1f}%",
        f"{_count(cost.edges)} ({_fewer(cost.dense_edges, cost.edges)})",
        f"{_count(cost.nodes)} ({_fewer(cost.dense_nodes, cost.nodes)})",
        dense, ticket, answer.test,
    )  # fmt: skip


def _count(mean: float) -> str:
    return f"{mean:,.1f}" if mean < 10 else f"{mean:,.0f}"


def _fewer(dense: float, kept: float) -> str:
    return f"{dense / kept:,.1f} times fewer" if kept else "all fewer"


def _levels_tried(result: SearchResult) -> None:
    rule, metric = result.rule, result.metric
    print_table(
        f"{result.dataset}, {result.model}, {result.method}: validation {metric.name}, ticket "
        f"minus dense of the same seed; tolerance {rule.tolerance:g}, at most {rule.seeds} seeds",
        ("level", "edges", "weights", "seeds", "difference, bounds", "verdict"),
        [_row(t) for t in sorted(result.tried, key=lambda t: t.point)],
    )
    if result.undecided:
        print_text(
            f"Undecided with {rule.seeds} seeds, counted as not accepted: level "
            f"{', '.join(map(str, sorted(result.undecided)))}"
        )
    if result.against:
        against = ", ".join(f"{t.point} {t.decision.verdict}" for t in result.against)
        print_text(
            f"Sparser levels that are accepted again, by cells of this folder: level {against}"
        )


def _line(result: SearchResult) -> str:
    """Sentence with the answer of a search."""
    tolerance = f"{result.rule.tolerance:g} points"
    confidence = f"{100 * result.rule.confidence:g}% confidence"
    if not result.answers:
        return f"No level was accepted as at most {tolerance} below dense, with {confidence}."
    answers = [
        f"level {tried.point}, {100 * tried.graph_sparsity:.1f}% of edges and "
        f"{100 * tried.weight_sparsity:.1f}% of weights removed"
        for tried in (answer.tried for answer in result.answers)
    ]
    highest = LevelPair(result.levels[-1], result.levels[-1])
    end = any(answer.tried.point == highest for answer in result.answers)
    further = " It is the highest level tried; --max-level tries higher ones." if end else ""
    return (
        f"Sparsest: {'; '.join(answers)}. On validation at most {tolerance} below dense, with "
        f"{confidence}.{further}"
    )


def _row(tried: TriedPair) -> tuple[Any, ...]:
    decision = tried.decision
    return (
        str(tried.point),
        f"{-100 * tried.graph_sparsity or 0.0:.1f}%",
        f"{-100 * tried.weight_sparsity or 0.0:.1f}%",
        decision.seeds,
        f"{decision.mean:+.2f} [{decision.low:+.2f}, {decision.high:+.2f}]",
        decision.verdict,
    )


def _test(answer: SparsestPair) -> tuple[Any, ...]:
    metrics = [answer.dense, answer.ticket]
    hits = [] if answer.hits is None else [answer.hits["dense"], answer.hits["ticket"]]
    means = [f"{sum(values) / len(values):.2f}" for values in (*metrics, *hits)]
    return str(answer.tried.point), len(answer.ticket), *means[:2], answer.test, *means[2:]
