"""Remote tables and outputs, which Spark resolves: ``hdfs://``, ``s3a://``, ``file://``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from teddy.data.reading import reason
from teddy.errors import InputError
from teddy.scale.columns import check_ids, find_ends
from teddy.scale.files import (
    FileState,
    InputFiles,
    is_left_out,
    is_marker,
    refuse_left_out,
    refuse_table_formats,
)
from teddy.scale.output import refuse_others
from teddy.scale.parquet_files import has_text_ids
from teddy.scale.table import EdgeTable

# Files that Spark writes to a folder.
_OWN = re.compile(r"part-\d{5,}-.*\.parquet|_SUCCESS|\..*\.crc")


@dataclass(frozen=True)
class RemoteInputFiles(InputFiles):
    """Files of a remote table, each with its size and time."""

    folder: RemoteFolder

    @staticmethod
    def from_session(session: Any, name: str) -> RemoteInputFiles:
        """Find the files of a table, with their current states."""
        folder = RemoteFolder(session, name)
        return RemoteInputFiles(name, folder.states(name), folder)

    def now(self) -> dict[str, FileState]:
        """Current files and states."""
        return self.folder.states(self.name)


class RemoteFolder:
    """Remote folder, as Hadoop lists it."""

    def __init__(self, session: Any, path: str) -> None:
        self.as_path: Any = session._jvm.org.apache.hadoop.fs.Path
        configuration = session._jsc.hadoopConfiguration()
        self.system: Any = self.as_path(path).getFileSystem(configuration)

    def states(self, name: str) -> dict[str, FileState]:
        """States of all files of a table; raise if Spark would skip some, or read removed rows."""
        states: dict[str, FileState] = {}
        left_out, folders = [], set()
        for status in self._below(self.system.globStatus(self.as_path(name)) or ()):
            path = str(status.getPath().toString())
            above = status.getPath().getParent()
            while above is not None:
                folders.add(str(above.toString()))
                above = above.getParent()
            if is_left_out(status.getPath().getName()):
                left_out.append(path)
            else:
                states[path] = (int(status.getLen()), int(status.getModificationTime()))
        refuse_table_formats(name, folders, self._has)
        refuse_left_out(name, left_out)
        return dict(sorted(states.items()))

    def _below(self, statuses: Any) -> Iterator[Any]:
        for status in statuses:
            name = status.getPath().getName()
            if is_marker(name):
                continue
            if status.isDirectory() and not is_left_out(name):
                yield from self._below(self.system.listStatus(status.getPath()))
            else:
                yield status

    def _has(self, folder: str, pattern: str) -> bool:
        escaped = re.sub(r"([*?\[\]{}\\])", r"\\\1", folder.rstrip("/"))
        return bool(self.system.globStatus(self.as_path(f"{escaped}/{pattern}")))


@dataclass(frozen=True)
class RemoteTable(EdgeTable):
    """A remote table in Parquet: ``hdfs://``, ``s3a://``, ``file://``."""

    @staticmethod
    def from_session(
        session: Any, name: str, source: str | None, target: str | None, ids: str
    ) -> EdgeTable:
        """Open a table."""
        check_ids(ids)
        from pyspark.errors import AnalysisException
        from pyspark.sql.pandas.types import to_arrow_schema

        inputs = RemoteInputFiles.from_session(session, name)
        try:
            frame = session.read.parquet(name)
        except AnalysisException as error:
            raise InputError(f"{name}: {reason(error)}") from None
        schema = to_arrow_schema(frame.schema)
        ends = find_ends(name, schema, source, target)
        text = has_text_ids(name, schema, ends, ids)
        rows = int(frame.count())
        below = int(session.read.option("recursiveFileLookup", "true").parquet(name).count())
        if rows != below:  # Spark skips files at other depths
            raise InputError(
                f"{name}: Spark reads {rows:,} of {below:,} rows, expected all files in folders of "
                "one depth; give a pattern"
            )
        return RemoteTable(inputs, "parquet", schema, *ends, text, (rows,), 0)


class RemoteOutput:
    """A remote folder of Parquet, moved into place when it is complete.

    Attributes:
        work: Folder for temporary files.
    """

    def __init__(self, session: Any, table: str, path: str, overwrite: bool) -> None:
        self.path, self.work = path.rstrip("/"), f"{path.rstrip('/')}.teddy"
        self._folder = RemoteFolder(session, path)
        self._as_path, self._files = self._folder.as_path, self._folder.system
        self._overwrite = overwrite
        if f"{self._qualified(table)}/".startswith(f"{self._qualified(self.path)}/"):
            raise InputError(f"{path}: holds the input, expected another place")
        if f"{self._qualified(self.path)}/".startswith(f"{self._qualified(table)}/"):
            raise InputError(f"{path}: is in the input's folder, expected another place")
        self._replaced = f"{self.path}.teddy-replaced"
        if self._exists(self._replaced) and not self._exists(self.path):
            self._rename(self._replaced, self.path)  # killed between the renames
        self._check_replaceable()

    def __enter__(self) -> RemoteOutput:
        self._remove(self.work)
        return self

    def __exit__(self, *error: object) -> None:
        self._remove(self.work)

    def _check_replaceable(self) -> None:
        """Raise if something exists that may not be replaced."""
        if not self._exists(self.path):
            return
        if not self._overwrite:
            raise InputError(f"{self.path}: exists, expected a new name or --overwrite")
        entries = self._files.listStatus(self._as_path(self.path))
        names = (str(entry.getPath().getName()) for entry in entries)
        others = [name for name in names if not _OWN.fullmatch(name)]
        refuse_others(self.path, others, "part-*.parquet of Spark")

    def publish(self, made: str) -> None:
        """Move a complete folder into place, then delete the replaced one."""
        self._check_replaceable()
        exists = self._exists(self.path)
        if exists:
            self._remove(self._replaced)
            self._rename(self.path, self._replaced)
        try:
            self._rename(made, self.path)
        except InputError:
            if exists:
                self._rename(self._replaced, self.path)
            raise
        self._remove(self._replaced)

    def _rename(self, old: str, new: str) -> None:
        if not self._files.rename(self._as_path(old), self._as_path(new)):
            raise InputError(f"{self.path}: cannot be written, expected write permission")

    def _qualified(self, path: str) -> str:
        return str(self._files.makeQualified(self._as_path(path)).toString()).rstrip("/")

    def _exists(self, path: str) -> bool:
        return bool(self._files.exists(self._as_path(path)))

    def _remove(self, path: str) -> None:
        self._files.delete(self._as_path(path), True)
