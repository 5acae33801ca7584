"""Tables of edges as input: folders, ids, columns and their errors."""

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
