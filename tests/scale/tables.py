"""Edge tables of tests."""

from pathlib import Path

import pyarrow as pa
from hypothesis import strategies as st
from pyarrow import csv, parquet

#: Ids of few nodes: many edges twice, both ways, and many of one score.
NAMES = ["a", "b", "a-b", "b-a", "ä", "日本", "node 7", "7", "07", "-", "x" * 40, "A"]


@st.composite
def edge_rows(draw, text=None):
    """Rows of a random graph; half of them of rings, stars and the like, where scores are equal."""
    text = draw(st.booleans()) if text is None else text
    size = draw(st.integers(2, 12))
    shape = draw(st.sampled_from(["random", "ring", "star", "complete"]))
    if shape == "ring":
        pairs = [(i, (i + 1) % size) for i in range(size)]
    elif shape == "star":
        pairs = [(0, i) for i in range(1, size)]
    elif shape == "complete":
        pairs = [(i, j) for i in range(size) for j in range(i)]
    else:
        ends = st.integers(0, size - 1)
        pairs = draw(st.lists(st.tuples(ends, ends), min_size=0, max_size=60))
    again = draw(st.lists(st.sampled_from(pairs), max_size=10)) if pairs else []
    pairs = pairs + [(b, a) for a, b in again] + again[:3]
    pairs = draw(st.permutations(pairs))
    if text:
        return [(NAMES[a], NAMES[b]) for a, b in pairs]
    first, step = draw(st.sampled_from([(0, 1), (-5, 1), (10**12, 10**9), (-(2**63), 2**58)]))
    return [(first + step * a, first + step * b) for a, b in pairs]


def write(path: Path, rows, files: int = 1, **columns) -> str:
    """Write rows, with a column that numbers them, to a file or a folder."""
    text = any(isinstance(end, str) for row in rows for end in row)
    kind = pa.string() if text else pa.int64()
    table = pa.table(
        {
            "source": pa.array([row[0] for row in rows], kind),
            "target": pa.array([row[1] for row in rows], kind),
            "place": pa.array(range(len(rows)), pa.int32()),
            **columns,
        }
    )
    if files > 1:
        path.mkdir()
        step = -(-len(rows) // files) or 1
        for i in range(files):
            parquet.write_table(table.slice(i * step, step), path / f"{i}.parquet")
    elif path.suffix == ".csv":
        csv.write_csv(table, path)
    else:
        parquet.write_table(table, path, row_group_size=max(16, len(rows) // 8))
    return str(path)


def places(path: str | Path) -> list[int]:
    """Numbers of the rows that are left, in their order."""
    found = (csv.read_csv if Path(path).suffix == ".csv" else parquet.read_table)(path)
    return [int(place) for place in found["place"].to_pylist()]
