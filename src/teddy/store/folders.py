"""Folders of resumable runs: a record of the settings, and locks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from teddy.errors import InputError
from teddy.store.atomic import UNFINISHED, write_atomically

FORMAT = 1


def make_folder(path: Path) -> None:
    """Create a folder and its parents, or raise."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: can't be created ({error.strerror})") from None


def check_owner(path: Path, record: str, others: Iterable[str], kind: str) -> None:
    """Raise if a folder has files but no record of this kind of run.

    Args:
        path: The folder.
        record: Name of the file with the settings.
        others: Names of files that may be written before the record.
        kind: Kind of run, for the message.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> check_owner(folder, "search.json", ["lock"], "search")
        >>> (folder / "thesis.tex").touch()
        >>> check_owner(folder, "search.json", ["lock"], "search")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: ...: has thesis.tex but no search.json, expected a search's folder
        or a new one
    """
    if not path.is_dir() or (path / record).exists():
        return
    names = {entry.name for entry in path.iterdir()} - set(others)
    foreign = sorted(name for name in names if not name.startswith(UNFINISHED))
    if foreign:
        raise InputError(
            f"{path}: has {foreign[0]} but no {record}, expected a {kind}'s folder or a new one"
        )


def check_same(path: Path, before: Mapping[str, Any], now: Mapping[str, Any], content: str) -> None:
    """Raise if a folder has results of other settings; the message names the first that differs.

    Example:
        >>> check_same(Path("runs"), {"epochs": 4}, {"epochs": 5}, "results")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: runs: holds results with epochs 4, got 5; expected the same, or
        another folder
    """
    for name in {**now, **before}:
        if before.get(name) != now.get(name):
            raise InputError(
                f"{path}: holds {content} with {name} {before.get(name)}, got {now.get(name)}; "
                "expected the same, or another folder"
            )


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write plain data as JSON with a checksum, atomically.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "sweep.json"
        >>> write_record(path, {"epochs": 4})
        >>> read_record(path)
        {'epochs': 4}
    """
    content = {"format": FORMAT, "row": record, "sha256": _digest(record)}
    write_atomically(path, (json.dumps(content, indent=1) + "\n").encode())


def read_record(path: Path) -> dict[str, Any]:
    """Read a file of :func:`write_record`; raise if it is damaged.

    Example:
        >>> read_record(Path("no-such-file"))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: no-such-file: file is damaged (...); delete it
    """
    try:
        content = json.loads(path.read_bytes())
        record: dict[str, Any] = content["row"]
        if content["format"] != FORMAT or content["sha256"] != _digest(record):
            raise ValueError("the checksum doesn't match")
        return record
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: file is damaged ({reason}); delete it") from None


def try_lock(lock: FileLock, seconds: float = 0.0) -> bool:
    """Acquire a lock within some seconds and return True, or return False.

    The system releases it when the process ends.
    """
    try:
        lock.acquire(timeout=seconds)
        return True
    except Timeout:
        return False


def _digest(record: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
