"""Every engine refuses a table that changes during the run, for any change."""

import os
import shutil

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from teddy.errors import InputError
from teddy.scale import sparsify_table
from teddy.scale.table import EdgeTable

ENGINES = ["memory", "stream", "duckdb"]


def table(first: int, rows: int = 40) -> pa.Table:
    """Rows of a graph on ids of two digits; all files of such have the same size."""
    pairs = [(10 + (first + i) % 17, 30 + (first + 3 * i) % 11) for i in range(rows)]
    return pa.table({"source": [a for a, _ in pairs], "target": [b for _, b in pairs]})


def write(rows: pa.Table, path) -> None:
    (csv.write_csv if path.suffix == ".csv" else parquet.write_table)(rows, path)


def in_place(rows: pa.Table, path) -> None:
    """Into the same inode, as by a program that opens the file and writes."""
    write(rows, path.with_name(f".new{path.suffix}"))
    new = path.with_name(f".new{path.suffix}").read_bytes()
    path.with_name(f".new{path.suffix}").unlink()
    with path.open("r+b") as file:
        file.write(new)
        file.truncate()


def same_size_and_time(path) -> None:
    before = path.stat()
    in_place(table(5), path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def by_rename(path) -> None:
    new = path.with_name(f".new{path.suffix}")
    shutil.copy(path, new)
    write(table(5), new)
    new.rename(path)


CHANGES = {
    "append": (lambda path: in_place(table(0, 60), path), "changed during the run"),
    "truncate": (lambda path: in_place(table(0, 20), path), "changed during the run"),
    "replace": (by_rename, "changed during the run"),
    "remove": (lambda path: path.unlink(), "was removed during the run"),
    "add": (
        lambda path: write(table(5), path.with_name(f"c{path.suffix}")), "was added during the run",
    ),
    "same size": (lambda path: in_place(table(5), path), "changed during the run"),
    "same size and time": (same_size_and_time, "changed during the run"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("engine", "when"),
    [*((engine, "at once") for engine in ENGINES), ("memory", "rows written")],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("change", CHANGES)
def test_changes(tmp_path, engine, suffix, change, when):
    make, message = CHANGES[change]
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        write(table(0 if name == "a" else 7), tmp_path / "in" / f"{name}{suffix}")
    done = []

    def progress(what, *_):
        if not done and when in ("at once", what):
            done.append(make(tmp_path / "in" / f"b{suffix}"))

    with pytest.raises(InputError, match=message) as error:
        sparsify_table(
            str(tmp_path / "in"), str(tmp_path / f"out{suffix}"), 0.5, engine=engine,
            progress=progress,
        )  # fmt: skip
    assert done
    assert "\n" not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_table_elsewhere_that_changes(tmp_path, spark):
    (tmp_path / "in").mkdir()
    write(table(0), tmp_path / "in/a.parquet")
    done = []

    def progress(*_):
        done or done.append(write(table(5), tmp_path / "in/b.parquet"))

    names = [f"file://{tmp_path}/{name}" for name in ("in", "out")]
    with pytest.raises(InputError, match="was added during the run"):
        sparsify_table(*names, 0.5, progress=progress)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_other_errors_are_not_hidden(tmp_path):
    write(table(0), tmp_path / "in.parquet")
    (tmp_path / "in.parquet").touch()
    opened = EdgeTable.open(str(tmp_path / "in.parquet"))
    with pytest.raises(ZeroDivisionError), opened.inputs.guarded():
        raise ZeroDivisionError
