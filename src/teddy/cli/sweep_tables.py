"""A sweep as tables for people."""

from __future__ import annotations

from typing import Any

from teddy.cli.tables import print_table, print_text
from teddy.sparsity import simulation_sparsity
from teddy.sweep.statistics import Difference
from teddy.sweep.summary import Summary, best_methods, sparsest_winning

_MARK = {"winning": "w", "losing": "l", "undecided": "?"}


def sweep_tables(summaries: list[Summary], against: str | None) -> None:
    """Print, for each data set and model, accuracies by method and level; then who wins."""
    best = best_methods(summaries)
    for dataset, model in dict.fromkeys((s.dataset, s.model) for s in summaries):
        here = [s for s in summaries if (s.dataset, s.model) == (dataset, model)]
        by_place = {(s.method, s.simulation): s for s in here}
        simulations = sorted({s.simulation for s in here} - {0})
        rows = [
            (
                method,
                *(
                    _cell(by_place.get((method, i)), best[dataset, model, i] == method)
                    for i in simulations
                ),
            )
            for method in dict.fromkeys(s.method for s in here)
        ]
        print_table(
            f"{dataset}, {model}: test accuracy %, dense {here[0].dense:.2f}",
            ("simulation", *(f"{i} (-{100 * simulation_sparsity(i):.0f}%)" for i in simulations)),
            rows,
        )
    print_text("w winning, l losing, ? undecided against dense; * the highest of its column")
    print_table(
        "Sparsest winning ticket, difference to dense with 95% interval",
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
                if s.against is not None and s.simulation > 0
            ],
        )


def _cell(summary: Summary | None, highest: bool) -> str:
    if summary is None:
        return "-"
    mean = f"{summary.mean:.1f}"
    if summary.seeds > 1:
        mean += f"±{summary.deviation:.1f}"
    return f"{mean} {_MARK[summary.verdict]}{'*' if highest else ' '}"


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
