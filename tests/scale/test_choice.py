"""Choice of the engine by ``auto``, and its reason."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from teddy.errors import InputError
from teddy.scale import sparsify, sparsify_table, stream
from teddy.scale.sparsify import choose_engine
from teddy.scale.table import EdgeTable

GB = 10**9


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Ids close together, far apart, and of text."""
    folder, found = tmp_path_factory.mktemp("tables"), {}
    ids = np.arange(10_000)
    for name, ends in {"near": ids, "far": ids * 10**14, "text": ids.astype(str)}.items():
        table = pa.table({"source": ends, "target": ends[::-1]})
        parquet.write_table(table, folder / f"{name}.parquet")
        found[name] = EdgeTable.open(str(folder / f"{name}.parquet"))
    return found


def many(table: EdgeTable, rows: int) -> EdgeTable:
    """The same table, as if it had more rows."""
    copy = EdgeTable(**{name: getattr(table, name) for name in EdgeTable.__dataclass_fields__})
    object.__setattr__(copy, "num_rows", rows)
    return copy


@pytest.mark.parametrize(
    ("name", "rows", "memory", "engine", "why"),
    [
        ("near", 10_000, 8 * GB, "memory", "10,000 rows take about 0.0 GB of 8.0 GB"),
        ("near", 10**9, 8 * GB, "stream", "10,000 nodes by their ids take 1.2 GB"),
        ("far", 10**8, 21 * GB, "stream", "200,000,000 nodes at most take 20.4 GB"),
        ("far", 10**8, 20 * GB, "duckdb", "it spills to disk"),
        ("text", 10**8, 20 * GB, "duckdb", "it spills to disk"),
        ("far", 10**9, 8 * GB, "duckdb", "neither 1,000,000,000 rows nor their nodes may fit"),
    ],
)
def test_by_size_and_memory(tables, name, rows, memory, engine, why):
    chosen, reason = choose_engine(many(tables[name], rows), memory)
    assert chosen == engine
    assert why in reason


def test_the_choice_of_auto_is_not_refused(tmp_path):
    """By as much memory as it is said to take, and no more."""
    ids = np.arange(100_000) * 10**12
    parquet.write_table(pa.table({"source": ids, "target": ids[::-1]}), tmp_path / "in.parquet")
    memory = stream.FIXED + stream.FAR_NODE * ids.size
    options = {"engine": "stream", "memory": memory}
    done = sparsify_table(str(tmp_path / "in.parquet"), str(tmp_path / "o.parquet"), 0.5, **options)
    assert done.degrees.nodes == ids.size


def test_memory_is_heeded(tables):
    table = str(tables["near"].files[0])
    with pytest.raises(InputError, match=r"10,000 rows take about 0\.0 GB, expected at most 0\.0"):
        sparsify_table(table, f"{table}.out.parquet", 0.5, engine="memory", memory=10**6)


def test_long_ids_take_more_memory(tmp_path):
    for length in (10, 200):
        ids = np.char.add("x" * length, np.arange(1000).astype(str))
        table = pa.table({"source": ids, "target": ids[::-1]})
        parquet.write_table(table, tmp_path / f"{length}.parquet")
    short, long = (EdgeTable.open(str(tmp_path / f"{n}.parquet")) for n in (10, 200))
    assert 190 <= long.id_bytes - short.id_bytes <= 200
    assert choose_engine(many(short, 10**6), 2 * GB)[0] == "memory"
    assert choose_engine(many(long, 10**6), 2 * GB)[0] != "memory"


def test_without_missing_packages(tables, monkeypatch):
    big = many(tables["far"], 10**9)
    monkeypatch.setattr(sparsify, "find_spec", lambda name: None)
    assert choose_engine(big, 8 * GB)[0] == "stream"
    monkeypatch.setattr(sparsify.jit, "numba", None)
    with pytest.raises(InputError, match=r"pip install 'teddy-glt\[scale\]'"):
        choose_engine(big, 8 * GB)
    table = str(tables["near"].files[0])
    for engine, extra in (("duckdb", "scale"), ("spark", "spark"), ("stream", "scale")):
        with pytest.raises(InputError, match=rf"the {engine} engine needs .*{extra}"):
            sparsify_table(table, str(Path(table).parent / "out.parquet"), 0.5, engine=engine)
