"""Which files a name stands for, their format, and what is wrong with them."""

from __future__ import annotations

import glob
from pathlib import Path

from teddy.data.reading import reason, shorten
from teddy.errors import InputError

FORMATS = ("parquet", "csv")


def table_format(path: str) -> str | None:
    """The format that a name stands for.

    Example:
        >>> table_format("a/edges.csv"), table_format("a/edges")
        ('csv', None)
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    return {"pq": "parquet"}.get(suffix, suffix if suffix in FORMATS else None)


def find_files(name: str) -> tuple[Path, ...]:
    """The files of a name: itself, those of a folder, or those that a pattern fits."""
    path = Path(name)
    if path.is_file():
        return (path,)
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.is_file() and not _hidden(p, path))
        found = [p for p in found if table_format(p.name)]
        if not found:
            raise InputError(f"{name}: no .parquet or .csv in this folder, expected at least one")
        return tuple(found)
    found = sorted(p for p in map(Path, glob.glob(name, recursive=True)) if p.is_file())  # noqa: PTH207
    if not found:
        raise InputError(f"{name}: no such file or folder, nor a pattern that fits any")
    return tuple(found)


def common_format(name: str, files: tuple[Path, ...]) -> str:
    """The format that all files have."""
    kinds = {table_format(file.name) for file in files}
    if len(kinds) > 1 or None in kinds:
        got = ", ".join(sorted({file.suffix or file.name for file in files}))
        raise InputError(f"{name}: files are {got}, expected .parquet or .csv, all alike")
    return str(kinds.pop())


def why(error: BaseException) -> str:
    """What is wrong with a file, of all that pyarrow says.

    Example:
        >>> why(ValueError("Could not open 'a.csv': Invalid: CSV parse error: Row #2: got 3"))
        'CSV parse error: Row #2: got 3'
    """
    return shorten(reason(ValueError(str(error).split("Invalid: ")[-1])))


def _hidden(path: Path, folder: Path) -> bool:
    """What engines leave beside their files, such as _SUCCESS and .part.crc."""
    return any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
