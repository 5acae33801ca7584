import os
import shutil

import numpy as np
import pytest


@pytest.fixture(scope="session")
def spark():
    """A session of Spark on two threads, for all tests of a process."""
    pytest.importorskip("pyspark", reason="Spark needs pyspark: pip install 'teddy-glt[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17 or later, found none")
    from teddy.scale.spark import start_session

    # A plan of a few rows runs a few times: compiling it well takes longer than running it.
    os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    session, _ = start_session(2_000_000_000, "local[2]")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    yield session
    session.stop()


@pytest.fixture
def small_steps(monkeypatch):
    """Many batches, buckets and rounds for tables of a few rows."""
    from teddy.scale import buckets, output, stream, table, threshold

    monkeypatch.setattr(table, "BATCH", 7)
    monkeypatch.setattr(buckets, "SORTED", 4)
    monkeypatch.setattr(buckets, "CHUNK", 5)
    monkeypatch.setattr(buckets, "_BUFFERED", 3)
    monkeypatch.setattr(threshold, "FEW", 3)
    monkeypatch.setattr(stream, "_BINS", 4)
    monkeypatch.setattr(output, "GROUP", 8)


@pytest.fixture(scope="session")
def arxiv_edges(shared_data):
    """The edges of ogbn-arxiv, int64 [2, E]."""
    with np.load(shared_data / "ogbn-arxiv" / "arxiv-structure.npz") as file:
        return file["edge_index"].astype(np.int64)
