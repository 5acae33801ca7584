"""A run that is killed leaves nothing that looks finished, and the next one is right."""

import multiprocessing
import time

import numpy as np
import pytest

from cli.command import fork
from scale.tables import places, write
from teddy.errors import InputError
from teddy.scale import sparsify_table


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rows = np.random.default_rng(0).integers(0, 20_000, (200_000, 2))
    return write(tmp_path_factory.mktemp("in") / "in.parquet", rows.tolist())


@pytest.fixture(scope="module")
def expected(table, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "out.parquet"
    sparsify_table(table, str(out), 0.64, engine="memory")
    return out.read_bytes()


@pytest.mark.parametrize(
    ("engine", "steps"),
    [("memory", 1), ("memory", 2)]
    + [(engine, steps) for engine in ("stream", "duckdb") for steps in (1, 7)]
    + [pytest.param(engine, 3, marks=pytest.mark.slow) for engine in ("stream", "duckdb")]
    + [pytest.param("spark", steps, marks=pytest.mark.slow) for steps in (5, 13)],
)
def test_kill_9(tmp_path, table, expected, engine, steps, request):
    if engine == "spark":
        request.getfixturevalue("spark")
    out = tmp_path / "out.parquet"
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = fork(_run, table, str(out), engine, theirs)
    theirs.close()
    for _ in range(steps):
        assert ours.poll(60)
        assert ours.recv()
    time.sleep(0.01 * steps)
    process.kill()
    process.join()
    assert not out.exists() or out.read_bytes() == expected
    sparsify_table(table, str(out), 0.64, engine=engine, overwrite=True)
    assert out.read_bytes() == expected
    assert [path.name for path in tmp_path.iterdir()] == ["out.parquet"]


def _run(table, out, engine, steps):
    def progress(what, done, total):
        steps.send(what)

    sparsify_table(table, out, 0.64, engine=engine, overwrite=True, progress=progress)


@pytest.mark.parametrize("engine", ["memory", "stream", "duckdb"])
def test_existing_output_stays(tmp_path, table, engine):
    """After an error during the write, as on a full disk, the old file is unchanged."""
    out = tmp_path / "out.parquet"
    out.write_bytes(b"old")

    def fail(what, done, total):
        if what == "rows written":
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        sparsify_table(table, str(out), 0.64, engine=engine, overwrite=True, progress=fail)
    assert out.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.parquet"]


def test_interrupt(tmp_path, table):
    def fail(what, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sparsify_table(table, str(tmp_path / "out"), 0.64, engine="stream", progress=fail)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_replaced_whole(tmp_path, table):
    for sparsity in (0.9, 0.5):
        sparsify_table(table, str(tmp_path / "out"), sparsity, engine="stream", overwrite=True)
    sparsify_table(table, str(tmp_path / "one.parquet"), 0.5, engine="stream")
    assert places(tmp_path / "out") == places(tmp_path / "one.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.parquet", "out"]


def test_a_kill_between_two_renames_loses_nothing(tmp_path, table):
    sparsify_table(table, str(tmp_path / "out"), 0.5, engine="stream")
    before = places(tmp_path / "out")
    (tmp_path / ".out.teddy").mkdir()
    (tmp_path / "out").rename(tmp_path / ".out.teddy" / "replaced")
    with pytest.raises(KeyboardInterrupt):
        sparsify_table(table, str(tmp_path / "out"), 0.9, engine="stream", progress=interrupt)
    assert places(tmp_path / "out") == before


def interrupt(what, done, total):
    raise KeyboardInterrupt


def test_no_room_to_spill(tmp_path, table, monkeypatch):
    """A full disk in duckdb is one line, and no file is left behind."""
    import ibis

    connect = ibis.duckdb.connect
    full = {"memory_limit": "10MB", "max_temp_directory_size": "1MB"}
    monkeypatch.setattr(ibis.duckdb, "connect", lambda path, **kw: connect(path, **kw | full))
    with pytest.raises(InputError, match=r"^duckdb: Out of Memory Error: ") as error:
        sparsify_table(table, str(tmp_path / "out.parquet"), 0.64, engine="duckdb")
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []
