"""Where a search keeps what it can go on from: the dense model's logits, the rounds it has done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Tensor


@dataclass(frozen=True)
class Entry:
    """Tensors and plain numbers that belong together."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any] = field(default_factory=dict)


class Store(Protocol):
    """Entries by name."""

    def load(self, name: str) -> Entry | None:
        """Return an entry, None if there is none."""

    def save(self, name: str, entry: Entry) -> None:
        """Keep an entry."""


class Memory:
    """A store that lives as long as the search.

    Example:
        >>> store = Memory()
        >>> store.save("dense", Entry({}, {"seconds": 2.0}))
        >>> store.load("dense").facts, store.load("other")
        ({'seconds': 2.0}, None)
    """

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}

    def load(self, name: str) -> Entry | None:
        """Return an entry, None if there is none."""
        return self._entries.get(name)

    def save(self, name: str, entry: Entry) -> None:
        """Keep an entry."""
        self._entries[name] = entry
