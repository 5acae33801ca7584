"""Engine ``spark``: local or on a cluster, with Parquet files between the steps."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import torch
from py4j.protocol import Py4JError
from pyarrow import parquet
from pyspark.errors import PySparkException

from teddy.data.reading import reason
from teddy.errors import InputError
from teddy.scale.engine import EngineJob
from teddy.scale.output import Output
from teddy.scale.remote import RemoteOutput, RemoteTable
from teddy.scale.sql import SQLEngine

#: Exceptions that Spark raises when it fails.
FAILURES = (PySparkException, Py4JError)


class SparkEngine(SQLEngine):
    """Engine in the active Spark session, as under spark-submit, or in a new one."""

    failures = FAILURES

    def __init__(self, job: EngineJob) -> None:
        super().__init__(job)
        self.session, self._started = start_session(job.memory, job.spark_master, job.work)
        self.connection = ibis.pyspark.connect(self.session)

    def read(self) -> Any:
        """Ids ``source`` and ``target`` of each row, and ``row``: its number, or all its columns.

        Rows of a remote table have no number and stay in Spark.
        """
        table = self.job.table
        if not isinstance(table, RemoteTable):
            return super().read()
        from pyspark.sql import functions

        kind = "string" if table.text_ids else "bigint"
        columns = {"source": table.source, "target": table.target}
        named = {end: functions.col(f"`{name}`") for end, name in columns.items()}
        ids = {end: column.try_cast(kind) for end, column in named.items()}
        frame = self.session.read.parquet(table.name)
        for end, name in columns.items():
            same = ids[end].cast("string") == named[end].cast("string")
            wrong = frame.filter(~functions.coalesce(same, functions.lit(False))).count()
            if wrong:
                what = "text" if table.text_ids else "64-bit integers"
                raise InputError(
                    f"{table.name}: {name} in {wrong:,} rows is wrong, expected {what}"
                )
        ends = [ids[end].alias(end) for end in columns]
        return self._view("rows", frame.select(*ends, functions.struct("*").alias("row")))

    def open(self, path: Path) -> Any:
        """Open a Parquet file."""
        return self._view(path.stem, self.session.read.parquet(str(path)))

    def batches(self, table: Any) -> Iterator[pa.RecordBatch]:
        """Compute a table in batches, by way of files, since it may not fit into the driver."""
        path = Path(self.job.work) / "tables" / "batches"
        self.session.sql(self.connection.compile(table)).write.parquet(str(path))
        for file in sorted(path.glob("*.parquet")):
            yield from parquet.ParquetFile(file).iter_batches()

    def make(self, name: str, table: Any) -> Any:
        """Compute and store a table."""
        path = f"{self.job.work}/tables/{name}"
        self.session.sql(self.connection.compile(table)).write.parquet(path)
        return self._view(name, self.session.read.parquet(path))

    def write(self, output: Output | RemoteOutput) -> int:
        """Write the kept rows; return their number."""
        if isinstance(output, Output):
            return super().write(output)
        kept = self.connection.compile(self.kept(self.rows).select("row"))
        made = f"{output.work}/rows"
        self.session.sql(kept).select("row.*").write.parquet(made)
        self.job.table.inputs.check_unchanged()
        output.publish(made)
        return int(self.session.read.parquet(output.path).count())

    def _view(self, name: str, frame: Any) -> Any:
        view = f"teddy_{name}"
        frame.createOrReplaceTempView(view)
        self._views = {*getattr(self, "_views", ()), view}
        return self.connection.table(view)

    def close(self) -> None:
        """Drop the views from the session, and stop a session that the engine started."""
        for view in getattr(self, "_views", ()):
            self.session.catalog.dropTempView(view)
        if self._started:
            self.session.stop()


def start_session(
    memory: int, master: str | None, work: Path | str | None = None
) -> tuple[Any, bool]:
    """Return the active session, or a new one, and whether it is new.

    A new session is local, with torch's number of threads and the memory limit, unless a master is
    given or the program runs under spark-submit.
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
    try:
        return builder.getOrCreate(), True
    except (*FAILURES, RuntimeError) as error:
        raise InputError(f"Spark does not start: {reason(error)}") from error


def _check_java() -> None:
    """Raise unless Spark finds a Java that it supports."""
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java")
    if java is None or not shutil.which(java):
        raise InputError("the spark engine needs Java 17 or later, found none")
    output = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    words = output.split('"')
    version = words[1] if len(words) > 1 else ""
    if not version.split(".")[0].isdigit() or int(version.split(".")[0]) < 17:
        raise InputError(f"the spark engine needs Java 17 or later, got '{version or output[:40]}'")
