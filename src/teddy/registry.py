"""Things found by name: scores, models, data sets, methods."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from teddy.errors import InputError

T = TypeVar("T")


class Registry(Generic[T]):
    """A dictionary with a decorator to fill it and a helpful error for a name it doesn't have.

    Example:
        >>> SHAPES = Registry("shape")
        >>> @SHAPES.register("star")
        ... def star(n): return [(0, i) for i in range(1, n)]
        >>> SHAPES["star"](3)
        [(0, 1), (0, 2)]
        >>> SHAPES["stra"]
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: unknown shape 'stra', expected one of: star (did you mean 'star'?)
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, T] = {}

    def register(self, name: str):  # type: ignore[no-untyped-def]
        """Decorate the thing that ``name`` stands for."""

        def keep(entry: T) -> T:
            self._entries[name] = entry
            return entry

        return keep

    def arrange(self, names: Iterable[str]) -> None:
        """List entries in the order of these names, which are all of them."""
        self._entries = {name: self._entries[name] for name in names}

    def __getitem__(self, name: str) -> T:
        if name not in self._entries:
            close = difflib.get_close_matches(str(name), self._entries)
            # Of names that are as close, one with the same letters in another order: gcn, not gin.
            close.sort(key=lambda known: sorted(known) != sorted(str(name)))
            hint = f" (did you mean '{close[0]}'?)" if close else ""
            known = ", ".join(self._entries)
            raise InputError(f"unknown {self.kind} '{name}', expected one of: {known}{hint}")
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
