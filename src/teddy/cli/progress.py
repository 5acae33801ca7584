"""Progress on stderr, and how a command resumes.

A terminal shows a bar; a pipe or a file gets a line every few seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

#: Seconds between two lines of progress.
SECONDS = 5.0


class ProgressLines:
    """Progress as lines of text, at most one every few seconds.

    Args:
        seconds: Time between two lines.

    Example:
        >>> lines = ProgressLines(seconds=0)
        >>> lines.line("seed 1/2, dense, epoch 50", 0.25, elapsed=30)
        'teddy: seed 1/2, dense, epoch 50, 25% done, 1:30 left'
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._start = self._last = time.monotonic()

    def update(self, text: str, share: float) -> None:
        """Print a line if it is time for one.

        Args:
            text: Current work.
            share: Share of all work that is done.
        """
        now = time.monotonic()
        if now - self._last >= self._seconds:
            self._last = now
            print(self.line(text, share, now - self._start), file=sys.stderr, flush=True)

    def restart(self) -> None:
        """Measure the time that is left from now on."""
        self._start = time.monotonic()

    @staticmethod
    def line(text: str, share: float, elapsed: float) -> str:
        """Text of a line."""
        left = ""
        if share > 0:
            minutes, seconds = divmod(round(elapsed * (1 - share) / share), 60)
            left = f", {minutes}:{seconds:02} left"
        return f"teddy: {text}, {share:.0%} done{left}"


@contextmanager
def seed_progress(
    seeds: int, silent: bool = False, first: int = 0
) -> Iterator[Callable[[int, str, Any, float], None]]:
    """Show seed, phase, epoch and validation metric, with the time left."""
    with _shown(seeds, silent) as (bar, lines):

        def progress(seed: int, phase: str, epoch: Any, done: float) -> None:
            completed = seed - first + done
            text = f"seed {seed - first + 1}/{seeds}, {phase}, epoch {epoch.index + 1}"
            if bar is not None:
                description = f"{text}, val {epoch.val:.1f}"
                bar.update(bar.task_ids[0], completed=completed, description=description)
            elif lines is not None:
                lines.update(text, completed / seeds)

        yield progress


@contextmanager
def cell_progress(cells: int, what: str = "cells") -> Iterator[Callable[[int, int], None]]:
    """Show the number of finished cells, with the time left."""
    with work_progress() as progress:
        yield lambda done, total: progress(what, done, total)


@contextmanager
def work_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show the current work and the share that is done, with the time left."""
    with _shown(None, silent=False) as (bar, lines):
        current = ""

        def progress(what: str, done: int, total: int) -> None:
            nonlocal current
            text = f"{done} of {total} {what}"
            if bar is not None:
                if what != current:
                    bar.reset(bar.task_ids[0], total=total)
                bar.update(bar.task_ids[0], completed=done, total=total, description=text)
            elif lines is not None:
                if what != current:
                    lines.restart()
                lines.update(text, done / total if total else 1.0)
            current = what

        yield progress


@contextmanager
def _shown(
    total: float | None, silent: bool
) -> Iterator[tuple[Progress | None, ProgressLines | None]]:
    """A bar where stderr is a terminal, else lines; neither if silent."""
    if silent:
        yield None, None
    elif not sys.stderr.isatty():
        yield None, ProgressLines(SECONDS)
    else:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        console = Console(stderr=True)
        with Progress(*columns, console=console, transient=True, speed_estimate_period=3600) as bar:
            bar.add_task("", total=total)
            yield bar, None


@contextmanager
def resumable(folder: Path | None) -> Iterator[None]:
    """Within the context a Ctrl-C ends the command with a hint that it resumes from a folder."""
    try:
        yield
    except KeyboardInterrupt:
        if folder is None:
            raise
        print(f"teddy: interrupted; the same command resumes from {folder}", file=sys.stderr)
        sys.exit(130)
