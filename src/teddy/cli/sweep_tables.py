"""A sweep as tables for people."""

from __future__ import annotations

from typing import Any

from teddy.cli.tables import print_table
from teddy.sweep.statistics import Difference
from teddy.sweep.summary import Summary, best_methods, sparsest_winning

_MARK = {"winning": "w", "losing": "l", "undecided": "?"}


def sweep_tables(summaries: list[Summary], against: str | None) -> None:
    """Print, for each data set and model, accuracies by level and method; then who wins."""
    best = best_methods(summaries)
    for dataset, model in dict.fromkeys((s.dataset, s.model) for s in summaries):
        here = [s for s in summaries if (s.dataset, s.model) == (dataset, model)]
        methods = list(dict.fromkeys(s.method for s in here))
        by_place = {(s.simulation, s.method): s for s in here}
        rows = []
        for simulation in sorted({s.simulation for s in here}):
            cells = [by_place.get((simulation, method)) for method in methods]
            first = next(s for s in cells if s is not None)
            share = max(first.graph_sparsity, first.weight_sparsity)
            winner = best[dataset, model, simulation] if simulation else ""
            rows.append((simulation, f"{100 * share:.1f}%", *map(_cell, cells), winner))
        dense = here[0].dense
        print_table(
            f"{dataset}, {model}: test accuracy %, dense {dense:.2f}; "
            "w winning, l losing, ? undecided against dense",
            ("simulation", "removed", *methods, "highest"),
            rows,
        )
    print_table(
        "Sparsest winning ticket (the 95% interval of the difference to dense is not below 0)",
        ("", "simulation", "removed", "accuracy %", "difference"),
        [_winner(key, found) for key, found in sparsest_winning(summaries).items()],
    )
    if against is not None:
        print_table(
            f"Difference to {against}, paired over seeds, 95% interval",
            ("", "simulation", "difference"),
            [
                (f"{s.dataset} {s.model} {s.method}", s.simulation, _difference(s.against))
                for s in summaries
                if s.against is not None
            ],
        )


def _cell(summary: Summary | None) -> str:
    if summary is None:
        return "-"
    mean = f"{summary.mean:.2f}"
    if summary.seeds > 1:
        mean += f" ± {summary.deviation:.2f}"
    return mean if summary.simulation == 0 else f"{mean} {_MARK[summary.verdict]}"


def _winner(key: tuple[str, ...], found: Summary | None) -> tuple[Any, ...]:
    name = " ".join(key)
    if found is None:
        return name, "none", "-", "-", "-"
    share = max(found.graph_sparsity, found.weight_sparsity)
    removed = f"{100 * share:.1f}%"
    return name, found.simulation, removed, f"{found.mean:.2f}", _difference(found.difference)


def _difference(difference: Difference) -> str:
    if difference.low is None or difference.high is None:
        return f"{difference.mean:+.2f}"
    return f"{difference.mean:+.2f} [{difference.low:+.2f}, {difference.high:+.2f}]"
