"""Files of a folder: each is read or refused, none is skipped without a word."""

import gzip
import os
import shutil
from pathlib import Path
from tempfile import mkdtemp

import pytest

from scale.tables import places, write
from teddy.errors import InputError
from teddy.scale import sparsify_table
from teddy.scale.files import find_files

ROWS = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)]
LEFT = [0, 3, 4]
ENGINES = ["memory", "stream", "duckdb"]
TEXT = "source,target,place\n" + "".join(f"{a},{b},{i}\n" for i, (a, b) in enumerate(ROWS))


def sparsify(table, out, **options):
    return sparsify_table(str(table), str(out), 0.5, **options)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def csv(folder: Path, name: str, rows: slice = slice(None)) -> None:
    """Rows of the table to a file in the format of its name."""
    lines = TEXT.splitlines(keepends=True)
    text = "".join([lines[0], *lines[1:][rows]])
    text = text.replace(",", "\t") if ".tsv" in name else text
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())


@pytest.mark.parametrize("engine", ENGINES)
def test_packed_and_with_tabs(folder, tmp_path, engine):
    csv(folder, "a.csv.gz", slice(0, 1))
    csv(folder, "b.tsv", slice(1, 2))
    csv(folder, "c.tsv.gz", slice(2, 3))
    csv(folder, "d.CSV", slice(3, 5))
    assert sparsify(folder, tmp_path / "out.csv", engine=engine).rows["total"] == 5
    assert places(tmp_path / "out.csv") == LEFT


@pytest.mark.parametrize("engine", ENGINES)
def test_partitions(folder, tmp_path, engine):
    """Spark reads these, although their names begin with a line."""
    for i in range(3):
        write(_made(folder / f"_p={i}") / "a.parquet", ROWS)
    assert sparsify(folder, tmp_path / "out.parquet", engine=engine).rows["total"] == 15


def _made(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize("engine", ENGINES)
def test_links(folder, tmp_path, engine):
    write(_made(tmp_path / "elsewhere") / "b.parquet", ROWS)
    write(folder / "a.parquet", ROWS)
    (folder / "more").symlink_to(tmp_path / "elsewhere")
    (folder / "c.parquet").symlink_to(folder / "a.parquet")
    assert sparsify(folder, tmp_path / "out.parquet", engine=engine).rows["total"] == 15


@pytest.mark.parametrize(
    "name",
    ["notes.txt", "part-00000", "b.csv.bz2", "b.orc", "_edges.csv", "_temporary/0/b.csv",
     "deep/er/b.json", "b.csv._COPYING_"],
)  # fmt: skip
@pytest.mark.parametrize("pattern", ["", "/*", "/**"])
def test_unreadable_files_are_refused(folder, tmp_path, name, pattern):
    csv(folder, "a.csv")
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "a.csv", folder / name)
    if name == "_edges.csv" and pattern:
        assert len(find_files(f"{folder}{pattern}")) == 2  # a pattern names it
        return
    with pytest.raises(InputError, match=r"holds .*, expected \.parquet") as error:
        sparsify(f"{folder}{pattern}", tmp_path / "out.csv")
    assert name.split("/")[0] in str(error.value)
    assert "\n" not in str(error.value)
    sparsify(folder / "*.csv" if name != "_edges.csv" else folder / "a*", tmp_path / "out.csv")
    assert places(tmp_path / "out.csv") == LEFT


def test_markers_are_ignored(folder, tmp_path):
    write(folder / "a.parquet", ROWS)
    for name in ("_SUCCESS", "_metadata", "_common_metadata", ".a.parquet.crc", "_committed_17"):
        (folder / name).write_text("x")
    write(_made(folder / ".hidden") / "b.parquet", ROWS)
    for pattern in ("", "/*"):
        assert find_files(f"{folder}{pattern}") == (folder / "a.parquet",)


