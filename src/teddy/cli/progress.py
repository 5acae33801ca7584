"""Progress on stderr, and how a command resumes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def seed_progress(
    seeds: int, silent: bool = False, first: int = 0
) -> Iterator[Callable[[int, str, Any, float], None]]:
    """Show seed, phase and accuracy, with the time left."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:<22}"),
        BarColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[accuracy]}"),
    )
    silent = silent or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=silent) as bar:
        task = bar.add_task("", total=seeds, accuracy="")

        def progress(seed: int, phase: str, epoch: Any, done: float) -> None:
            bar.update(
                task,
                completed=seed - first + done,
                description=f"seed {seed - first + 1}/{seeds}, {phase}",
                accuracy=f"val {epoch.val:.1f}",
            )

        yield progress


@contextmanager
def cell_progress(cells: int, what: str = "cells") -> Iterator[Callable[[int, int], None]]:
    """Show how many cells are there, with the time left."""
    with work_progress() as progress:
        yield lambda done, total: progress(what, done, total)


@contextmanager
def work_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show what is being done and how much of it is, with the time left."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.fields[text]}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    silent = not console.is_terminal
    with Progress(
        *columns, console=console, transient=True, disable=silent, speed_estimate_period=3600
    ) as bar:
        task = bar.add_task("", total=None, what="", text="")

        def progress(what: str, done: int, total: int) -> None:
            if bar.tasks[0].fields["what"] != what:
                bar.reset(task, total=total, what=what)
            bar.update(task, completed=done, total=total, text=f"{done} of {total} {what}")

        yield progress


@contextmanager
def resumable(folder: Path | None) -> Iterator[None]:
    """Within the context a Ctrl-C ends the command, and says that it resumes from a folder."""
    try:
        yield
    except KeyboardInterrupt:
        if folder is None:
            raise
        print(f"teddy: interrupted; the same command goes on in {folder}", file=sys.stderr)
        sys.exit(130)
