"""A search as tables for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from teddy.cli.printing import print_table, print_text
from teddy.sweep import Answer, Point, Sparsest, Tried


def search_tables(found: Sparsest, folder: Path, ticket: str | None) -> None:
    """Print the levels tried, the answer, its test metric and the number of trainings."""
    rule, metric = found.rule, found.metric
    print_table(
        f"{found.dataset}, {found.model}, {found.method}: validation {metric.name}, ticket minus "
        f"dense of the same seed; tolerance {rule.tolerance:g}, at most {rule.seeds} seeds",
        ("simulation", "edges", "weights", "seeds", "difference, bounds", "verdict"),
        [_row(t) for t in sorted(found.tried, key=lambda t: t.point)],
    )
    if found.undecided:
        print_text(
            f"Undecided with {rule.seeds} seeds, counted as not accepted: simulation "
            f"{', '.join(map(str, sorted(found.undecided)))}"
        )
    if found.against:
        against = ", ".join(f"{t.point} {t.judgement.verdict}" for t in found.against)
        print_text(
            "Against the assumption that nothing sparser is good again, by cells of this folder: "
            f"simulation {against}"
        )
    if found.answers:
        hits = [] if metric.hits is None else [f"dense {metric.hits}", f"ticket {metric.hits}"]
        print_table(
            f"Test {metric.name} % of the answer, not looked at before it stood; 95% interval",
            ("simulation", "seeds", "dense", "ticket", "difference", *hits),
            [_test(answer) for answer in found.answers],
        )
    print_text(_line(found))
    trainings = found.tickets + found.dense
    print_text(
        f"{trainings} trainings, {found.dense} of them dense; all levels and seeds would be "
        f"{found.grid}. {found.computed} computed now: {folder}"
    )
    if ticket is not None and found.sparsest is not None:
        point, seed = found.sparsest.tried.point, found.sparsest.seed
        print_text(f"Ticket (simulation {point}, seed {seed}): {ticket}")


def _line(found: Sparsest) -> str:
    """The answer."""
    tolerance, sure = f"{found.rule.tolerance:g} points", f"{100 * found.rule.confidence:g}%"
    if not found.answers:
        return f"No level was accepted as at most {tolerance} below dense, with {sure} confidence."
    answers = [
        f"simulation {tried.point}, {100 * tried.graph_sparsity:.1f}% of edges and "
        f"{100 * tried.weight_sparsity:.1f}% of weights removed"
        for tried in (answer.tried for answer in found.answers)
    ]
    most = Point(found.levels[-1], found.levels[-1])
    end = any(answer.tried.point == most for answer in found.answers)
    further = " Nothing sparser was there to try: see --most." if end else ""
    return (
        f"Sparsest: {'; '.join(answers)}. On validation at most {tolerance} below dense, with "
        f"{sure} confidence.{further}"
    )


def _row(tried: Tried) -> tuple[Any, ...]:
    judgement = tried.judgement
    return (
        str(tried.point),
        f"{-100 * tried.graph_sparsity or 0.0:.1f}%",
        f"{-100 * tried.weight_sparsity or 0.0:.1f}%",
        judgement.seeds,
        f"{judgement.mean:+.2f} [{judgement.low:+.2f}, {judgement.high:+.2f}]",
        judgement.verdict,
    )


def _test(answer: Answer) -> tuple[Any, ...]:
    metrics = [answer.dense, answer.ticket]
    hits = [] if answer.hits is None else [answer.hits["dense"], answer.hits["ticket"]]
    means = [f"{sum(values) / len(values):.2f}" for values in (*metrics, *hits)]
    return str(answer.tried.point), len(answer.ticket), *means[:2], answer.test, *means[2:]
