"""Cells of CSV: none is changed by a type, none swallowed by a quote, no id trimmed."""

import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv, parquet

from teddy.errors import InputError
from teddy.scale import csv_files, sparsify_table
from teddy.scale.csv_files import CheckedStream
from teddy.scale.csv_types import ColumnTypes, convert

ENGINES = ["memory", "stream", "duckdb"]


def to_parquet(tmp_path, cells, rows=None, **options) -> pa.ChunkedArray:
    """A column of cells, after all rows were kept."""
    lines = [f"{i},{i + 1},{cell}" for i, cell in enumerate(cells)]
    (tmp_path / "in.csv").write_text("\n".join(["source,target,value", *lines, ""]))
    out = str(tmp_path / "out.parquet")
    sparsify_table(str(tmp_path / "in.csv"), out, 0.0, overwrite=True, **options)
    return parquet.read_table(out)["value"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "cells",
    [["01234", "5"], ["12345678901234567890", "1"], ["1e400", "1.5"], ["NA", "1"], ["null", "2"],
     ["1.10", "1.1"], ["1", "1.0"], ["True", "1"], ["0.1234567890123456789", "1"], [" 7", "8"],
     ["2020-01-01", "x"], ["2020-01-01T10:00:00Z", ""], ["", ""], ["+1", "1"], ["1_000", "1"],
     ["9007199254740993", "0.5"], ["NaN", "1.5"], ["TRUE", "false"], ["0x10", "1"]],
)  # fmt: skip
def test_text_stays_text(tmp_path, engine, cells):
    value = to_parquet(tmp_path, cells, engine=engine)
    assert value.type == pa.string()
    assert value.to_pylist() == cells


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "", "-7"], pa.int64(), [1, None, -7]),
        (["9223372036854775807"], pa.int64(), [2**63 - 1]),
        (["1", "0.5", ""], pa.float64(), [1.0, 0.5, None]),
        (["1.0", "0.5", "1e-05", "1e+16", "1000000000000000.0"], pa.float64(),
         [1.0, 0.5, 1e-5, 1e16, 1e15]),
        (["true", "false", ""], pa.bool_(), [True, False, None]),
    ],
)  # fmt: skip
def test_types(tmp_path, cells, kind, values):
    value = to_parquet(tmp_path, cells)
    assert value.type == kind
    assert value.to_pylist() == values


def test_dates_and_times(tmp_path):
    assert to_parquet(tmp_path, ["2020-02-29", ""]).type == pa.date32()
    assert to_parquet(tmp_path, ["2020-02-29 10:00:00"]).type == pa.timestamp("ms")


def test_a_type_is_that_of_all_rows(tmp_path):
    """The first megabyte looks like integers."""
    cells = ["7"] * 200_000 + ["007"]
    value = to_parquet(tmp_path, cells)
    assert value.to_pylist() == cells
    assert to_parquet(tmp_path, [*cells[:-1], "0.5"]).type == pa.float64()


def test_a_type_is_that_of_all_files(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.csv").write_text("source,target,value\n1,2,7\n")
    (tmp_path / "in/b.csv").write_text("source,target,value\n3,4,007\n")
    sparsify_table(str(tmp_path / "in"), str(tmp_path / "out.parquet"), 0.0)
    assert parquet.read_table(tmp_path / "out.parquet")["value"].to_pylist() == ["7", "007"]


CELLS = st.one_of(
    st.text("0123456789.-+eE ", max_size=8),
    st.integers().map(str),
    st.floats().map(str),
    st.dates().map(str),
    st.datetimes().map(str),
    st.sampled_from(["", "NA", "nan", "inf", "-0", "-0.0", "true", "1e400"]),
)


@settings(max_examples=300)
@given(cells=st.one_of(st.lists(CELLS, min_size=1, max_size=4), st.lists(st.floats().map(str))))
def test_no_type_changes_a_cell(cells):
    """Text of a typed column comes back, as Arrow or as Python writes it."""
    text = pa.array(cells, pa.string())
    types = ColumnTypes(["a"])
    types.update(pa.record_batch({"a": text}))
    values = convert(text, types.type_of("a"))
    as_arrow = values.cast(pa.string()).fill_null("").to_pylist()
    as_python = ["" if v is None else repr(v) for v in values.to_pylist()]
    assert cells in (as_arrow, as_python)


@settings(max_examples=100)
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=6))
def test_numbers_of_python_are_numbers(values):
    types = ColumnTypes(["a"])
    types.update(pa.record_batch({"a": [repr(v) for v in values]}))
    finite = all(map(math.isfinite, values))
    assert types.type_of("a") == pa.float64() or not finite


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('source,target,note\n1,2,a\n2,3,"b\n3,4,c\n4,5,d\n', 3),
        ('source,target,note\n1,2,a\n2,"3,b\n3,4,c\n4,5,d\n', 3),
        ('source,target,note\n1,2,"a""\n2,3,b\n', 2),
        ('source,target,note\n1,2,"a\nb"\n2,3,"b\n3,4,c\n4,5,"d"\n', 4),
        ('source,target,note\n1,2,"a \\"b\\" c"\n2,3,b\n', 2),
        ('source,target,note\n1,2,"a"b\n', 2),
        ('source,target,note\n1,2,"', 2),
        ('"source,target\n1,2\n', 1),
    ],
)
def test_a_quote_that_is_not_closed(tmp_path, engine, text, line):
    (tmp_path / "in.csv").write_text(text)
    message = rf"in\.csv: line {line}: a cell has an opening quote only"
    with pytest.raises(InputError, match=message):
        sparsify_table(str(tmp_path / "in.csv"), str(tmp_path / "o.csv"), 0.5, engine=engine)
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_a_quote_that_is_not_closed_in_a_large_file(tmp_path):
    lines = [f"{i},{i + 1},x" for i in range(400_000)]
    lines[1000] = '1,2,"x'
    (tmp_path / "in.csv").write_text("\n".join(["source,target,note", *lines, ""]))
    with pytest.raises(InputError, match="line 1002: a cell has an opening quote"):
        sparsify_table(str(tmp_path / "in.csv"), str(tmp_path / "o.csv"), 0.5)


