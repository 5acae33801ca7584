"""Where a search keeps what it can go on from: the dense model's logits, the rounds it has done."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from teddy.store.tensors import Entry, read_entry, write_entry
from teddy.training import World


class Store(Protocol):
    """Entries by name."""

    def load(self, name: str) -> Entry | None:
        """Return an entry, None if there is none."""

    def save(self, name: str, entry: Entry) -> None:
        """Keep an entry."""


class MemoryStore:
    """A store that lives as long as the search.

    Example:
        >>> store = MemoryStore()
        >>> store.save("dense", Entry({}, {"seconds": 2.0}))
        >>> store.load("dense").metadata, store.load("other")
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


class FileStore:
    """A store of files in a folder; a damaged file is as good as none.

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
        """Return an entry, None if there is none."""
        return read_entry(self._path(name))

    def save(self, name: str, entry: Entry) -> None:
        """Keep an entry."""
        write_entry(self._path(name), entry)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.safetensors"


class RankZeroStore:
    """A store that the first process of a job has, and all read."""

    def __init__(self, store: Store) -> None:
        self.store, self.world = store, World.current()

    def load(self, name: str) -> Entry | None:
        """Return an entry, None if there is none."""
        return self.world.shared(self.store.load(name) if self.world.is_rank_zero else None)

    def save(self, name: str, entry: Entry) -> None:
        """Keep an entry."""
        if self.world.is_rank_zero:
            self.store.save(name, entry)
