"""Files of a table: lookup by name, format, and changes during a run."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from teddy.data.reading import reason, shorten
from teddy.errors import InputError

#: Suffixes of inputs, and their format; TSV is CSV with tabs.
SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
}
#: Suffixes of outputs.
WRITTEN = (".parquet", ".pq", ".csv")
#: Markers of table formats whose folders also hold removed rows.
TABLE_FORMATS = {"delta": "_delta_log", "hudi": ".hoodie", "iceberg": "metadata/*.metadata.json"}
_MARKERS = ("_SUCCESS", "_metadata", "_common_metadata")


def table_format(path: str) -> str | None:
    """Return the format of a file by its name.

    Example:
        >>> table_format("a/edges.csv.gz"), table_format("a/edges")
        ('csv', None)
    """
    suffix = _suffix(path)
    return None if suffix is None else SUFFIXES[suffix]


def output_format(path: str) -> str | None:
    """Return the format of an output by its name; None for a folder of files.

    Example:
        >>> output_format("few.parquet"), output_format("few")
        ('parquet', None)
        >>> output_format("few.tsv")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: few.tsv: .tsv is not supported, expected .parquet, .csv or a folder
    """
    suffix = _suffix(path)
    if suffix is not None and suffix not in WRITTEN:
        raise InputError(f"{path}: {suffix} is not supported, expected .parquet, .csv or a folder")
    return table_format(path)


def _suffix(path: str) -> str | None:
    name = Path(path).name.lower()
    return next((s for s in reversed(SUFFIXES) if name.endswith(s) and name != s), None)


def is_marker(name: str) -> bool:
    """Return whether a file of a folder is ignored: hidden, or a marker of Hadoop and Spark.

    Example:
        >>> [is_marker(name) for name in (".part.crc", "_SUCCESS", "_edges.csv")]
        [True, True, False]
    """
    return name.startswith((".", "_committed_", "_started_")) or name in _MARKERS


def is_left_out(name: str) -> bool:
    """Return whether Spark ignores a file or folder by its name, other than a marker.

    Example:
        >>> [is_left_out(name) for name in ("_temporary", "_p=1", "year=2020")]
        [True, False, False]
    """
    return (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


def find_files(name: str) -> tuple[Path, ...]:
    """Find the files of a name: a file, those of a folder, or those that match a pattern.

    Raises:
        InputError: If a folder holds files that are not read, so that no row is lost unnoticed.
    """
    path = Path(name)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{name}: is neither a file nor a folder, expected one of them")
    files, left_out = {path}, []
    if not path.is_file():
        wanted = dict(_walk(path) if path.is_dir() else _matching(name))
        files = {p for p, read in wanted.items() if read and p.is_file() and table_format(p.name)}
        left_out = sorted(wanted.keys() - files)
    if not files and not left_out:
        none = "no such file or folder, and no file that matches it as a pattern"
        if path.is_dir():
            none = "no .parquet or .csv in this folder, expected at least one"
        raise InputError(f"{name}: {none}")
    parents = {str(folder) for file in (*files, *left_out) for folder in file.absolute().parents}
    refuse_table_formats(name, parents, _has)
    refuse_left_out(name, left_out)
    return tuple(sorted(files))


def refuse_left_out(name: str, paths: Iterable[object]) -> None:
    """Raise if files are left out."""
    names = sorted(map(str, paths))
    if names:
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        raise InputError(
            f"{name}: holds {shown}, expected {', '.join(SUFFIXES)} only; move these, or give a "
            "pattern such as 'FOLDER/*.parquet'"
        )


def refuse_table_formats(
    name: str, folders: Iterable[str], has: Callable[[str, str], bool]
) -> None:
    """Raise if one of the folders belongs to a Delta, Hudi or Iceberg table.

    ``has(folder, pattern)`` returns whether anything in the folder matches the pattern.
    """
    for folder in sorted(folders):
        for kind, pattern in TABLE_FORMATS.items():
            if has(folder, pattern):
                raise InputError(
                    f"{name}: {folder} is a {kind.capitalize()} table, whose files hold removed "
                    "rows, too, expected plain files; write its current rows first, in Spark by "
                    f"spark.read.format('{kind}').load(IN).write.parquet(COPY)"
                )


def common_format(name: str, files: tuple[Path, ...]) -> str:
    """Return the common format of files; raise if they differ."""
    kinds = {table_format(file.name) for file in files}
    if len(kinds) > 1 or None in kinds:
        got = ", ".join(sorted({file.suffix or file.name for file in files}))
        raise InputError(f"{name}: files are {got}, expected all .parquet or all .csv")
    return str(kinds.pop())


def short_reason(error: BaseException) -> str:
    """Extract the reason from a message of pyarrow.

    Example:
        >>> short_reason(ValueError("Could not open 'a.csv': Invalid: parse error: Row #2: got 3"))
        'parse error: Row #2: got 3'
    """
    return shorten(reason(ValueError(str(error).split("Invalid: ")[-1])))


def _walk(folder: Path, above: tuple[str, ...] = ()) -> Iterator[tuple[Path, bool]]:
    """Yield files of a folder without markers, and skipped folders, with whether they are read."""
    resolved = os.path.realpath(folder)
    for path in _entries(folder):
        if is_marker(path.name):
            continue
        if is_left_out(path.name) or os.path.realpath(path) in (resolved, *above):
            yield path, False
        elif path.is_dir():
            yield from _walk(path, (resolved, *above))
        else:
            yield path, True


def _matching(pattern: str) -> Iterator[tuple[Path, bool]]:
    """Yield files that match a pattern, or lie in matching folders, with whether they are read."""
    parts = Path(pattern).parts
    for end in range(1, len(parts)):  # glob skips unreadable folders
        above = str(Path(*parts[:end]))
        for folder in glob.glob(above, recursive=True) if glob.has_magic(above) else ():  # noqa: PTH207
            if Path(folder).is_dir():
                _entries(Path(folder))
    for path in map(Path, glob.glob(pattern, recursive=True)):  # noqa: PTH207
        folders = path.parts if path.is_dir() else path.parts[:-1]
        if any(is_left_out(part) and part not in parts for part in folders):
            yield path, False
        elif path.is_dir():
            yield from _walk(path)
        elif not is_marker(path.name):
            yield path, True


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror})") from None


def _has(folder: str, pattern: str) -> bool:
    return bool(glob.glob(f"{glob.escape(folder)}/{pattern}"))  # noqa: PTH207


#: Properties of a file; at least one changes with its content.
FileState = tuple[int, ...]


@dataclass(frozen=True)
class InputFiles:
    """Files of a table, with their states."""

    name: str
    states: dict[str, FileState]

    @staticmethod
    def find(name: str) -> InputFiles:
        """Find the files of a table, with their current states."""
        return InputFiles(name, _states(name))

    @property
    def files(self) -> tuple[Path, ...]:
        """Paths of the files."""
        return tuple(map(Path, self.states))

    def now(self) -> dict[str, FileState]:
        """Current files and states."""
        return _states(self.name)

    def check_unchanged(self) -> None:
        """Raise if a file was added, removed, replaced or written since.

        Example:
            >>> import tempfile
            >>> file = Path(tempfile.mkdtemp()) / "edges.csv"
            >>> _ = file.write_text("source,target\\n")
            >>> inputs = InputFiles.find(str(file))
            >>> inputs.check_unchanged()
            >>> _ = file.write_text("source,target\\n1,2\\n")
            >>> inputs.check_unchanged()
            Traceback (most recent call last):
            ...
            teddy.errors.InputError: ...edges.csv: changed during the run, so nothing was written;
            rerun when no program writes to the table
        """
        try:
            now = self.now()
        except InputError as error:
            raise self.changed(self.name, f"changed during the run ({reason(error)})") from None
        for file in sorted(self.states.keys() | now.keys()):
            if file not in now:
                raise self.changed(file, "was removed during the run")
            if file not in self.states:
                raise self.changed(file, "was added during the run")
            if now[file] != self.states[file]:
                raise self.changed(file, "changed during the run")

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Report any error within the context as a changed file, if one has changed."""
        try:
            yield
        except Exception:
            self.check_unchanged()
            raise

    @staticmethod
    def changed(file: str, what: str) -> InputError:
        """Make the error for a changed file."""
        return InputError(
            f"{file}: {what}, so nothing was written; rerun when no program writes to the table"
        )


def _states(name: str) -> dict[str, FileState]:
    states: dict[str, FileState] = {}
    # A program can set the time of the last write (mtime), not of the last change (ctime).
    parts = ("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")
    for file in find_files(name):
        try:
            status = file.stat()
        except OSError as error:
            raise InputError(f"{file}: cannot be read ({error.strerror})") from None
        states[str(file)] = tuple(getattr(status, part) for part in parts)
    return states