CELL = st.text('a," \n\r', max_size=5)


@given(st.lists(st.lists(CELL, min_size=2, max_size=2), min_size=1, max_size=6), st.integers(1, 9))
def test_quotes_that_are_closed(tmp_path_factory, rows, size):
    """Whatever is in the cells, and wherever a block ends."""
    file = tmp_path_factory.mktemp("csv") / "in.csv"
    file.write_text("\n".join(",".join(map(quoted, row)) for row in rows), newline="")
    stream = CheckedStream(file)
    while stream.read(size):
        pass
    assert stream.num_bytes == file.stat().st_size


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


@given(st.text('a,"\n', max_size=14), st.integers(1, 9))
def test_quotes_are_read_as_by_pyarrow(tmp_path_factory, text, size):
    """Without an error, an added row is an added row to pyarrow, too."""
    file = tmp_path_factory.mktemp("csv") / "in.csv"
    file.write_text(f"a,b\n{text}")
    stream = CheckedStream(file)
    try:
        while stream.read(size):
            pass
    except InputError:
        return
    options = csv.ParseOptions(newlines_in_values=True, invalid_row_handler=lambda row: "skip")
    file.write_text(f"a,b\n{text}\nlast,row\n")
    rows = csv.read_csv(file, parse_options=options).to_pylist()
    assert rows[-1] == {"a": "last", "b": "row"}


def test_quotes_within_a_cell_are_text(tmp_path):
    (tmp_path / "in.csv").write_text('source,target,note\n1,2,5" pipe\n2,3,x\n')
    done = sparsify_table(str(tmp_path / "in.csv"), str(tmp_path / "out.csv"), 0.0)
    assert done.rows["total"] == 2
    assert '"5"" pipe"' in (tmp_path / "out.csv").read_text()


def test_line_of_a_quote_in_a_later_block(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "_BLOCK", 4)
    (tmp_path / "in.csv").write_text('a,b\n1,2\n3,"4\n')
    with pytest.raises(InputError, match="line 3"):
        CheckedStream(tmp_path / "in.csv").drain()


@pytest.mark.parametrize("engine", ENGINES)
def test_blanks_of_ids_stay(tmp_path, engine):
    """As in Parquet: ``ann`` and ``ann`` with a blank are two."""
    rows = [("ann", "bob"), (" ann", "bob"), ("bob ", "cat")]
    text = "source,target\n" + "".join(f"{a},{b}\n" for a, b in rows)
    (tmp_path / "in.csv").write_text(text)
    out = tmp_path / "out.csv"
    done = sparsify_table(str(tmp_path / "in.csv"), str(out), 0.0, engine=engine)
    assert done.degrees.nodes == 5
    assert out.read_text() == text
    table = pa.table({"source": [a for a, _ in rows], "target": [b for _, b in rows]})
    parquet.write_table(table, tmp_path / "in.parquet")
    out = str(tmp_path / "out.parquet")
    assert sparsify_table(str(tmp_path / "in.parquet"), out, 0.0, engine=engine) is not None
    assert parquet.read_table(out).equals(table)


@pytest.mark.parametrize("engine", ENGINES)
def test_integers_with_blanks(tmp_path, engine):
    """Neither trimmed nor two nodes by accident."""
    (tmp_path / "in.csv").write_text("source,target\n1,2\n1, 2\n")
    names = str(tmp_path / "in.csv"), str(tmp_path / "out.csv")
    with pytest.raises(InputError, match="row 2: target is ' 2', expected an integer without"):
        sparsify_table(*names, 0.0, engine=engine)
    assert sparsify_table(*names, 0.0, engine=engine, ids="text").degrees.nodes == 3
