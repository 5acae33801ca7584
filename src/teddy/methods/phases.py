"""How far a search is: its trainings, one after the other."""

from __future__ import annotations

from collections.abc import Callable

from teddy.training import Epoch
from teddy.training.loop import Callback

#: Called after each epoch with its phase (``dense``, ``sparse``, ...) and the share that is done.
Progress = Callable[[str, Epoch, float], None]


class Phases:
    """The trainings that a ticket takes, the dense one and one or more of the sparse.

    Args:
        progress: Called after each epoch.
        epochs: Of a training.

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
        """Say how many trainings the next ticket takes at most, the dense one among them."""
        self._count = count
        self._seen: dict[str, int] = {}

    def skip(self, phase: str) -> None:
        """Count a phase that needn't be done."""
        self._seen.setdefault(phase, len(self._seen))

    def report(self, phase: str) -> tuple[Callback, ...]:
        """Callbacks of the next training."""
        before = self._seen.setdefault(phase, len(self._seen))
        progress, count, epochs = self.progress, self._count, self.epochs
        if progress is None:
            return ()
        return (lambda e: progress(phase, e, (before + (e.index + 1) / epochs) / count),)
