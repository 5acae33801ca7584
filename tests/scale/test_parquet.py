"""Columns of Parquet keep their values, in Parquet and in CSV, or are refused."""

from datetime import datetime
from uuid import uuid4

import pyarrow as pa
import pytest
from pyarrow import parquet

from teddy.errors import InputError
from teddy.scale import sparsify_table

ENGINES = ["memory", "stream", "duckdb"]
ENDS = {"source": [1, 2, 3], "target": [2, 3, 4]}


def sparsify(tmp_path, value, out="out.parquet", engine="memory", **options):
    parquet.write_table(pa.table({**ENDS, "value": value}), tmp_path / "in.parquet", **options)
    names = str(tmp_path / "in.parquet"), str(tmp_path / out)
    sparsify_table(*names, 0.0, engine=engine)
    return tmp_path / out


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("year", [1, 9999])
def test_times_that_wrap_round(tmp_path, engine, year):
    """9999-12-31 in INT96, as old versions of Spark write it, is no day of 1816."""
    times = pa.array([datetime(2020, 1, 1), None, datetime(year, 12, 31)], pa.timestamp("us"))
    for value in (times, pa.StructArray.from_arrays([times], ["when"])):
        with pytest.raises(InputError, match="value has times before 1677 or after 2262"):
            sparsify(tmp_path, value, engine=engine, use_deprecated_int96_timestamps=True)


def test_times_with_nanoseconds(tmp_path):
    times = pa.array([1, None, 1_600_000_000_000_000_001], pa.timestamp("ns"))
    out = sparsify(tmp_path, times, use_deprecated_int96_timestamps=True)
    assert parquet.read_table(out)["value"].combine_chunks().equals(times)


@pytest.mark.parametrize("engine", ENGINES)
def test_empty_text_is_no_null(tmp_path, engine):
    out = sparsify(tmp_path, pa.array(["", None, "x"]), "out.csv", engine)
    assert out.read_text() == 'source,target,value\n1,2,""\n2,3,\n3,4,x\n'


@pytest.mark.parametrize(
    "value",
    [
        pa.array([uuid4().bytes] * 3, pa.uuid()),
        pa.array([b"0" * 16] * 3, pa.uuid()),
        pa.array([1, 2, 3], pa.duration("ms")),
        pa.array([[1], [], None]),
    ],
)
def test_values_that_csv_cannot_hold(tmp_path, value):
    with pytest.raises(InputError, match=r"column 'value' is .*, expected a type for CSV"):
        sparsify(tmp_path, value, "out.csv")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_column_and_a_field_of_one_name(tmp_path, engine):
    table = pa.table({"a.s": [1, 2], "a.t": [2, 3], "a": [{"s": 8, "t": 9}] * 2})
    parquet.write_table(table, tmp_path / "in.parquet")
    names = str(tmp_path / "in.parquet"), str(tmp_path / "out.parquet")
    sparsify_table(*names, 0.0, engine=engine, source="a.s", target="a.t")
    assert parquet.ParquetFile(tmp_path / "out.parquet").read().equals(table)
