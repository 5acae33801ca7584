"""Stores from which a search resumes: logits of the dense model, and finished rounds."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from teddy.store.tensors import Entry, read_entry, write_entry
from teddy.training import World


class Store(Protocol):
    """Entries by name, in memory or on disk."""

    def load(self, name: str) -> Entry | None:
        """Return an entry, or None."""

    def save(self, name: str, entry: Entry) -> None:
        """Store an entry."""


class MemoryStore:
    """Store in memory.

    Example:
        >>> store = MemoryStore()
        >>> store.save("dense", Entry({}, {"seconds": 2.0}))
        >>> store.load("dense").metadata, store.load("other")
        ({'seconds': 2.0}, None)
    """

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}

    def load(self, name: str) -> Entry | None:
        """Return an entry, or None."""
        return self._entries.get(name)

    def save(self, name: str, entry: Entry) -> None:
        """Store an entry."""
        self._entries[name] = entry


class FileStore:
    """Store of files in a folder; damaged files are ignored.

    Example:
        >>> import tempfile
        >>> store = FileStore(Path(tempfile.mkdtemp()))
        >>> store.save("dense", Entry({}, {"seconds": 2.0}))
        >>> store.load("dense").metadata, store.load("other")
        ({'seconds': 2.0}, None)
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, name: str) -> Entry | None:
        """Return an entry, or None."""
        return read_entry(self._path(name))

    def save(self, name: str, entry: Entry) -> None:
        """Store an entry."""
        write_entry(self._path(name), entry)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.safetensors"


class RankZeroStore:
    """Store of the rank-zero process, which all processes read."""

    def __init__(self, store: Store) -> None:
        self.store, self.world = store, World.current()

    def load(self, name: str) -> Entry | None:
        """Return an entry, or None."""
        return self.world.shared(self.store.load(name) if self.world.is_rank_zero else None)

    def save(self, name: str, entry: Entry) -> None:
        """Store an entry."""
        if self.world.is_rank_zero:
            self.store.save(name, entry)
