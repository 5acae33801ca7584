"""``spark``: here, or on a cluster; tables are Parquet files between the steps."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ibis
import torch

from teddy.data.reading import reason
from teddy.errors import InputError
from teddy.scale.engine import Job
from teddy.scale.output import Output
from teddy.scale.sql import SQLEngine, copy_ids
from teddy.scale.table import EdgeTable, find_ends, has_text_ids


class SparkEngine(SQLEngine):
    """Speaks to the session that there is, as under spark-submit, or starts one."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.session, self._started = start_session(job.memory, job.spark_master, job.work)
        self.connection = ibis.pyspark.connect(self.session)

    def read(self) -> Any:
        """Ids ``source`` and ``target`` of each row, and ``row``: its number, or all its columns.

        Rows of a table elsewhere have no numbers; they never come here.
        """
        table = self.job.table
        if not isinstance(table, RemoteTable):
            return self._view("rows", self.session.read.parquet(str(copy_ids(self.job))))
        from pyspark.sql import functions

        kind = "string" if table.text_ids else "bigint"
        ids = {"source": table.source, "target": table.target}
        frame = self.session.read.parquet(table.name).select(
            *(functions.col(name).try_cast(kind).alias(end) for end, name in ids.items()),
            functions.struct("*").alias("row"),
        )
        return self._view("rows", frame)

    def make(self, name: str, table: Any) -> Any:
        """Compute a table and keep it."""
        path = f"{self.job.work}/tables/{name}"
        self.session.sql(self.connection.compile(table)).write.parquet(path)
        return self._view(name, self.session.read.parquet(path))

    def write(self, output: Output | RemoteOutput) -> int:
        """Write the rows that stay; return how many."""
        if isinstance(output, Output):
            return super().write(output)
        kept = self.connection.compile(self.kept(self.rows).select("row"))
        made = f"{output.work}/rows"
        self.session.sql(kept).select("row.*").write.parquet(made)
        output.publish(made)
        return int(self.session.read.parquet(output.path).count())

    def _view(self, name: str, frame: Any) -> Any:
        view = f"teddy_{name}"
        frame.createOrReplaceTempView(view)
        self._views = {*getattr(self, "_views", ()), view}
        return self.connection.table(view)

    def close(self) -> None:
        """Leave a session that was there as it was, and end one that wasn't."""
        for view in getattr(self, "_views", ()):
            self.session.catalog.dropTempView(view)
        if self._started:
            self.session.stop()


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
        self._overwrite = overwrite
        if f"{self._qualified(table)}/".startswith(f"{self._qualified(self.path)}/"):
            raise InputError(f"{path}: holds the input, expected another place")
        if self._exists(self.path) and not overwrite:
            raise InputError(f"{path}: exists, expected a new name or --overwrite")

    def __enter__(self) -> RemoteOutput:
        self._remove(self.work)
        return self

    def __exit__(self, *error: object) -> None:
        self._remove(self.work)

    def publish(self, made: str) -> None:
        """Put a whole folder in its place."""
        if self._exists(self.path):
            self._remove(self.path)
        if not self._files.rename(self._as_path(made), self._as_path(self.path)):
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


def start_session(
    memory: int, master: str | None, work: Path | str | None = None
) -> tuple[Any, bool]:
    """The session that there is, or a new one, and whether it is new.

    A new one runs here, on as many threads as torch does and in as much memory as it may take,
    unless a master is given or spark-submit has started us.
    """
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active, False
    builder = SparkSession.builder.appName("teddy sparsify")
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # not under spark-submit
        _check_java()
        threads, megabytes = torch.get_num_threads(), max(memory // 1_000_000 - 500, 500)
        settings: dict[str, Any] = {
            "spark.driver.memory": f"{megabytes}m",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
        }
        if work is not None:
            settings["spark.local.dir"] = f"{work}/shuffled"
        if master is None or master.startswith("local"):
            settings["spark.sql.shuffle.partitions"] = str(max(4 * threads, 8))
            settings["spark.driver.host"] = settings["spark.driver.bindAddress"] = "127.0.0.1"
        builder = builder.master(master or f"local[{threads}]").config(map=settings)
    return builder.getOrCreate(), True


def _check_java() -> None:
    """Raise unless there is a Java that Spark runs on."""
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java")
    if java is None or not shutil.which(java):
        raise InputError("the spark engine needs Java 17 or later, found none")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    words = said.split('"')
    version = words[1] if len(words) > 1 else ""
    if not version.split(".")[0].isdigit() or int(version.split(".")[0]) < 17:
        raise InputError(f"the spark engine needs Java 17 or later, got '{version or said[:40]}'")
