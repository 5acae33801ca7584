"""The folder of a sweep: one file a cell, whole or not there, and what to go on from.

::

    sweep.json          what all cells have in common
    cells/*.json        one result each, with a checksum
    failures/*.json     what went wrong, until it goes right
    work/               dense models and rounds to go on from; may be deleted
    locks/              who computes what; may be deleted when nothing runs
    tickets/*.ticket    with keep_tickets
    results.parquet     all cells as one table
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from teddy.atomic import UNFINISHED, remove_unfinished, write_atomically
from teddy.entries import Entry, read_entry, write_entry
from teddy.errors import InputError
from teddy.sweep.grid import Cell, Series
from teddy.sweep.resolution import completed

FORMAT = 1

_FOLDERS = ("cells", "failures", "locks", "work", "tickets")


class Folder:
    """Files of a sweep.

    Example:
        >>> import tempfile
        >>> folder = Folder(tempfile.mkdtemp())
        >>> cell = Cell("citeseer", "gin", "teddy", 0, 1)
        >>> folder.write_cell(cell, {**vars(cell), "test": 70.0})
        >>> folder.read_cell(cell)["test"]
        70.0
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def check(self) -> None:
        """Raise if this is another kind of folder, or has lost what says what its cells are."""
        if not self.path.is_dir() or (self.path / "sweep.json").exists():
            return
        # Of a run that has only just begun, there may be empty folders and a file in the making.
        names = {path.name for path in self.path.iterdir()} - set(_FOLDERS)
        others = sorted(name for name in names if not name.startswith(UNFINISHED))
        if others or any((self.path / "cells").glob("*.json")):
            what = others[0] if others else "cells"
            raise InputError(
                f"{self.path}: has {what} but no sweep.json, expected a sweep's folder or a new one"
            )

    def create(self) -> None:
        """Make the folders, and delete files that killed processes have left unfinished."""
        for name in _FOLDERS:
            self._make(self.path / name)
        remove_unfinished(self.path)

    @property
    def table_path(self) -> Path:
        """The table of all cells."""
        return self.path / "results.parquet"

    def cell_path(self, cell: Cell) -> Path:
        """The file of a cell."""
        return self.path / "cells" / f"{cell.key}.json"

    def ticket_path(self, cell: Cell) -> Path:
        """The file of a cell's ticket."""
        return self.path / "tickets" / f"{cell.key}.ticket"

    def failure_path(self, cell: Cell) -> Path:
        """The file that says what went wrong in a cell."""
        return self.path / "failures" / f"{cell.key}.json"

    def write_cell(self, cell: Cell, row: dict[str, Any]) -> None:
        """Write a result, and forget what went wrong before."""
        self._make(self.cell_path(cell).parent)
        _write_json(self.cell_path(cell), row)
        self.failure_path(cell).unlink(missing_ok=True)

    def write_failure(self, cell: Cell, error: str, details: str) -> None:
        """Record what went wrong."""
        row = {**vars(cell), "error": error, "details": details}
        self._make(self.failure_path(cell).parent)
        _write_json(self.failure_path(cell), row)

    def read_cell(self, cell: Cell) -> dict[str, Any] | None:
        """A cell's result; None if there is none, an error if it is damaged."""
        path = self.cell_path(cell)
        row = _read_json(path) if path.exists() else None
        if row is not None and Cell.of(row) != cell:
            raise InputError(f"{path}: damaged, the result of another cell")
        return row

    def done(self, cell: Cell) -> bool:
        """Whether there is a sound result."""
        try:
            return self.read_cell(cell) is not None
        except InputError:
            return False

    def damaged(self, cells: Sequence[Cell] | None = None) -> list[str]:
        """A line for each of these cells, or of all files, that can't be read."""
        reads: list[Callable[[], object]] = [partial(self.read_cell, cell) for cell in cells or []]
        if cells is None:
            paths = sorted((self.path / "cells").glob("*.json"))
            reads = [partial(_read_json, path) for path in paths]
        lines = []
        for read in reads:
            try:
                read()
            except InputError as error:
                lines.append(str(error))
        return lines

    def rows(self) -> list[dict[str, Any]]:
        """All sound results, in the order of their names."""
        return completed(self._read_all("cells"))

    def failures(self) -> list[dict[str, Any]]:
        """What went wrong and has not gone right since."""
        return list(self._read_all("failures"))

    def agree(self, settings: dict[str, Any], parts: dict[str, dict[str, Any]]) -> None:
        """Record what decides the results, or raise if it was something else.

        Args:
            settings: What all cells have in common.
            parts: By kind (data, methods) and name, what else cells depend on.
        """
        path = self.path / "sweep.json"
        with self.lock("sweep"):
            known = _read_json(path) if path.exists() else {"settings": settings}
            self.check_settings(settings)
            for kind, entries in parts.items():
                for name, value in entries.items():
                    before = known.setdefault(kind, {}).setdefault(name, value)
                    if before != value:
                        raise InputError(
                            f"{self.path}: holds results of {name} with other {kind} "
                            f"({_change(before, value)}); expected the same, or another folder"
                        )
            _write_json(path, known)

    def check_settings(self, settings: dict[str, Any]) -> None:
        """Raise if the results here were computed with other settings."""
        known = self.facts().get("settings", settings)
        for name in settings | known:
            before, now = known.get(name), settings.get(name)
            if before != now:
                raise InputError(
                    f"{self.path}: holds results with {name} {before}, got {now}; "
                    "expected the same, or another folder"
                )

    def facts(self) -> dict[str, Any]:
        """What decides the results: settings, data, methods; empty where nothing was recorded."""
        path = self.path / "sweep.json"
        return _read_json(path) if path.exists() else {}

    def lock(self, name: str) -> FileLock:
        """A lock that the system lets go of when its process ends, however it ends."""
        self._make(self.path / "locks")
        return FileLock(self.path / "locks" / f"{name}.lock")

    def store(self, series: Series) -> FolderStore:
        """Store that a series resumes from."""
        work = self.path / "work"
        return FolderStore(work / series.dense_key, work / series.key)

    def _read_all(self, kind: str) -> Iterator[dict[str, Any]]:
        for path in sorted((self.path / kind).glob("*.json")):
            try:
                yield _read_json(path)
            except InputError:
                continue

    def _make(self, path: Path) -> None:
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{path}: can't be made ({error.strerror})") from None


