"""Files of a table as they were when a run began; a table that changes under it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from teddy.data.reading import reason
from teddy.errors import InputError
from teddy.scale.files import find_files

#: Properties of a file, of which one changes whenever its content does.
State = tuple[int, ...]


@dataclass(frozen=True)
class Inputs:
    """Files of a table, each with its state.

    Attributes:
        name: The table, as the user calls it.
        states: Names of the files and their states, in the order of their rows.
    """

    name: str
    states: dict[str, State]

    @staticmethod
    def find(name: str) -> Inputs:
        """The files of a table as they are now."""
        return Inputs(name, _states(name))

    @property
    def files(self) -> tuple[Path, ...]:
        """The files."""
        return tuple(map(Path, self.states))

    def now(self) -> dict[str, State]:
        """The files and their states at this moment."""
        return _states(self.name)

    def check_unchanged(self) -> None:
        """Raise if any file was added, removed, replaced or written since.

        Example:
            >>> import tempfile
            >>> file = Path(tempfile.mkdtemp()) / "edges.csv"
            >>> _ = file.write_text("source,target\\n")
            >>> inputs = Inputs.find(str(file))
            >>> inputs.check_unchanged()
            >>> _ = file.write_text("source,target\\n1,2\\n")
            >>> inputs.check_unchanged()
            Traceback (most recent call last):
            ...
            teddy.errors.InputError: ...edges.csv: changed during the run, so nothing was written;
            run again when nobody writes to the table
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
        """Whatever fails because a file has changed is reported as that."""
        try:
            yield
        except Exception:
            self.check_unchanged()
            raise

    @staticmethod
    def changed(file: str, what: str) -> InputError:
        """The error for a file."""
        return InputError(
            f"{file}: {what}, so nothing was written; run again when nobody writes to the table"
        )


def _states(name: str) -> dict[str, State]:
    found: dict[str, State] = {}
    for file in find_files(name):
        try:
            status = file.stat()
        except OSError as error:
            raise InputError(f"{file}: can't be read ({error.strerror})") from None
        found[str(file)] = (
            status.st_dev,
            status.st_ino,
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,  # a program can set the time of the last write, not this one
        )
    return found
