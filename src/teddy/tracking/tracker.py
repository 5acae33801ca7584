"""What follows a search: three methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from typing import Any, Protocol, runtime_checkable

from teddy.errors import InputError
from teddy.registry import Registry


@runtime_checkable
class Tracker(Protocol):
    """Follows one search after the other, each from ``start`` to ``finish``.

    Example:
        >>> class Printer:
        ...     def start(self, params): print(params["model"], params["seed"])
        ...     def log(self, step, values): print(step, sorted(values))
        ...     def finish(self, summary): print(summary["edges_kept"])
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", epochs=1, hidden=8, track=Printer())
        gcn 0
        0 ['dense/loss', 'dense/val']
        0 ['sparse/loss', 'sparse/val']
        1638
    """

    def start(self, params: Mapping[str, Any]) -> None:
        """A search begins: everything that decides its result, by name."""

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """An epoch was validated: its number in its training, and ``TRAINING/loss``, ``/val``.

        A training is ``dense``, ``round-1``, ``round-2``, ... (of masks), or ``sparse``.
        """

    def finish(self, summary: Mapping[str, float] | None) -> None:
        """The search is over: numbers of the ticket by name; None: it ended without one."""


#: A word, an object with the three methods, or several of them.
TrackLike = str | Tracker | Iterable[str | Tracker]

#: From what stands after the colon of a word, which may be empty, to a tracker.
TRACKERS: Registry[Callable[[str], Tracker]] = Registry("tracker")


def as_trackers(track: TrackLike | None) -> list[Tracker]:
    """Return what follows a search, or raise if something can't.

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
    return [_tracker(one) for one in track]


def _tracker(one: object) -> Tracker:
    if isinstance(one, str):
        name, _, where = one.partition(":")
        return TRACKERS[name](where)
    if isinstance(one, type) or not isinstance(one, Tracker):
        got = f"the class {one.__name__}" if isinstance(one, type) else f"a {type(one).__name__}"
        raise InputError(f"track is {got}, expected an object with start, log and finish")
    return one


def need(package: str, extra: str) -> None:
    """Raise unless a package is installed.

    Example:
        >>> need("no_such_package", "mlflow")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: tracking by no_such_package needs it: pip install
        'teddy-glt[mlflow]'
    """
    try:
        there = find_spec(package) is not None
    except ModuleNotFoundError:  # of a package that it is in
        there = False
    if not there:
        raise InputError(f"tracking by {package} needs it: pip install 'teddy-glt[{extra}]'")


def run_name(params: Mapping[str, Any]) -> str:
    """A search in short.

    Example:
        >>> run_name({"dataset": "citeseer", "model": "gin", "method": "teddy", "seed": 0})
        'citeseer-gin-teddy-seed-0'
    """
    return f"{params['dataset']}-{params['model']}-{params['method']}-seed-{params['seed']}"
