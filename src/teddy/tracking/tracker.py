"""``Tracker`` with its three methods; an error of a tracker does not end the search."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from textwrap import shorten
from typing import Any, Protocol, runtime_checkable

from teddy.errors import InputError
from teddy.registry import Registry
from teddy.ticket import Ticket
from teddy.training import Epoch, World

logger = logging.getLogger(__name__)


@runtime_checkable
class Tracker(Protocol):
    """Experiment tracker: ``start``, ``log`` after each epoch, ``finish``, for each search.

    Example:
        >>> class Printer:
        ...     def start(self, params): print(params["model"], params["seed"])
        ...     def log(self, step, values): print(step, sorted(values))
        ...     def finish(self, summary): print(summary["edges_kept"])
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", epochs=1, hidden_channels=8, track=Printer())
        gcn 0
        0 ['dense/loss', 'dense/val']
        0 ['sparse/loss', 'sparse/val']
        1638
    """

    def start(self, params: Mapping[str, Any]) -> None:
        """Begin a search; ``params`` holds everything that determines its result, by name."""

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Log an epoch: its number in its training, and ``TRAINING/loss`` and ``/val``.

        A training is ``dense``, ``round-1``, ``round-2``, ... (of masks), or ``sparse``.
        """

    def finish(self, summary: Mapping[str, float] | None) -> None:
        """End a search, with numbers of the ticket by name; None: it found no ticket."""


#: A spec such as ``mlflow``, an object with the three methods, or several of them.
TrackLike = str | Tracker | Iterable[str | Tracker]

#: Functions from the text after the colon of a spec, which may be empty, to a tracker.
TRACKERS: Registry[Callable[[str], Tracker]] = Registry("tracker")


def as_trackers(track: TrackLike | None) -> list[Tracker]:
    """Return the trackers of a search; raise on an unknown one.

    Args:
        track: ``"tensorboard:FOLDER"``, ``"mlflow"`` or ``"mlflow:EXPERIMENT"``,
            ``"wandb:PROJECT"``, an object with the methods of :class:`Tracker`, several of them,
            or None.

    Example:
        >>> as_trackers("tensorbord:runs")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: unknown tracker 'tensorbord', expected one of: mlflow, ...
    """
    if track is None:
        return []
    if isinstance(track, str) or not isinstance(track, Iterable):
        track = [track]
    return [_tracker(item) for item in track]


def _tracker(item: object) -> Tracker:
    if isinstance(item, str):
        name, _, target = item.partition(":")
        return TRACKERS[name](target)
    if isinstance(item, type) or not isinstance(item, Tracker):
        got = f"the class {item.__name__}" if isinstance(item, type) else type(item).__name__
        raise InputError(f"track is {got}, expected an object with start, log and finish")
    return item


def check_installed(package: str, extra: str) -> None:
    """Raise unless a package is installed.

    Example:
        >>> check_installed("no_such_package", "mlflow")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: tracker no_such_package is not installed: pip install
        'teddy-glt[mlflow]'
    """
    try:
        installed = find_spec(package) is not None
    except ModuleNotFoundError:  # of a parent package
        installed = False
    if not installed:
        raise InputError(f"tracker {package} is not installed: pip install 'teddy-glt[{extra}]'")


def run_name(params: Mapping[str, Any]) -> str:
    """Short name of a search.

    Example:
        >>> run_name({"dataset": "citeseer", "model": "gin", "method": "teddy", "seed": 0})
        'citeseer-gin-teddy-seed-0'
    """
    return f"{params['dataset']}-{params['model']}-{params['method']}-seed-{params['seed']}"


class Tracking:
    """Notifies trackers of a search; of several processes, only the rank-zero process does.

    A tracker that raises is warned of once and gets no more epochs. Its ``finish`` is still called,
    so that it can close its files, and the search continues.

    Attributes:
        ticket: The ticket, set by the search.
    """

    def __init__(self, track: TrackLike | None) -> None:
        trackers = as_trackers(track)
        self.trackers = trackers if World.current().is_rank_zero else []
        self.ticket: Ticket | None = None
        self._failed: list[Tracker] = []

    @contextmanager
    def run(
        self,
        dataset: str,
        params: Callable[[], Mapping[str, Any]],
        done: Callable[[], Iterable[tuple[str, list[Epoch]]]],
    ) -> Iterator[None]:
        """Track a search.

        Args:
            dataset: Name of the data set.
            params: Returns everything that determines the result.
            done: Returns the epochs of each training that a checkpoint resumes from. They are
                logged again, so that the tracker's run is complete.
        """
        if not self.trackers:
            yield
            return
        settings = {"dataset": dataset, **params()}
        self.trackers = [t for t in self.trackers if self._notify(t, "start", settings)]
        for training, epochs in done():
            for epoch in epochs:
                self.epoch(training, epoch)
        try:
            yield
        finally:
            summary = None if self.ticket is None else ticket_summary(self.ticket)
            for tracker in self.trackers:
                self._notify(tracker, "finish", summary)

    def epoch(self, phase: str, epoch: Epoch) -> None:
        """Log an epoch."""
        name = phase.replace(" ", "-").split("-of-")[0]  # "round 3 of 20"
        values = {f"{name}/loss": epoch.loss, f"{name}/val": epoch.val}
        for tracker in self.trackers:
            if tracker not in self._failed:
                self._notify(tracker, "log", epoch.index, values)

    def with_trackers(
        self, progress: Callable[[str, Epoch, float], None] | None
    ) -> Callable[[str, Epoch, float], None] | None:
        """Return a progress function that logs each epoch before it calls another."""
        if not self.trackers:
            return progress

        def both(phase: str, epoch: Epoch, share: float) -> None:
            self.epoch(phase, epoch)
            if progress is not None:
                progress(phase, epoch, share)

        return both

    def _notify(self, tracker: Tracker, event: str, *arguments: Any) -> bool:
        try:
            getattr(tracker, event)(*arguments)
            return True
        except Exception as error:  # an error of a tracker must not cost the ticket
            if tracker not in self._failed:
                self._failed.append(tracker)
                reason = shorten(f"{type(error).__name__}: {error}", 200, placeholder="...")
                name = type(tracker).__name__
                logger.warning("%s failed in %s (%s), continuing without it", name, event, reason)
            return False


def ticket_summary(ticket: Ticket) -> dict[str, float]:
    """Numbers of a ticket, by name.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", epochs=1, hidden_channels=8)
        >>> summary = ticket_summary(ticket)
        >>> summary["edges_kept"], summary["edges_total"]
        (1638, 4552)
        >>> [name for name in summary if name.startswith("ticket")]
        ['ticket_test', 'ticket_val', 'ticket_best_epoch', 'ticket_last_test']
    """
    info = ticket.info
    summary: dict[str, float] = {}
    for what, accuracy in (("dense", info.dense), ("ticket", info.ticket)):
        known = {name: value for name, value in vars(accuracy).items() if value is not None}
        summary |= {f"{what}_{name}": value for name, value in known.items()}
    for what, count in (("edges", info.edges), ("weights", info.weights)):
        summary |= {f"{what}_{name}": value for name, value in vars(count).items()}
        if count.total:
            summary[f"{what}_sparsity"] = 1 - count.kept / count.total
    for what, macs in vars(info.macs).items():
        if macs is not None:
            summary[f"macs_{what}"] = sum(macs)
    return summary | {f"seconds_{name}": value for name, value in ticket.seconds.items()}
