"""Loaders from a spec, a loader object or a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from teddy.errors import InputError
from teddy.models.identity import function_digest
from teddy.registry import unknown_name
from teddy.training.function_loader import FunctionLoader
from teddy.training.loaders import Loader, NamedLoader
from teddy.training.neighbourhoods import Neighbourhoods
from teddy.training.partitions import Graphs, Partitions

#: A spec, a loader, or a function from the pruned data to a PyG loader.
LoaderLike = str | Loader | Callable[[Any], Iterable[Any]]

LOADERS: dict[str, type[NamedLoader]] = {
    kind.name: kind for kind in (Partitions, Neighbourhoods, Graphs)
}


def as_loader(loader: LoaderLike | None) -> Loader | None:
    """Return the loader of a spec, a loader or a function.

    Example:
        >>> as_loader("partitions:parts=8")
        Partitions(parts=8, batch=4, together=2)
        >>> as_loader("graphs:batch=8")
        Graphs(batch=8, together=1)
        >>> as_loader("metis")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: unknown loader 'metis', expected one of: partitions,
        neighbourhoods, graphs
        >>> as_loader(3)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: loader is 3, expected partitions:parts=32:batch=4,
        neighbourhoods:batch=512, graphs:batch=32, or a function from a graph to a loader
    """
    if loader is None or isinstance(loader, Loader):
        return loader
    if isinstance(loader, str):
        name, *options = loader.strip().split(":")
        if name not in LOADERS:
            raise unknown_name("loader", name, LOADERS)
        return LOADERS[name].parse(options)
    if not callable(loader):
        raise InputError(
            f"loader is {loader}, expected partitions:parts=32:batch=4, neighbourhoods:batch=512, "
            "graphs:batch=32, or a function from a graph to a loader"
        )
    return FunctionLoader(loader)


def loader_text(loader: LoaderLike | None) -> str | None:
    """Return the loader as text that is equal in all processes; a function with its digest.

    Example:
        >>> loader_text("graphs:batch=8")
        'graphs:batch=8:together=1'
        >>> one, same, other = (loader_text(lambda graph, k=k: [graph] * k) for k in (1, 1, 2))
        >>> one == same, one == other
        (True, False)
    """
    made = as_loader(loader)
    if isinstance(made, FunctionLoader):
        return f"{made} {function_digest(made.make)[:16]}"
    return None if made is None else str(made)
