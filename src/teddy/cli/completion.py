"""Shell completion of names, without importing torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from teddy import names
from teddy.settings import Entry

Complete = Callable[[str], list[str]]


def complete(known: Iterable[str]) -> Complete:
    """Completion of one name.

    Example:
        >>> complete(["gcn", "gat", "sage"])("g")
        ['gcn', 'gat']
    """

    def completion(incomplete: str) -> list[str]:
        return [name for name in known if name.startswith(incomplete.lower())]

    return completion


def complete_list(known: Iterable[str]) -> Complete:
    """Completion of the last of several names with commas between them.

    Example:
        >>> complete_list(["gcn", "gat", "sage"])("sage,ga")
        ['sage,gat']
    """

    def completion(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [before + comma + name for name in known if name.startswith(last.lower())]

    return completion


def complete_setting(entry: Entry) -> Complete | None:
    """Completion of a declared setting's value, where its values are names."""
    known = {"task": names.TASKS, "device": ("cpu", "cuda"), "split": ("public", "random")}
    choices = entry.choices or known.get(entry.name, ())
    return complete(choices) if choices else None