def test_spark_refuses_the_same(folder, spark):
    from teddy.scale.remote import RemoteTable

    for name in ("_SUCCESS", ".a.parquet.crc"):
        (folder / name).write_text("x")
    for i in range(2):
        write(_made(folder / f"_p={i}") / "a.parquet", ROWS)
    options = (f"file://{folder}", None, None, "auto")
    assert RemoteTable.from_session(spark, *options).num_rows == 10
    for name, message in (
        ("_b.parquet", r"holds .*_b\.parquet"),
        ("b.parquet", "Spark reads 10 of 15 rows, expected all"),
        ("_delta_log", "is a Delta table"),
    ):
        write(folder / name, ROWS)
        with pytest.raises(InputError, match=message):
            RemoteTable.from_session(spark, *options)
        (folder / name).unlink()


@pytest.mark.parametrize("pattern", ["in", "in/*", "in/**/*.csv"])
def test_folders_that_a_pattern_fits(folder, tmp_path, pattern):
    csv(folder, "a.csv")
    csv(folder, "year=2020/b.csv")
    assert sparsify(tmp_path / pattern, tmp_path / "out.csv").rows["total"] == 10
    with pytest.raises(InputError, match="is in the input's folder"):
        sparsify(tmp_path / "i*", folder / "out.csv")


@pytest.mark.parametrize("pattern", ["", "/*", "/*/*.csv", "/**/*.csv"])
def test_folders_that_cannot_be_read(pattern):
    if os.geteuid():
        pytest.skip("only root can become another user")
    folder = Path(mkdtemp())
    folder.chmod(0o755)
    csv(folder, "a.csv")
    csv(folder, "one/b.csv")
    csv(folder, "two/b.csv")
    (folder / "two").chmod(0)
    os.seteuid(65534)
    try:
        with pytest.raises(InputError, match=r"two: cannot be read \(Permission denied\)"):
            find_files(f"{folder}{pattern}")
    finally:
        os.seteuid(0)
        shutil.rmtree(folder)


def test_folders_that_hold_themselves(folder):
    csv(folder, "a.csv")
    (folder / "again").symlink_to(folder)
    with pytest.raises(InputError, match=r"holds .*again"):
        find_files(str(folder))
    (folder / "again").unlink()
    (folder / "gone.csv").symlink_to(folder / "none.csv")
    with pytest.raises(InputError, match=r"holds .*gone\.csv"):
        find_files(str(folder))


def test_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "in.csv")
    with pytest.raises(InputError, match="is neither a file nor a folder"):
        find_files(str(tmp_path / "in.csv"))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("kind", "log"),
    [("Delta", "_delta_log/00000.json"), ("Hudi", ".hoodie/hoodie.properties"),
     ("Iceberg", "metadata/v1.metadata.json")],
)  # fmt: skip
@pytest.mark.parametrize("pattern", ["", "/data", "/data/*.parquet", "/data/a.parquet", "/**"])
def test_tables_with_a_log(folder, tmp_path, engine, kind, log, pattern):
    """Their folders hold rows that were removed; a part of such a folder does, too."""
    write(_made(folder / "data") / "a.parquet", ROWS)
    _made((folder / log).parent)
    (folder / log).write_text("{}")
    with pytest.raises(InputError, match=f"in is a {kind} table, .*write its current rows"):
        sparsify(f"{folder}{pattern}", tmp_path / "out.parquet", engine=engine)
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("name", ["out.tsv", "out.csv.gz"])
def test_suffixes_that_are_not_written(folder, tmp_path, name):
    csv(folder, "a.csv")
    with pytest.raises(
        InputError, match=r"is not supported, expected \.parquet, \.csv or a folder"
    ):
        sparsify(folder, tmp_path / name)


def test_a_packed_file_that_is_cut(folder, tmp_path):
    csv(folder, "a.csv.gz")
    whole = (folder / "a.csv.gz").read_bytes()
    for damaged in (whole[:-9], whole[:-8] + b"12345678", whole + b"more"):
        (folder / "a.csv.gz").write_bytes(damaged)
        with pytest.raises(InputError, match=r"a\.csv\.gz"):
            sparsify(folder, tmp_path / "out.csv")
    (folder / "a.csv.gz").write_bytes(whole + gzip.compress(b"7,8,5\n"))
    assert sparsify(folder, tmp_path / "out.csv").rows["total"] == 6
