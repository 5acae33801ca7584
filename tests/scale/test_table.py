"""Tables as users have them, and as they shouldn't."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from scale.tables import places, write
from teddy.errors import InputError
from teddy.scale import sparsify_table
from teddy.scale.table import EdgeTable

ROWS = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)]
LEFT = [0, 3, 4]
ENGINES = ["memory", "stream", "duckdb"]


def sparsify(table, out, **options):
    return sparsify_table(str(table), str(out), 0.5, **options)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_folder_and_a_glob(tmp_path, engine):
    folder = Path(write(tmp_path / "in", ROWS, files=3))
    (folder / "_SUCCESS").touch()
    (folder / ".part.crc").write_text("x")
    for name, table in (("one", folder), ("two", folder / "*.parquet")):
        out = tmp_path / f"{name}.parquet"
        sparsify(table, out, engine=engine)
        assert places(out) == LEFT


def test_to_a_folder(tmp_path, monkeypatch):
    from teddy.scale import output, row_writer

    monkeypatch.setattr(output, "GROUP", 1)
    monkeypatch.setattr(row_writer, "FILE", 2)
    sparsify(write(tmp_path / "in.parquet", ROWS), tmp_path / "out")
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == ["part-00000.parquet", "part-00001.parquet"]
    assert places(tmp_path / "out") == LEFT


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint16(), pa.int32(), pa.uint64()])
@pytest.mark.parametrize("engine", ENGINES)
def test_ids_of_any_integers(tmp_path, kind, engine):
    ids = {end: pa.array([row[i] for row in ROWS], kind) for i, end in enumerate(("src", "dst"))}
    parquet.write_table(pa.table({**ids, "place": range(5)}), tmp_path / "in.parquet")
    sparsify(tmp_path / "in.parquet", tmp_path / "out.parquet", engine=engine)
    assert places(tmp_path / "out.parquet") == LEFT


@pytest.mark.parametrize("kind", [pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
@pytest.mark.parametrize("engine", ENGINES)
def test_ids_of_any_text(tmp_path, kind, engine):
    ids = {
        end: pa.array([f"n{row[i]}" for row in ROWS]).cast(kind)
        for i, end in enumerate(("from", "to"))
    }
    parquet.write_table(pa.table({**ids, "place": range(5)}), tmp_path / "in.parquet")
    sparsify(tmp_path / "in.parquet", tmp_path / "out.parquet", engine=engine)
    assert places(tmp_path / "out.parquet") == LEFT


def test_other_names(tmp_path):
    table = pa.table({"left": [0, 1, 2, 2], "right": [1, 2, 0, 3], "source": ["x"] * 4})
    parquet.write_table(table, tmp_path / "in.parquet")
    done = sparsify(tmp_path / "in.parquet", tmp_path / "o.parquet", source="left", target="right")
    assert done.edges == {"total": 4, "kept": 2}


def test_text_of_csv_stays_as_it_is(tmp_path):
    lines = ["source,target,weight,note", '0,1,0.50,"a, ""b"""', "1,2,1e3,", "2,0,007,x", "2,3,,y"]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n")
    sparsify(tmp_path / "in.csv", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines() == [lines[0], lines[1], lines[4]]


@pytest.mark.parametrize("engine", ENGINES)
def test_csv_to_parquet_has_types(tmp_path, engine):
    (tmp_path / "in.csv").write_text("source,target,weight\n0,1,0.5\n1,2,1\n2,0,2\n2,3,3\n")
    sparsify(tmp_path / "in.csv", tmp_path / "out.parquet", engine=engine)
    left = parquet.read_table(tmp_path / "out.parquet")
    assert left.schema.types == [pa.int64(), pa.int64(), pa.float64()]
    assert left["target"].to_pylist() == [1, 3]


def test_names_that_look_like_numbers(tmp_path):
    """007 and 7 are two nodes."""
    (tmp_path / "in.csv").write_text("source,target\n007,1\n7,1\n1,2\n")
    assert EdgeTable.open(str(tmp_path / "in.csv")).text_ids
    done = sparsify(tmp_path / "in.csv", tmp_path / "out.csv")
    assert done.degrees.nodes == 4


def file(suffix, text):
    def make(path):
        path.with_suffix(suffix).write_text(text)
        return path.with_suffix(suffix)

    return make


def csv_table(text):
    return file(".csv", text)


def parquet_table(**columns):
    def make(path):
        parquet.write_table(pa.table(columns), path.with_suffix(".parquet"))
        return path.with_suffix(".parquet")

    return make


BAD = {
    "missing": (lambda path: path / "none.parquet", "no such file or folder"),
    "empty csv": (csv_table(""), "is empty, expected a header and rows"),
    "ragged csv": (csv_table("source,target\n1,2\n1,2,3\n"), "Expected 2 columns, got 3"),
    "no columns": (parquet_table(a=[1], b=[2]), "columns are 'a' (int64), 'b' (int64), expected"),
    "floats": (parquet_table(source=[1.5], target=[2]), "'source' is double, expected integers"),
    "null": (parquet_table(source=[1, None], target=[2, 3]), "row 2: source is empty"),
    "empty cell": (csv_table("source,target\n1,2\n3,\n"), "row 2: target is empty"),
    "too large": (
        parquet_table(source=pa.array([2**63 + 1], pa.uint64()), target=[1]),
        "row 1: source is 9223372036854775809, expected a 64-bit integer",
    ),
    "no parquet": (
        file(".parquet", "x"),
        "cannot be read as parquet",
    ),
    "other suffix": (
        file(".txt", "x"),
        "expected all .parquet or all .csv",
    ),
    "twice": (csv_table("source,target,source\n1,2,3\n"), "has column 'source' twice"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", BAD)
def test_bad_tables(tmp_path, case, engine):
    make, message = BAD[case]
    table = make(tmp_path / "in")
    with pytest.raises(InputError) as error:
        sparsify(table, tmp_path / "out.parquet", engine=engine)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out.parquet").exists()
    assert not any(path.name.startswith(".") for path in tmp_path.iterdir())


@pytest.mark.parametrize("engine", ENGINES)
def test_integers_that_become_text(tmp_path, engine):
    """One id that isn't an integer makes all of them text, wherever it is."""
    (tmp_path / "in.csv").write_text("source,target\n" + "1,2\n" * 300_000 + "3,x9\n")
    done = sparsify(tmp_path / "in.csv", tmp_path / "out.parquet", engine=engine)
    assert done.degrees.nodes == 4
    assert parquet.read_schema(tmp_path / "out.parquet").types == [pa.string()] * 2
    with pytest.raises(InputError, match="row 300001: target is 'x9', expected a 64-bit integer"):
        sparsify(tmp_path / "in.csv", tmp_path / "o.csv", engine=engine, ids="integer")


def test_files_of_other_columns(tmp_path):
    folder = Path(write(tmp_path / "in", ROWS, files=2))
    parquet.write_table(pa.table({"source": ["a"], "target": ["b"]}), folder / "2.parquet")
    with pytest.raises(InputError, match=r"2\.parquet: columns are .* as in 0\.parquet"):
        sparsify(folder, tmp_path / "out.parquet")


def test_where_to_write(tmp_path):
    table = write(tmp_path / "in.parquet", ROWS)
    for out, message in (
        (tmp_path / "no" / "out.parquet", "does not exist, expected it to"),
        (table, "holds the input"),
        (tmp_path, "holds the input"),
    ):
        with pytest.raises(InputError, match=message):
            sparsify(table, out)
    out = tmp_path / "out.parquet"
    sparsify(table, out)
    before = out.read_bytes()
    with pytest.raises(InputError, match="exists, expected a new name or --overwrite"):
        sparsify_table(table, str(out), 0.9)
    assert out.read_bytes() == before
    sparsify_table(table, str(out), 0.9, overwrite=True)
    assert places(out) == [4]


def test_one_run_at_a_time(tmp_path):
    from teddy.scale.output import Output

    table = EdgeTable.open(write(tmp_path / "in.parquet", ROWS))
    with Output(str(tmp_path / "out.parquet"), table):  # noqa: SIM117
        with pytest.raises(InputError, match="another run is writing it"):
            sparsify(tmp_path / "in.parquet", tmp_path / "out.parquet")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sparsity": 1.5}, r"sparsity must be in \[0, 1\], got 1.5"),
        ({"engine": "strem"}, "did you mean 'stream'"),
        ({"ids": "uuid"}, "ids is 'uuid', expected one of"),
        ({"source": "a"}, "no column 'a'"),
        ({"source": "source"}, "expected both or neither"),
        ({"source": "source", "target": "source"}, "both 'source'"),
    ],
)
def test_bad_options(tmp_path, options, message):
    table = write(tmp_path / "in.parquet", ROWS)
    with pytest.raises(InputError, match=message):
        sparsify_table(table, str(tmp_path / "out.parquet"), **{"sparsity": 0.5, **options})


@pytest.mark.parametrize("engine", ENGINES)
def test_names_relative_to_where_one_is(tmp_path, monkeypatch, engine):
    monkeypatch.chdir(tmp_path)
    write(Path("in it"), ROWS, files=2)
    sparsify_table("in it", "out.parquet", 0.5, engine=engine)
    assert places("out.parquet") == LEFT


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
