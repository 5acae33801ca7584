"""Tables and outputs whose names Spark resolves: ``hdfs://``, ``s3a://``, ``file://``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from teddy.data.reading import reason
from teddy.errors import InputError
from teddy.scale.columns import check_ids, find_ends
from teddy.scale.parquet_files import has_text_ids
from teddy.scale.table import EdgeTable


@dataclass(frozen=True)
class RemoteTable(EdgeTable):
    """A table in Parquet wherever Spark reads: ``hdfs://``, ``s3a://``, ``file://``.

    Attributes:
        rows: Its rows.
    """

    rows: int = 0

    @property
    def num_rows(self) -> int:
        """Its rows."""
        return self.rows

    @staticmethod
    def at(session: Any, name: str, source: str | None, target: str | None, ids: str) -> EdgeTable:
        """Look at a table."""
        check_ids(ids)
        from pyspark.errors import AnalysisException
        from pyspark.sql.pandas.types import to_arrow_schema

        try:
            frame = session.read.parquet(name)
        except AnalysisException as error:
            raise InputError(f"{name}: {reason(error)}") from None
        schema = to_arrow_schema(frame.schema)
        ends = find_ends(name, schema, source, target)
        text = has_text_ids(name, schema, ends, ids)
        return RemoteTable(name, (), "parquet", schema, *ends, text, frame.count())


class RemoteOutput:
    """A folder of Parquet wherever Spark writes, put in its place when it is whole.

    Args:
        session: Of Spark.
        table: The input, which it can't replace.
        path: The folder.
        overwrite: Whether it may be replaced.

    Attributes:
        work: A place for whatever the run needs, beside it.
    """

    def __init__(self, session: Any, table: str, path: str, overwrite: bool) -> None:
        self.path, self.work = path.rstrip("/"), f"{path.rstrip('/')}.teddy"
        jvm: Any = session._jvm
        self._as_path = jvm.org.apache.hadoop.fs.Path
        self._files = self._as_path(path).getFileSystem(session._jsc.hadoopConfiguration())
        if f"{self._qualified(table)}/".startswith(f"{self._qualified(self.path)}/"):
            raise InputError(f"{path}: holds the input, expected another place")
        if f"{self._qualified(self.path)}/".startswith(f"{self._qualified(table)}/"):
            raise InputError(f"{path}: is in the input's folder, expected another place")
        self._restore()
        if self._exists(self.path) and not overwrite:
            raise InputError(f"{path}: exists, expected a new name or --overwrite")

    def __enter__(self) -> RemoteOutput:
        self._remove(self.work)
        return self

    def __exit__(self, *error: object) -> None:
        self._remove(self.work)

    @property
    def _replaced(self) -> str:
        return f"{self.path}.teddy-replaced"

    def _restore(self) -> None:
        """Put back what a run had moved that was killed between its two renames."""
        if self._exists(self._replaced) and not self._exists(self.path):
            self._rename(self._replaced, self.path)

    def publish(self, made: str) -> None:
        """Put a whole folder in its place; what was there goes when it is."""
        old = self._replaced
        there = self._exists(self.path)
        if there:
            self._remove(old)
            self._rename(self.path, old)
        try:
            self._rename(made, self.path)
        except InputError:
            if there:
                self._rename(old, self.path)
            raise
        self._remove(old)

    def _rename(self, old: str, new: str) -> None:
        if not self._files.rename(self._as_path(old), self._as_path(new)):
            raise InputError(f"{self.path}: can't be written")

    def _qualified(self, path: str) -> str:
        return str(self._files.makeQualified(self._as_path(path)).toString()).rstrip("/")

    def _exists(self, path: str) -> bool:
        return bool(self._files.exists(self._as_path(path)))

    def _remove(self, path: str) -> None:
        self._files.delete(self._as_path(path), True)


def is_remote(path: str) -> bool:
    """Whether a path is for Spark to resolve.

    Example:
        >>> is_remote("s3a://bucket/edges"), is_remote("edges.parquet")
        (True, False)
    """
    return "://" in path
