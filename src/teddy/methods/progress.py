"""Progress of a search: its trainings in turn, and a progress bar."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from teddy.errors import InputError
from teddy.training import Epoch
from teddy.training.loop import Callback

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress


#: Called after each epoch with its phase (``dense``, ``sparse``, ...) and the finished share.
Progress = Callable[[str, Epoch, float], None]


class Phases:
    """Trainings that a ticket takes: the dense one and one or more sparse ones.

    Args:
        progress: Called after each epoch.
        epochs: Epochs of a training.

    Example:
        >>> phases = Phases(lambda phase, epoch, share: print(phase, share), epochs=4)
        >>> phases.skip("dense")
        >>> (callback,) = phases.report("sparse")
        >>> callback(Epoch(index=1, loss=0.5, val=80.0))
        sparse 0.75
    """

    def __init__(self, progress: Progress | None, epochs: int) -> None:
        self.progress, self.epochs = progress, epochs
        self.begin(2)

    def begin(self, count: int) -> None:
        """Set the number of trainings of the next ticket, the dense one included."""
        self._count = count
        self._seen: dict[str, int] = {}

    def skip(self, phase: str) -> None:
        """Count a phase that is not needed."""
        self._seen.setdefault(phase, len(self._seen))

    def report(self, phase: str) -> tuple[Callback, ...]:
        """Callbacks of the next training."""
        before = self._seen.setdefault(phase, len(self._seen))
        progress, count, epochs = self.progress, self._count, self.epochs
        if progress is None:
            return ()
        return (lambda e: progress(phase, e, (before + (e.index + 1) / epochs) / count),)


class ProgressReport:
    """Context that calls a function after each epoch, or draws a bar on stderr.

    Args:
        progress: A function of phase, epoch and finished share; True: a bar, where stderr is a
            terminal; False or None: nothing.

    Example:
        >>> with ProgressReport(True) as report:
        ...     report.call("dense", Epoch(index=0, loss=0.5, val=80.0), 0.25)
        >>> ProgressReport(3)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: progress is 3, expected True, or a function of phase, epoch and
        share
    """

    def __init__(self, progress: Progress | bool | None) -> None:
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise InputError(
                f"progress is {progress}, expected True, or a function of phase, epoch and share"
            )
        self._bar: RichProgress | None = None
        self.call = self._draw if progress is True else progress or None

    def __enter__(self) -> ProgressReport:
        """Return the report."""
        return self

    def __exit__(self, *error: object) -> None:
        """Remove the bar, however the search ends."""
        if self._bar is not None:
            self._bar.stop()

    def _draw(self, phase: str, epoch: Epoch, share: float) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as RichProgress

            console = Console(stderr=True)
            columns = TextColumn("{task.description:<10}"), BarColumn(), TimeRemainingColumn()
            self._bar = RichProgress(
                *columns, console=console, transient=True, disable=not console.is_terminal
            )
            self._bar.add_task("", total=1.0)
            self._bar.start()
        text = f"{phase}, val {epoch.val:.1f}"
        self._bar.update(self._bar.task_ids[0], completed=share, description=text)
