"""A progress bar on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def seed_progress(seeds: int, epochs: int) -> Iterator[Callable[[int, str, Any], None]]:
    """Show seed, phase and accuracy, with the time left."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:<22}"),
        BarColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[accuracy]}"),
    )
    silent = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=silent) as bar:
        task = bar.add_task("", total=2 * epochs * seeds, accuracy="")

        def progress(seed: int, phase: str, epoch: Any) -> None:
            done = 2 * seed + (phase == "sparse")
            bar.update(
                task,
                completed=done * epochs + epoch.index + 1,
                description=f"seed {seed + 1}/{seeds}, {phase}",
                accuracy=f"val {epoch.val:.1f}",
            )

        yield progress
