"""Every score, from every engine: the edges of the equations, and those of ``prune_edges``."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import teddy
from scale.reference import SCORES, budget, digest, edge_of, kept_rows
from scale.tables import edge_rows, places, write
from scale.test_engines import SLOW, SPARSITIES, agree
from teddy.errors import InputError
from teddy.scale import TABLE_SCORES, sparsify_table

EVERY_SCORE = pytest.mark.parametrize("score", SCORES)
LOCAL = ["memory", "stream", "duckdb"]


def skewed(text: bool = False, rows: int = 400) -> list[tuple]:
    """Rows of a multigraph with hubs, duplicates, both directions and self-loops."""
    draw = np.random.default_rng(1)
    ends = (60 * draw.random((rows, 2)) ** 3).astype(int)
    ends = np.concatenate([ends, ends[::5], ends[::7, ::-1], np.full((3, 2), 4)])
    names = [f"ä{i}" if i % 3 else str(i) for i in range(60)] if text else range(-7, 53)
    return [(names[a], names[b]) for a, b in draw.permutation(ends)]


def test_the_scores_are_those_of_the_reference():
    assert list(TABLE_SCORES) == SCORES


@EVERY_SCORE
@settings(max_examples=12, **SLOW)
@given(rows=edge_rows(), sparsity=SPARSITIES, directed=st.booleans(), seed=st.integers(0, 3))
def test_memory_and_stream(score, rows, sparsity, directed, seed):
    agree(rows, sparsity, directed, ["memory", "stream"], score=score, seed=seed)


@EVERY_SCORE
@settings(max_examples=12, **SLOW)
@given(rows=edge_rows(), sparsity=SPARSITIES, directed=st.booleans(), seed=st.integers(0, 3))
def test_stream_in_small_steps(small_steps, score, rows, sparsity, directed, seed):
    agree(rows, sparsity, directed, ["stream"], score=score, seed=seed)


@EVERY_SCORE
@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_skewed_degrees(score, text, directed):
    agree(skewed(text), 0.37, directed, LOCAL, score=score, seed=5)


@EVERY_SCORE
def test_skewed_degrees_in_small_steps(small_steps, score):
    agree(skewed(), 0.37, False, LOCAL, score=score, seed=5)


@pytest.mark.parametrize(
    ("score", "text"),
    [
        pytest.param(
            score,
            text,
            marks=[] if (score, text) in {("teddy", False), ("random", True)} else pytest.mark.slow,
        )
        for score in SCORES
        for text in (False, True)
    ],
)
def test_spark(spark, small_steps, score, text):
    agree(skewed(text, 60), 0.37, text, ["spark"], score=score, seed=5)


def test_a_random_order_where_spark_resolves_names(tmp_path, spark):
    rows = skewed(text=True, rows=60)
    write(tmp_path / "in", rows, files=2)
    names = [f"file://{tmp_path}/{name}" for name in ("in", "out")]
    done = sparsify_table(*names, 0.37, score="random", seed=5)
    stays = kept_rows(rows, 0.37, score="random", seed=5)
    assert sorted(places(tmp_path / "out")) == [i for i, stay in enumerate(stays) if stay]
    assert (done.score, done.seed) == ("random", 5)


@EVERY_SCORE
@pytest.mark.parametrize("sparsity", [0.0, 0.5, 1.0])
def test_rows_without_edges_and_of_one(score, sparsity):
    for rows in ([], [(3, 3)], [(0, 5), (5, 5)]):
        agree(rows, sparsity, False, LOCAL, score=score)


@pytest.mark.parametrize("score", [name for name in SCORES if name != "random"])
@pytest.mark.parametrize("sparsity", [0.1, 0.37, 0.64, 0.9])
def test_engines_keep_the_edges_of_prune_edges(tmp_path, score, sparsity):
    rows = [(a + 7, b + 7) for a, b in skewed(rows=3000)]
    table, out = write(tmp_path / "in.parquet", rows), str(tmp_path / "out.parquet")
    sparsify_table(table, out, sparsity, score=score, engine="stream")
    kept = teddy.prune_edges(torch.tensor(rows).t(), sparsity, score)
    assert places(out) == kept.nonzero().flatten().tolist()


@EVERY_SCORE
@settings(max_examples=6, **SLOW)
@given(rows=edge_rows(), levels=st.lists(SPARSITIES, min_size=2, max_size=3, unique=True))
def test_exact_budgets_that_are_nested(score, rows, levels):
    edges = {edge_of(row, False) for row in rows if row[0] != row[1]}
    denser = set(range(len(rows)))
    with TemporaryDirectory() as folder:
        table = write(Path(folder) / "in.parquet", rows)
        for level in sorted(levels):
            out = f"{folder}/{level}.parquet"
            done = sparsify_table(table, out, level, score=score, engine="stream")
            kept = set(places(out))
            left = {edge_of(rows[i], False) for i in kept if rows[i][0] != rows[i][1]}
            assert len(edges) - len(left) == budget(level, len(edges))
            assert done.edges == {"total": len(edges), "kept": len(left)}
            assert kept <= denser
            denser = kept


def test_many_ties_of_a_random_order(monkeypatch):
    """More edges than are compared one by one: the cut is found by digits of the md5."""
    from teddy.scale import threshold

    monkeypatch.setattr(threshold, "FEW", 10)
    rows = [(i, (i + 1) % 3000) for i in range(3000)]
    agree(rows, 0.37, False, LOCAL, score="random", seed=2**31 - 1)


def test_random_draws_edges_uniformly(tmp_path):
    """Each edge of a star with any ids is kept by about half of the seeds."""
    rows = [(0, i) for i in range(1, 21)]
    table, kept = write(tmp_path / "in.parquet", rows), Counter()
    for seed in range(100):
        out = str(tmp_path / f"{seed}.parquet")
        done = sparsify_table(table, out, 0.5, score="random", seed=seed)
        assert (done.score, done.seed) == ("random", seed)
        kept.update(places(out))
    assert sum(kept.values()) == 1000
    assert all(30 <= kept[i] <= 70 for i in range(20))  # 4 standard deviations


def test_the_last_removed_edge(tmp_path):
    """A path of three edges, by hand: the middle edge has the highest degree."""
    table = write(tmp_path / "in.parquet", [(0, 1), (1, 2), (2, 3)])
    expected = {
        "degree-high": (-2.0, (1, 2)), "two-hop": (-1.75, None), "resistance": (1.0, (1, 2)),
        "degree-low": (1.5, None), "random": (0.0, None),
    }  # fmt: skip
    for score, (last, edge) in expected.items():
        out = str(tmp_path / f"{score}.parquet")
        done = sparsify_table(table, out, 0.3, score=score)
        assert done.threshold.score == last
        if edge is not None:
            assert places(out) == [0, 2]
            assert done.threshold.digest == digest(edge)
    assert sparsify_table(table, out, 0.0, overwrite=True).threshold is None


@pytest.mark.parametrize("engine", ["stream", "duckdb"])
def test_a_run_that_was_killed_leaves_nothing_to_another_score(tmp_path, engine):
    """The work of a killed run is removed, never resumed: it may be of another score."""
    rows = skewed()
    table, out = write(tmp_path / "in.parquet", rows), tmp_path / "out.parquet"
    work = tmp_path / ".out.parquet.teddy"
    work.mkdir()
    for name in ("bucket-000", "edges.duckdb", "ids.parquet", "rows"):
        (work / name).write_bytes(b"of another run")
    sparsify_table(table, str(out), 0.5, score="resistance", engine=engine)
    sparsify_table(table, str(tmp_path / "new.parquet"), 0.5, score="resistance", engine="memory")
    assert out.read_bytes() == (tmp_path / "new.parquet").read_bytes()
    assert not work.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "cosine"}, "score 'cosine' is not supported for edge tables, expected one of: "),
        ({"score": "resistence"}, r"expected one of: .*\(did you mean 'resistance'\?\)"),
        ({"seed": -1}, "seed is -1, expected "),
        ({"seed": 0.5}, r"seed is 0\.5, expected "),
    ],
)
def test_bad_settings(tmp_path, options, message):
    table = write(tmp_path / "in.parquet", [(0, 1)])
    with pytest.raises(InputError, match=message) as error:
        sparsify_table(table, str(tmp_path / "out.parquet"), 0.5, **options)
    assert "\n" not in str(error.value)
    assert all(name in str(error.value) for name in (SCORES if "score" in options else ()))
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]
