"""Output of a run, written atomically, which never replaces other files."""

from __future__ import annotations

import glob
import os
import re
import shutil
from pathlib import Path

import pyarrow as pa
from filelock import FileLock

from teddy.errors import InputError
from teddy.scale.files import output_format
from teddy.scale.row_writer import GROUP, GROUP_BYTES, RowWriter
from teddy.scale.table import EdgeTable, rows_of
from teddy.store.folders import try_lock

# Files that a run writes to a folder.
_OWN = re.compile(r"part-\d{5,}\.(parquet|csv)|_SUCCESS")


def refuse_others(path: Path | str, others: list[str], expected: str) -> None:
    """Raise if a folder that would be replaced holds other files than those of a run."""
    if others:
        shown = ", ".join(sorted(others)[:3]) + (", ..." if len(others) > 3 else "")
        raise InputError(
            f"{path}: holds {shown}, which --overwrite would delete, expected only {expected}; "
            "give a new name"
        )


class Output:
    """A file or a folder of files, moved into place when it is complete.

    Temporary files are in the hidden folder ``.NAME.teddy`` beside it. Those of a killed run are
    removed by the next run.

    Args:
        path: ``*.parquet`` or ``*.csv`` for one file; any other name for a folder.
        table: The edge table.
        overwrite: Whether to replace a file, or a folder that an earlier run has written.

    Attributes:
        work: Folder for temporary files.
    """

    def __init__(self, path: str, table: EdgeTable, overwrite: bool = False) -> None:
        self.path, self.table = Path(path).absolute(), table
        self.format = output_format(path) or table.format
        self.one_file = output_format(path) is not None
        self.overwrite = overwrite
        self._check(path)
        self.work = self.path.parent / f".{self.path.name}.teddy"
        self._lock = FileLock(f"{self.work}.lock")

    def _check(self, path: str) -> None:
        parent = self.path.parent
        if not parent.is_dir():
            raise InputError(f"{path}: folder {Path(path).parent} does not exist, expected it to")
        if not os.access(parent, os.W_OK):
            raise InputError(f"{path}: cannot be written, expected a folder with write permission")
        ours = {file.resolve() for file in self.table.files}
        if any(self.path.resolve() in (file, *file.parents) for file in ours):
            raise InputError(f"{path}: holds the input, expected another place")
        folders = (Path(folder) for folder in (self.table.name, *glob.glob(self.table.name)))  # noqa: PTH207
        above = self.path.resolve().parents
        if any(folder.is_dir() and folder.resolve() in above for folder in folders):
            raise InputError(f"{path}: is in the input's folder, expected another place")
        if os.path.lexists(self.path):
            if self.path.is_dir() == self.one_file:
                kind = "folder" if self.one_file else "file"
                raise InputError(f"{path}: is a {kind}, expected a new name")
            if not self.overwrite:
                raise InputError(f"{path}: exists, expected a new name or --overwrite")
            if not self.one_file:
                self._check_own(self.path)

    def __enter__(self) -> Output:
        if not try_lock(self._lock):
            raise InputError(f"{self.path}: another run is writing it, expected one at a time")
        replaced = self.work / "replaced"
        if replaced.exists() and not self.path.exists():  # killed between the renames
            replaced.rename(self.path)
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        return self

    def __exit__(self, *error: object) -> None:
        shutil.rmtree(self.work, ignore_errors=True)
        Path(self._lock.lock_file).unlink(missing_ok=True)  # before another run can have it
        self._lock.release()

    @property
    def typed_ids(self) -> bool:
        """True if ids of a CSV, read as text, are written with their type."""
        return self.table.format == "csv" and self.format == "parquet"

    def schema(self) -> pa.Schema:
        """Columns of the output."""
        schema = self.table.schema
        for name in (self.table.source, self.table.target) if self.typed_ids else ():
            kind = pa.string() if self.table.text_ids else pa.int64()
            schema = schema.set(schema.get_field_index(name), pa.field(name, kind))
        return schema

    def rows(self, batch: pa.RecordBatch, first_row: int) -> pa.RecordBatch:
        """Rows of the table, converted for the output."""
        if not self.typed_ids:
            return batch
        names = self.table.source, self.table.target
        for name, ids in zip(names, self.table.ends(batch, first_row), strict=True):
            batch = batch.set_column(batch.schema.get_field_index(name), name, ids)
        return batch

    def writer(self) -> RowWriter:
        """Make a writer of rows."""
        group = rows_of(GROUP_BYTES, self.table.row_bytes, GROUP)
        nulls = self.table.format == "parquet"  # CSV has no nulls
        path = self.work / "rows"
        return RowWriter(path, self.format, self.schema(), self.one_file, group, nulls)

    def publish(self, made: Path) -> None:
        """Move a complete file or folder into place.

        Raises:
            InputError: If something exists there that may not be replaced.
        """
        try:
            if self.one_file:
                self._publish_file(made)
            else:
                self._publish_folder(made)
        except FileExistsError:
            raise self._appeared() from None
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written ({error.strerror})") from error
        folder = os.open(self.path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def _publish_file(self, made: Path) -> None:
        if self.overwrite:
            made.replace(self.path)
            return
        try:
            os.link(made, self.path)  # fails if the path exists, unlike a rename
        except FileExistsError:
            raise
        except OSError:  # a disk without links
            if os.path.lexists(self.path):
                raise self._appeared() from None
            made.rename(self.path)

    def _publish_folder(self, made: Path) -> None:
        if self.overwrite and os.path.lexists(self.path):
            replaced = self.work / "replaced"
            self.path.rename(replaced)
            try:
                self._check_own(replaced)
            except InputError:
                replaced.rename(self.path)
                raise
        try:
            made.rename(self.path)  # fails unless the path is an empty folder
        except OSError:
            if os.path.lexists(self.path):
                raise self._appeared() from None
            raise

    def _check_own(self, folder: Path) -> None:
        others = [p.name for p in folder.iterdir() if not (_OWN.fullmatch(p.name) and p.is_file())]
        refuse_others(self.path, others, "part-*.parquet or part-*.csv of an earlier run")

    def _appeared(self) -> InputError:
        return InputError(
            f"{self.path}: was created during the run, so nothing was written; expected a new name "
            "or --overwrite"
        )
