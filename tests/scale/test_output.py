"""The output never takes the place of something else."""

import pytest

from scale.tables import places, write
from teddy.errors import InputError
from teddy.scale import sparsify_table

ROWS = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)]
LEFT = [0, 3, 4]


@pytest.fixture
def table(tmp_path):
    return write(tmp_path / "in.parquet", ROWS)


def appearing(make):
    """A progress that makes something as the rows are written."""
    done = []

    def progress(what, *_):
        if what == "rows written" and not done:
            done.append(make())

    return progress


@pytest.mark.parametrize("name", ["thesis.txt", "edges.parquet", ".git/config", "part-1.parquet"])
def test_a_folder_with_other_files(tmp_path, table, name):
    out = tmp_path / "out"
    sparsify_table(table, str(out), 0.5)
    (out / name).parent.mkdir(exist_ok=True)
    (out / name).write_text("mine")
    shown = name.split("/")[0]
    with pytest.raises(InputError, match=f"holds {shown}, which --overwrite would delete"):
        sparsify_table(table, str(out), 0.5, overwrite=True)
    assert (out / name).read_text() == "mine"
    assert (out / "part-00000.parquet").exists()


def test_other_files_that_appear(tmp_path, table):
    out = tmp_path / "out"
    sparsify_table(table, str(out), 0.5)
    before = (out / "part-00000.parquet").read_bytes()
    with pytest.raises(InputError, match="holds mine, which --overwrite would delete"):
        sparsify_table(
            table, str(out), 0.9, overwrite=True, progress=appearing((out / "mine").touch)
        )
    assert (out / "mine").exists()
    assert (out / "part-00000.parquet").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "out"]


def test_folders_of_ours_are_replaced(tmp_path, table):
    out = tmp_path / "out"
    out.mkdir()
    for _ in range(2):
        sparsify_table(table, str(out), 0.5, overwrite=True)
        assert places(out) == LEFT
        (out / "_SUCCESS").touch()


@pytest.mark.parametrize("engine", ["memory", "stream", "duckdb"])
def test_a_file_that_appears(tmp_path, table, engine):
    out = tmp_path / "out.parquet"
    progress = appearing(lambda: out.write_text("mine"))
    with pytest.raises(InputError, match="was created during the run"):
        sparsify_table(table, str(out), 0.5, engine=engine, progress=progress)
    assert out.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "out.parquet"]


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_that_appears(tmp_path, table, kind, overwrite):
    out = tmp_path / ("out.parquet" if kind == "file" else "out")

    def make():
        out.mkdir()
        (out / "mine").touch()

    with pytest.raises(InputError):
        sparsify_table(table, str(out), 0.5, overwrite=overwrite, progress=appearing(make))
    assert (out / "mine").exists()


def test_a_disk_without_links(tmp_path, table, monkeypatch):
    import os

    def link(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    out = tmp_path / "out.parquet"
    sparsify_table(table, str(out), 0.5)
    assert places(out) == LEFT
    out.unlink()
    progress = appearing(lambda: out.write_text("mine"))
    with pytest.raises(InputError, match="was created during the run"):
        sparsify_table(table, str(out), 0.5, progress=progress)
    assert out.read_text() == "mine"


def test_spark_does_not_delete_other_files(tmp_path, table, spark):
    names = [f"file://{table}", f"file://{tmp_path}/out"]
    (tmp_path / "out").mkdir()
    for name in ("_SUCCESS", "part-00000-1.snappy.parquet", "mine"):
        (tmp_path / "out" / name).touch()
    with pytest.raises(InputError, match="holds mine, which --overwrite would delete"):
        sparsify_table(*names, 0.5, overwrite=True)
    assert (tmp_path / "out" / "mine").exists()


def test_spark_does_not_replace_a_file_that_appears(tmp_path, table, spark):
    def make(*_):
        (tmp_path / "out").mkdir(exist_ok=True)

    with pytest.raises(InputError, match="exists, expected a new name"):
        sparsify_table(f"file://{table}", f"file://{tmp_path}/out", 0.5, progress=make)
    assert list((tmp_path / "out").iterdir()) == []
