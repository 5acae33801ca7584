"""Spark where it resolves names itself, as on a cluster, and without what it needs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import parquet

from scale.reference import kept_rows
from scale.tables import write
from teddy.errors import InputError
from teddy.scale import sparsify_table

ROWS = [(i % 17, i % 11) for i in range(60)]


def test_a_table_elsewhere(tmp_path, spark):
    write(tmp_path / "in", ROWS, files=3)
    table, out = f"file://{tmp_path}/in", f"file://{tmp_path}/out"
    done = sparsify_table(table, out, 0.5)
    assert (done.engine, done.reason) == ("spark", "the table is remote")
    stays = kept_rows(ROWS, 0.5)
    left = parquet.read_table(tmp_path / "out")
    assert sorted(left["place"].to_pylist()) == [i for i, stay in enumerate(stays) if stay]
    assert left.column_names == ["source", "target", "place"]
    assert done.rows == {"total": 60, "kept": sum(stays)}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]
    with pytest.raises(InputError, match="exists, expected a new name or --overwrite"):
        sparsify_table(table, out, 0.5)
    for place in (table, f"file://{tmp_path}"):
        with pytest.raises(InputError, match="holds the input"):
            sparsify_table(table, place, 0.5, overwrite=True)
    sparsify_table(table, out, 1.0, overwrite=True)
    assert all(a == b for a, b in zip(*parquet.read_table(tmp_path / "out").columns[:2]))  # noqa: B905


def test_bad_tables_elsewhere(tmp_path, spark):
    for table, message in (
        (f"file://{tmp_path}/none", "PATH_NOT_FOUND"),
        (f"file://{write(tmp_path / 'in.parquet', ROWS)}", "no column 'a'"),
    ):
        with pytest.raises(InputError, match=message) as error:
            sparsify_table(table, f"file://{tmp_path}/out", 0.5, source="a", target="target")
        assert "\n" not in str(error.value)


def test_no_java(tmp_path, monkeypatch):
    pytest.importorskip("pyspark")
    from teddy.scale import spark as module

    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="needs Java 17 or later, found none"):
        module._check_java()
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)
    with pytest.raises(InputError, match=r"Java 17 or later, got '11\.0\.2'"):
        module._check_java()


@pytest.mark.slow
def test_spark_submit(tmp_path):
    """The line of the docs, with another master."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17 or later, found none")
    write(tmp_path / "in", ROWS, files=3)
    (tmp_path / "job.py").write_text("from teddy.cli import main; main()\n")
    own = Path(sys.executable).parent
    path = {**os.environ, "PATH": f"{own}:{os.environ['PATH']}"}  # as after `activate`
    submit = [own / "spark-submit", "--master", "local[2]", "job.py"]
    names = [f"file://{tmp_path}/{name}" for name in ("in", "out")]
    command = [*submit, "sparsify", *names, "--sparsity", "0.5", "--json"]
    done = subprocess.run(
        command, cwd=tmp_path, env=path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    stays = kept_rows(ROWS, 0.5)
    left = parquet.read_table(tmp_path / "out")["place"].to_pylist()
    assert sorted(left) == [i for i, stay in enumerate(stays) if stay]
