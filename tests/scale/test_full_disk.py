"""A disk that is full is an error that names the file, and no edge is lost."""

import os
import resource
import signal
import subprocess

import numpy as np
import pytest

from cli.command import run_forked
from scale.tables import write
from teddy.errors import InputError
from teddy.scale import buckets, sparsify_table
from teddy.scale.buckets import Buckets
from teddy.scale.row_writer import RowWriter

ROWS = 40_000  # 320 KB of keys


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 400 KB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", folder], capture_output=True,
        check=False,
    ).returncode:  # fmt: skip
        pytest.skip("a small disk needs the right to mount one")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)  # even if a file is still open


def limit_files(size):
    """No file larger than this, in this process."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


@pytest.fixture
def small_files():
    """No file larger than 100,000 bytes, not a multiple of a key's."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    yield lambda: limit_files(100_004)
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def fill(files: Buckets, rows: int) -> None:
    ids = np.arange(rows)
    files.add(ids, ids + 1)
    for _ in files.unique():
        pass


def test_keys_that_are_not_written(tmp_path, small_files):
    files = Buckets(tmp_path, ROWS, 16, False)
    small_files()
    with pytest.raises(InputError, match=r"bucket-000: the disk is full \(File too large\)"):
        fill(files, ROWS)


def test_the_last_keys_are_not_written(tmp_path, monkeypatch):
    """Few enough to wait in a buffer, where ndarray.tofile leaves them without an error."""
    full = "/dev/full"
    if not os.path.exists(full):  # noqa: PTH110
        pytest.skip("no /dev/full here")
    files = Buckets(tmp_path, 100, 16, False)
    (tmp_path / "bucket-000").unlink()
    (tmp_path / "bucket-000").symlink_to(full)
    with pytest.raises(InputError, match=r"bucket-000: the disk is full \(No space left"):
        fill(files, 100)


def test_keys_that_get_lost(tmp_path):
    files = Buckets(tmp_path, 100, 16, False)
    ids = np.arange(100)
    files.add(ids, ids + 1)
    files._write([0])
    with (tmp_path / "bucket-000").open("r+b") as file:
        file.truncate(400)
    with pytest.raises(InputError, match=r"400 bytes of edges, expected 800"):
        list(files.unique())


def test_keys_that_get_lost_later(tmp_path, monkeypatch):
    monkeypatch.setattr(buckets, "CHUNK", 10)
    files = Buckets(tmp_path, 100, 16, False)
    fill(files, 100)
    assert sum(keys.size for keys in files.chunks()) == 100
    (tmp_path / "bucket-000").write_bytes(b"")
    with pytest.raises(InputError, match=r"0 bytes of edges, expected 800"):
        list(files.chunks())


def write_all(writer: RowWriter, rows) -> None:
    writer.write(rows)
    writer.close()


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_rows_that_are_not_written(tmp_path, small_files, kind):
    import pyarrow as pa

    text = pa.array(np.random.default_rng(0).bytes(40).hex() + str(i) for i in range(20_000))
    rows = pa.record_batch({"a": text})
    writer = RowWriter(tmp_path / "rows", kind, rows.schema, one_file=True, group=1000)
    small_files()
    with pytest.raises(InputError, match=r"rows: the disk is full \(File too large\)"):
        write_all(writer, rows)


def table_of(folder, rows: int) -> str:
    ends = np.random.default_rng(0).integers(0, 20_000, (rows, 2))
    return write(folder / "in.parquet", ends.tolist())


@pytest.mark.parametrize("engine", ["memory", "stream", "duckdb"])
@pytest.mark.parametrize("rows", [4_000, 51_000])
def test_a_small_disk(tmp_path, small_disk, engine, rows):
    """The output is whole, or there is one line and nothing."""
    table, out, error = table_of(tmp_path, rows), small_disk / "out.parquet", ""
    try:
        sparsify_table(table, str(out), 0.9, engine=engine)
    except InputError as raised:
        error = str(raised)
    if error:
        assert error.startswith(str(small_disk))
        assert "the disk is full (No space left on device)" in error
        assert "\n" not in error
        assert list(small_disk.iterdir()) == []
    else:
        sparsify_table(table, str(tmp_path / "out.parquet"), 0.9, engine="memory")
        assert out.read_bytes() == (tmp_path / "out.parquet").read_bytes()


def test_a_small_disk_on_the_command_line(tmp_path, small_disk):
    arguments = [table_of(tmp_path, 60_000), small_disk / "out.parquet", "--sparsity", "0.9"]
    done = run_forked("sparsify", *arguments, "--engine", "stream")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "bucket-000: the disk is full (No space left on device)" in done.stderr
