"""What a user gives as a loader: a spec, a loader, or a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from teddy.errors import InputError
from teddy.models.identity import function_digest
from teddy.training.function_loader import FunctionLoader
from teddy.training.loaders import Loader, NamedLoader
from teddy.training.partitions import Graphs, Partitions

#: A spec, a loader, or a function from the pruned data to a PyG loader.
LoaderLike = str | Loader | Callable[[Any], Iterable[Any]]

LOADERS: dict[str, type[NamedLoader]] = {kind.name: kind for kind in (Partitions, Graphs)}


def as_loader(given: LoaderLike | None) -> Loader | None:
    """Read what a user gave as a loader.

    Example:
        >>> as_loader("partitions:parts=8")
        Partitions(parts=8, batch=4, together=2)
        >>> as_loader("graphs:batch=8")
        Graphs(batch=8, together=1)
        >>> as_loader("metis")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: unknown loader 'metis', expected partitions or graphs
        >>> as_loader(3)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: loader is 3, expected partitions:parts=32:batch=4, graphs:batch=32,
        or a function from a graph to a loader
    """
    if given is None or isinstance(given, Loader):
        return given
    if isinstance(given, str):
        name, *options = given.strip().split(":")
        if name not in LOADERS:
            raise InputError(f"unknown loader '{name}', expected {' or '.join(LOADERS)}")
        return LOADERS[name].parse(options)
    if not callable(given):
        raise InputError(
            f"loader is {given}, expected partitions:parts=32:batch=4, graphs:batch=32, or a "
            "function from a graph to a loader"
        )
    return FunctionLoader(given)


def loader_text(given: LoaderLike | None) -> str | None:
    """The loader as text that is the same in every process; of a function with a digest.

    Example:
        >>> loader_text("graphs:batch=8")
        'graphs:batch=8:together=1'
        >>> one, same, other = (loader_text(lambda graph, k=k: [graph] * k) for k in (1, 1, 2))
        >>> one == same, one == other
        (True, False)
    """
    loader = as_loader(given)
    if isinstance(loader, FunctionLoader):
        return f"{loader} {function_digest(loader.make)[:16]}"
    return None if loader is None else str(loader)