#: Entries that are the same for all methods.
OF_DENSE = ("dense", "alone")


class FolderStore:
    """Entries as files: those of the dense model where other methods find them, rounds apart.

    A damaged file is as good as none.

    Args:
        shared: Folder of the dense model.
        own: Folder of everything else.
    """

    def __init__(self, shared: Path, own: Path) -> None:
        self.shared, self.own = shared, own

    def load(self, name: str) -> Entry | None:
        """Return an entry, None if there is none."""
        return read_entry(self._path(name))

    def save(self, name: str, entry: Entry) -> None:
        """Keep an entry."""
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_entry(path, entry)

    def _path(self, name: str) -> Path:
        return (self.shared if name in OF_DENSE else self.own) / f"{name}.safetensors"


def try_lock(lock: FileLock) -> bool:
    """Take a lock if it is free."""
    try:
        lock.acquire(blocking=False)
        return True
    except Timeout:
        return False


def _change(before: Any, now: Any) -> str:
    """What differs, in a few words; of a sha256 the beginning."""
    if isinstance(before, dict) and isinstance(now, dict):
        names = [name for name in now if before.get(name) != now[name]]
        return ", ".join(f"{name} {_change(before.get(name), now[name])}" for name in names)
    return f"{str(before)[:8]}, now {str(now)[:8]}"


def _write_json(path: Path, row: dict[str, Any]) -> None:
    content = {"format": FORMAT, "row": row, "sha256": _digest(row)}
    write_atomically(path, (json.dumps(content, indent=1) + "\n").encode())


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
        row: dict[str, Any] = content["row"]
        if content["format"] != FORMAT or content["sha256"] != _digest(row):
            raise ValueError("the checksum doesn't match")
        return row
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: damaged, not a whole file ({reason}); delete it") from None


def _digest(row: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()
