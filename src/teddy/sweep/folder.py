"""Folder of a sweep: an atomic file for each cell, and files from which it resumes.

::

    sweep.json          settings, data and methods of all cells
    cells/*.json        a result each, with a checksum
    failures/*.json     the last error of each failed cell
    work/               dense models and rounds to resume from; may be deleted
    locks/              locks of running processes; may be deleted when nothing runs
    tickets/*.ticket    with keep_tickets
    results.parquet     all cells as one table
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock

from teddy.errors import InputError
from teddy.methods.store import FileStore
from teddy.store.atomic import remove_unfinished
from teddy.store.folders import check_owner, check_same, make_folder, read_record, write_record
from teddy.store.tensors import Entry
from teddy.sweep.grid import Cell, Series
from teddy.sweep.resolution import completed

_FOLDERS = ("cells", "failures", "locks", "work", "tickets")


class Folder:
    """Files of a sweep.

    Example:
        >>> import tempfile
        >>> folder = Folder(tempfile.mkdtemp())
        >>> cell = Cell("citeseer", "gin", "teddy", 0, 1)
        >>> folder.write_cell(cell, {**cell.to_row(), "test": 70.0})
        >>> folder.read_cell(cell)["test"]
        70.0
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def check(self) -> None:
        """Raise if this is not the folder of a sweep, or has lost its ``sweep.json``."""
        # A run that has just begun may have made empty folders.
        check_owner(self.path, "sweep.json", _FOLDERS, "sweep")
        if any((self.path / "cells").glob("*.json")) and not (self.path / "sweep.json").exists():
            raise InputError(
                f"{self.path}: has cells but no sweep.json, expected a sweep's folder or a new one"
            )

    def create(self) -> None:
        """Create the folders, and delete unfinished files of killed processes."""
        for name in _FOLDERS:
            make_folder(self.path / name)
        remove_unfinished(self.path)

    def cell_path(self, cell: Cell) -> Path:
        """File of a cell."""
        return self.path / "cells" / f"{cell.key}.json"

    def ticket_path(self, cell: Cell) -> Path:
        """File of a cell's ticket."""
        return self.path / "tickets" / f"{cell.key}.ticket"

    def failure_path(self, cell: Cell) -> Path:
        """File with the error of a failed cell."""
        return self.path / "failures" / f"{cell.key}.json"

    def write_cell(self, cell: Cell, row: dict[str, Any]) -> None:
        """Write a result, and delete an earlier failure."""
        self._write(self.cell_path(cell), row)
        self.failure_path(cell).unlink(missing_ok=True)

    def write_failure(self, cell: Cell, error: str, details: str) -> None:
        """Record the error of a cell."""
        row = {**cell.to_row(), "error": error, "details": details}
        self._write(self.failure_path(cell), row)

    def _write(self, path: Path, row: dict[str, Any]) -> None:
        make_folder(path.parent)
        write_record(path, row)

    def read_cell(self, cell: Cell) -> dict[str, Any] | None:
        """Result of a cell, or None; raise if it is damaged."""
        path = self.cell_path(cell)
        row = read_record(path) if path.exists() else None
        if row is not None and Cell.from_row(row) != cell:
            raise InputError(f"{path}: damaged, the result of another cell; delete the file")
        return row

    def done(self, cell: Cell) -> bool:
        """Return whether the cell has an intact result."""
        try:
            return self.read_cell(cell) is not None
        except InputError:
            return False

    def damaged(self, cells: Sequence[Cell] | None = None) -> list[str]:
        """Lines for the damaged files of these cells, or of all cells."""
        paths = sorted((self.path / "cells").glob("*.json")) if cells is None else []
        reads: list[Callable[[], object]] = [partial(read_record, path) for path in paths]
        reads += [partial(self.read_cell, cell) for cell in cells or []]
        lines = []
        for read in reads:
            try:
                read()
            except InputError as error:
                lines.append(str(error))
        return lines

    def rows(self) -> list[dict[str, Any]]:
        """All intact results, sorted by file name."""
        return completed(self._read_all("cells"))

    def failures(self) -> list[dict[str, Any]]:
        """Failed cells without a result since."""
        return list(self._read_all("failures"))

    def record(self, settings: dict[str, Any], parts: dict[str, dict[str, Any]]) -> None:
        """Record everything that determines the results; raise if the record differs.

        Args:
            settings: Settings of all cells.
            parts: Digests and values of data and methods, by kind and name.
        """
        path = self.path / "sweep.json"
        with self.lock("sweep"):
            known = read_record(path) if path.exists() else {"settings": settings}
            self.check_settings(settings)
            for kind, entries in parts.items():
                for name, value in entries.items():
                    before = known.setdefault(kind, {}).setdefault(name, value)
                    if before != value:
                        raise InputError(
                            f"{self.path}: holds results of {name} with other {kind} "
                            f"({_change(before, value)}), expected the same; use another folder"
                        )
            write_record(path, known)

    def check_settings(self, settings: dict[str, Any]) -> None:
        """Raise if the results here were computed with other settings."""
        check_same(self.path, self.metadata().get("settings", settings), settings, "results")

    def metadata(self) -> dict[str, Any]:
        """Recorded settings, data and methods; empty without a record."""
        path = self.path / "sweep.json"
        return read_record(path) if path.exists() else {}

    def lock(self, name: str) -> FileLock:
        """Lock that the system releases when its process ends, even if it is killed."""
        make_folder(self.path / "locks")
        return FileLock(self.path / "locks" / f"{name}.lock")

    def store(self, series: Series) -> FolderStore:
        """Store from which a series resumes."""
        work = self.path / "work"
        return FolderStore(work / series.dense_key, work / series.key)

    def _read_all(self, kind: str) -> Iterator[dict[str, Any]]:
        for path in sorted((self.path / kind).glob("*.json")):
            try:
                yield read_record(path)
            except InputError:
                continue


#: Entries that methods share.
SHARED_ENTRIES = ("dense", "alone")


class FolderStore(FileStore):
    """Store of a series, with the dense model's entries in a folder that methods share."""

    def __init__(self, shared: Path, folder: Path) -> None:
        super().__init__(folder)
        self.shared = shared

    def save(self, name: str, entry: Entry) -> None:
        """Store an entry."""
        self._path(name).parent.mkdir(parents=True, exist_ok=True)
        super().save(name, entry)

    def _path(self, name: str) -> Path:
        return (self.shared if name in SHARED_ENTRIES else self.folder) / f"{name}.safetensors"


def _change(before: Any, now: Any) -> str:
    """Short description of a change; a sha256 is cut to its beginning."""
    if isinstance(before, dict) and isinstance(now, dict):
        names = [name for name in now if before.get(name) != now[name]]
        return ", ".join(f"{name} {_change(before.get(name), now[name])}" for name in names)
    return f"{str(before)[:8]}, now {str(now)[:8]}"
