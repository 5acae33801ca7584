"""Unusual folders, names, columns and cells of tables."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from scale.tables import places, write
from scale.test_table import ENGINES, LEFT, ROWS, sparsify
from teddy.errors import InputError
from teddy.scale import sparsify_table
from teddy.scale.table import EdgeTable


@pytest.mark.parametrize("engine", ENGINES)
def test_folders_that_look_like_partitions(tmp_path, engine):
    """A file's own columns count, not what the names of folders say."""
    (tmp_path / "in" / "target=5").mkdir(parents=True)
    write(tmp_path / "in" / "target=5" / "x.parquet", ROWS)
    sparsify_table(str(tmp_path / "in"), str(tmp_path / "out.parquet"), 0.5, engine=engine)
    assert places(tmp_path / "out.parquet") == LEFT


def test_text_of_csv_in_a_folder(tmp_path):
    (tmp_path / "in.csv").write_text("source,target,w\n0,1,0.50\n1,2,007\n2,0,1\n2,3,1e3\n")
    sparsify(tmp_path / "in.csv", tmp_path / "out")
    assert (tmp_path / "out/part-00000.csv").read_text().split() == [
        "source,target,w", "0,1,0.50", "2,3,1e3",
    ]  # fmt: skip


def test_cells_of_several_lines(tmp_path):
    """More of them than one block of the reader has."""
    lines = [f'{i},{i + 1},"a {"x" * 20}\nb"' for i in range(60_000)]
    (tmp_path / "in.csv").write_text("\n".join(["source,target,note", *lines]) + "\n")
    done = sparsify(tmp_path / "in.csv", tmp_path / "out.csv", engine="stream")
    assert done.rows == {"total": 60_000, "kept": 30_000}


def test_text_that_is_no_unicode(tmp_path):
    (tmp_path / "in.csv").write_bytes(b"source,target\n\xe4,b\n")
    with pytest.raises(InputError, match="cannot be read as csv"):
        sparsify(tmp_path / "in.csv", tmp_path / "out.csv")


