"""All engines give the same file, and it is the one of the equations."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import teddy
from scale.reference import components, kept_rows
from scale.tables import edge_rows, places, write
from teddy.scale import sparsify_table

SPARSITIES = st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.64, 0.9, 1.0])
SLOW = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def agree(rows, sparsity, directed, engines, files=1, suffix=".parquet", score="teddy", seed=0):
    """Run engines on one table and compare them with the reference."""
    options = {"directed": directed, "score": score, "seed": seed}
    with TemporaryDirectory() as folder:
        table = write(Path(folder) / ("in" if files > 1 else f"in{suffix}"), rows, files)
        expected = kept_rows(rows, sparsity, **options)
        written = {}
        for engine in engines:
            out = Path(folder) / f"{engine}{suffix}"
            done = sparsify_table(table, str(out), sparsity, engine=engine, **options)
            assert places(out) == [i for i, stays in enumerate(expected) if stays]
            assert done.rows == {"total": len(rows), "kept": sum(expected)}
            assert (done.score, done.seed) == (score, seed if score == "random" else None)
            assert done.loops == sum(a == b for a, b in rows)
            if done.components is not None:
                assert done.components == components(rows, expected)
            written[engine] = out.read_bytes(), done.threshold, done.degrees, done.edges
        assert len({repr(each) for each in written.values()}) == 1
        assert {path.name for path in Path(folder).iterdir()} == {
            Path(table).name, *(f"{engine}{suffix}" for engine in engines),
        }  # fmt: skip


@settings(max_examples=30, **SLOW)
@given(rows=edge_rows(), sparsity=SPARSITIES, directed=st.booleans())
def test_memory_and_stream_are_the_equations(rows, sparsity, directed):
    agree(rows, sparsity, directed, ["memory", "stream"])


@settings(max_examples=30, **SLOW)
@given(rows=edge_rows(), sparsity=SPARSITIES, directed=st.booleans())
def test_stream_in_small_steps(small_steps, rows, sparsity, directed):
    agree(rows, sparsity, directed, ["memory", "stream"])


@settings(max_examples=12, **SLOW)
@given(rows=edge_rows(), sparsity=SPARSITIES, directed=st.booleans(), files=st.sampled_from([1, 3]))
def test_duckdb_is_the_others(rows, sparsity, directed, files):
    agree(rows, sparsity, directed, ["memory", "stream", "duckdb"], files)


@settings(max_examples=8, **SLOW)
@given(rows=edge_rows(), sparsity=SPARSITIES)
def test_duckdb_in_small_steps(small_steps, rows, sparsity):
    agree(rows, sparsity, False, ["duckdb"])


@settings(max_examples=2, **SLOW)
@given(rows=edge_rows(), sparsity=SPARSITIES, directed=st.booleans(), files=st.sampled_from([1, 3]))
def test_spark_is_the_others(spark, rows, sparsity, directed, files):
    agree(rows, sparsity, directed, ["memory", "stream", "duckdb", "spark"], files)


@settings(max_examples=20, **SLOW)
@given(rows=edge_rows(), sparsity=SPARSITIES)
def test_csv(rows, sparsity):
    agree(rows, sparsity, False, ["memory", "stream"], suffix=".csv")


def test_csv_by_duckdb_and_spark(spark):
    rows = [("a", "b"), ("b", "c"), ("c", "a"), ("a-b", "c"), ("a", "b-c"), ("d", "d"), ("b", "a")]
    agree(rows, 0.4, False, ["memory", "stream", "duckdb", "spark"], suffix=".csv")


def test_massive_ties(spark):
    """A cycle of 5000: every edge has the same score, so the md5 alone decides."""
    rows = [(i, (i + 1) % 5000) for i in range(5000)]
    agree(rows, 0.37, False, ["memory", "stream", "duckdb", "spark"])


def test_massive_ties_in_rounds(monkeypatch):
    from teddy.scale import threshold

    monkeypatch.setattr(threshold, "FEW", 10)
    rows = [(i, (i + 1) % 5000) for i in range(5000)]
    agree(rows, 0.37, False, ["memory", "stream", "duckdb"])


@settings(max_examples=30, **SLOW)
@given(rows=edge_rows(text=False), sparsity=SPARSITIES)
def test_engines_keep_the_edges_of_prune_edges(rows, sparsity):
    """Engines keep the same edges as Python does of an ``edge_index``."""
    low = min((min(row) for row in rows), default=0)
    step = min((abs(a - b) for a, b in rows if a != b), default=1)
    rows = [((a - low) // step, (b - low) // step) for a, b in rows]
    edge_index = torch.tensor(rows, dtype=torch.long).view(-1, 2).t()
    with TemporaryDirectory() as folder:
        table, out = write(Path(folder) / "in.parquet", rows), f"{folder}/out.parquet"
        sparsify_table(table, out, sparsity, engine="stream")
        kept = teddy.prune_edges(edge_index, sparsity, num_nodes=200)
        assert places(out) == kept.nonzero().flatten().tolist()


@settings(max_examples=15, **SLOW)
@given(rows=edge_rows(), low=SPARSITIES, high=SPARSITIES)
def test_budgets_are_nested(rows, low, high):
    low, high = sorted([low, high])
    with TemporaryDirectory() as folder:
        table = write(Path(folder) / "in.parquet", rows)
        for name, sparsity in (("more", low), ("fewer", high)):
            sparsify_table(table, f"{folder}/{name}.parquet", sparsity, engine="stream")
        more, fewer = (places(f"{folder}/{name}.parquet") for name in ("more", "fewer"))
        assert set(fewer) <= set(more)


def test_other_columns_come_along(tmp_path, spark):
    """Columns of any type, with nulls and nested ones, are kept by every engine."""
    rows = [(i % 7, i % 5) for i in range(40)]
    extra = {
        "weight": pa.array([i / 3 for i in range(40)], pa.float32()),
        "small": pa.array([None if i % 3 else i for i in range(40)], pa.uint8()),
        "when": pa.array(range(40), pa.timestamp("ns", "UTC")),
        "kind": pa.array(["follows", "likes"] * 20).dictionary_encode(),
        "way": pa.array([[i, i + 1] for i in range(40)], pa.list_(pa.int16())),
    }
    table = write(tmp_path / "in.parquet", rows, **extra)
    whole = parquet.read_table(table)
    for engine in ("memory", "stream", "duckdb", "spark"):
        sparsify_table(table, f"{tmp_path}/{engine}.parquet", 0.5, engine=engine)
        left = parquet.read_table(f"{tmp_path}/{engine}.parquet")
        assert left.schema.equals(whole.schema)
        assert left.equals(whole.take(left["place"]))
    assert len({(tmp_path / f"{e}.parquet").read_bytes() for e in ("memory", "stream")}) == 1


@pytest.mark.parametrize("engine", ["memory", "stream", "duckdb"])
@pytest.mark.parametrize("rows", [[], [(3, 3)], [(3, 3), (3, 3), (1, 1)], [(0, 5)]])
def test_hardly_anything(tmp_path, engine, rows):
    table = write(tmp_path / "in.parquet", rows)
    done = sparsify_table(table, str(tmp_path / "out.parquet"), 0.5, engine=engine)
    assert places(tmp_path / "out.parquet") == [i for i, (a, b) in enumerate(rows) if a == b]
    assert done.edges["total"] == len({row for row in rows if row[0] != row[1]})


@pytest.mark.slow
def test_arxiv(tmp_path, arxiv_edges, spark):
    """The real graph, from every engine and from Python."""
    rows = pa.table({"source": arxiv_edges[0], "target": arxiv_edges[1]})
    parquet.write_table(rows, tmp_path / "in.parquet")
    for engine in ("memory", "stream", "duckdb", "spark"):
        out = str(tmp_path / f"{engine}.parquet")
        sparsify_table(str(tmp_path / "in.parquet"), out, 0.64, engine=engine)
    assert len({path.read_bytes() for path in tmp_path.iterdir() if path.stem != "in"}) == 1
    keep = teddy.prune_edges(torch.from_numpy(arxiv_edges.astype(np.int64)), 0.64).numpy()
    left = parquet.read_table(tmp_path / "stream.parquet")
    assert np.array_equal(np.stack([left["source"], left["target"]]), arxiv_edges[:, keep])
