"""Comparison of two implementations: rounds in turn, medians and their ratio."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """Median milliseconds of two ways to do the same work."""

    work: str
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        """Speed-up of ours over theirs."""
        return self.theirs / self.ours


def compare(
    work: str,
    ours: Callable[[], list[float]],
    theirs: Callable[[], list[float]],
    rounds: int = 4,
) -> Comparison:
    """Run both in turn; each call returns its times in milliseconds. The first round warms up."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds):
        for run, seen in zip((ours, theirs), times, strict=True):
            measured = run()
            if turn:
                seen.extend(measured)
    return Comparison(work, statistics.median(times[0]), statistics.median(times[1]))


def milliseconds(function: Callable[[], object], calls: int = 1) -> list[float]:
    """Time some calls."""
    times = []
    for _ in range(calls):
        started = time.perf_counter()
        function()
        times.append(1e3 * (time.perf_counter() - started))
    return times