def test_a_later_file_of_other_columns(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.csv").write_text("source,target\n1,2\n")
    (tmp_path / "in/b.csv").write_text("from,target\n1,2\n")
    with pytest.raises(InputError, match=r"b\.csv: .*source"):
        sparsify(tmp_path / "in", tmp_path / "out.csv", engine="stream")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_with_two_names_is_read_twice(tmp_path, engine):
    write(tmp_path / "in", ROWS[:2], files=2)
    (tmp_path / "in/2.parquet").symlink_to(tmp_path / "in/1.parquet")
    done = sparsify(tmp_path / "in", tmp_path / "out.parquet", engine=engine)
    assert done.rows["total"] == 3
    assert len(places(tmp_path / "out.parquet")) == done.rows["kept"]


@pytest.mark.parametrize("engine", ENGINES)
def test_names_that_could_be_patterns(tmp_path, engine):
    write(tmp_path / "a[1].parquet", ROWS)
    write(tmp_path / "a1.parquet", ROWS[:1])
    sparsify(tmp_path / "a[1].parquet", tmp_path / "out.parquet", engine=engine)
    assert places(tmp_path / "out.parquet") == LEFT


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_of_any_name(tmp_path, engine):
    names = ("filename", "file_row_number", "row", "file", "Source", "a.b")
    write(tmp_path / "in.parquet", ROWS, **{name: range(5) for name in names})
    sparsify(tmp_path / "in.parquet", tmp_path / "out.parquet", engine=engine)
    assert places(tmp_path / "out.parquet") == LEFT


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("wrong", ["007", "1.6", "x"])
def test_text_is_not_rounded_to_an_integer(tmp_path, engine, wrong):
    write(tmp_path / "in.parquet", [("1", "2"), ("2", wrong)])
    with pytest.raises(InputError, match=f"row 2: target is '{wrong}', expected a 64-bit integer"):
        sparsify(tmp_path / "in.parquet", tmp_path / "out.parquet", engine=engine, ids="integer")


@pytest.mark.parametrize("engine", ENGINES)
def test_text_in_views(tmp_path, engine):
    rows = {
        name: pa.array(column, pa.string_view())
        for name, column in zip(("source", "target"), zip(*ROWS_OF_TEXT, strict=True), strict=True)
    }
    table = pa.table({**rows, "note": pa.array(["x"] * 5, pa.string_view()), "place": range(5)})
    parquet.write_table(table, tmp_path / "in.parquet")
    sparsify(tmp_path / "in.parquet", tmp_path / "out.parquet", engine=engine)
    assert places(tmp_path / "out.parquet") == LEFT


ROWS_OF_TEXT = [(f"n{a}", f"n{b}") for a, b in ROWS]


def test_bytes_that_csv_cannot_hold(tmp_path):
    write(tmp_path / "in.parquet", ROWS, raw=pa.array([b"\xff"] * 5))
    with pytest.raises(InputError, match="column 'raw' is binary, expected a type for CSV"):
        sparsify(tmp_path / "in.parquet", tmp_path / "out.csv")


def test_a_file_without_rows_decides_nothing(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.csv").write_text("source,target\n")
    (tmp_path / "in/b.csv").write_text("source,target\nann,bob\n")
    assert sparsify(tmp_path / "in", tmp_path / "out.csv").degrees.nodes == 2


def test_an_output_in_the_folder_of_the_input(tmp_path):
    write(tmp_path / "in", ROWS, files=2)
    with pytest.raises(InputError, match="is in the input's folder"):
        sparsify(tmp_path / "in", tmp_path / "in" / "out.parquet")


@pytest.mark.parametrize("name", ["few[1].parquet", "few?.parquet", "*/few.parquet"])
def test_names_that_are_patterns_to_sql(tmp_path, name):
    """A neighbour's hidden folder fits the pattern of this one's: it must not be read."""
    table, out = write(tmp_path / "in.parquet", ROWS), tmp_path / name
    out.parent.mkdir(exist_ok=True)
    neighbour = tmp_path / ".few1.parquet.teddy"
    neighbour.mkdir()
    write(neighbour / "ids.parquet", ROWS[:2])
    with pytest.raises(InputError, match=r"a pattern in SQL engines, expected a plain"):
        sparsify(table, out, engine="duckdb")
    assert not out.exists()
    sparsify(table, out, engine="stream")
    assert places(out) == LEFT


@pytest.mark.parametrize("engine", ENGINES)
def test_text_in_views_within_others(tmp_path, engine):
    words = pa.array([["a", "b"], [], None, ["c"], ["d"]], pa.list_(pa.string_view()))
    pairs = pa.array([{"x": "1"}] * 5, pa.struct([("x", pa.string_view())]))
    table = write(tmp_path / "in.parquet", ROWS, words=words, pairs=pairs)
    sparsify(table, tmp_path / "out.parquet", engine=engine)
    left = parquet.read_table(tmp_path / "out.parquet")
    assert left["words"].to_pylist() == [["a", "b"], ["c"], ["d"]]
    assert left["pairs"].to_pylist() == [{"x": "1"}] * 3


@pytest.mark.parametrize("engine", ENGINES)
def test_ids_that_are_no_text(tmp_path, engine):
    bytes_ = pa.array([b"a", b"\xff"]).view(pa.string())
    parquet.write_table(pa.table({"source": bytes_, "target": bytes_}), tmp_path / "in.parquet")
    message = "in.parquet: source of a row after 0 is not UTF-8, expected text"
    with pytest.raises(InputError, match=message):
        sparsify(tmp_path / "in.parquet", tmp_path / "out.parquet", engine=engine)


def test_wide_rows_are_read_and_written_a_few_at_a_time(tmp_path, monkeypatch):
    from teddy.scale import output, table

    monkeypatch.setattr(table, "BATCH_BYTES", 40_000)
    monkeypatch.setattr(output, "GROUP_BYTES", 80_000)
    rows = [(i, i + 1) for i in range(100)]
    wide = pa.array([f"{i:05}" * 800 for i in range(100)])  # 4 KB
    path = write(tmp_path / "in.parquet", rows, wide=wide)
    batches = list(EdgeTable.open(path).batches())
    assert max(batch.num_rows for batch in batches) <= 10
    assert sum(batch.num_rows for batch in batches) == 100
    files = []
    for engine in ENGINES:
        files.append(tmp_path / f"{engine}.parquet")
        sparsify(path, files[-1], engine=engine)
    footer = parquet.read_metadata(files[0])
    assert footer.num_row_groups > 1
    assert len({file.read_bytes() for file in files}) == 1
