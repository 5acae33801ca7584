"""Tables that can't be used; test_files.py has the good ones."""

import os

import pyarrow as pa
import pyarrow.parquet
import pytest

from teddy.tasks import load_dataset

from .small_graphs import message

EDGES = "source,target\n0,1\n1,2\n2,3\n"
NODES = "id,label,split,f1,f2\n0,0,train,1,2\n1,1,train,3,4\n2,0,val,5,6\n3,1,test,7,8\n"


def write(folder, edges=EDGES, nodes=NODES):
    (folder / "edges.csv").write_text(edges)
    (folder / "nodes.csv").write_text(nodes)
    return folder


def test_the_tables_here_are_good(tmp_path):
    assert load_dataset(write(tmp_path)).num_nodes == 4


NODE_ERRORS = {
    "word": ("3,4\n", "3,abc\n", "row 2: feature 'f2' is 'abc', expected a number"),
    "empty feature": ("3,4\n", "3,\n", "row 2: feature 'f2' is empty, expected a number"),
    "nan": ("7,8\n", "nan,8\n", "row 4: feature 'f1' is nan, expected a finite number"),
    "infinite": ("7,8\n", "-inf,8\n", "row 4: feature 'f1' is -inf, expected a finite number"),
    "too large": (
        "7,8\n",
        "1e99,8\n",
        "row 4: feature 'f1' is 1e+99, expected a finite number of at most 3.4e38",
    ),
    "duplicate id": ("\n3,1", "\n1,1", "row 4: id is '1' as in row 2, expected a new id"),
    "empty id": ("\n3,1", "\n,1", "row 4: id is empty, expected an integer or a name"),
    "split": (
        "2,0,val",
        "2,0,dev",
        "row 3: split is 'dev', expected train, val, test or an empty cell",
    ),
    "unlabelled": ("2,0,val", "2,,val", "row 3: label is empty, expected one: split is 'val'"),
    "minus one": (
        "2,0,val",
        "2,-1,",
        "row 3: label is '-1', expected a class from 0, a name, or an empty cell for no label",
    ),
    "no id": ("id,", "node,", "no column 'id', got 'node', 'label', 'split', 'f1', 'f2'"),
    "no label": ("label", "class", "no column 'label', got 'id', 'class', 'split', 'f1', 'f2'"),
    "column twice": ("f2", "f1", "column 'f1' occurs twice, expected it once"),
    "column without a name": (
        "f2",
        "",
        "column '' is a pandas index, expected a table written with index=False",
    ),
    "one class": ("1,1,train", "1,0,train", "all training labels are 0, expected at least two"),
    "no validation node": ("2,0,val", "2,0,", "val_mask has no node, expected at least one"),
}


@pytest.mark.parametrize("case", NODE_ERRORS)
def test_node_table(case, tmp_path):
    old, new, expected = NODE_ERRORS[case]
    assert old in NODES
    path = write(tmp_path, nodes=NODES.replace(old, new, 1))
    assert message(path).startswith(f"nodes.csv: {expected}")


@pytest.mark.parametrize("threads", [1, 2])
def test_a_ragged_row_is_named(threads, tmp_path):
    before = pa.cpu_count()
    pa.set_cpu_count(threads)  # which OMP_NUM_THREADS may have set to 1
    try:
        text = message(write(tmp_path, nodes=NODES.replace("7,8\n", "7,8,9\n")))
    finally:
        pa.set_cpu_count(before)
    assert text == "nodes.csv: row 4: 6 cells, expected 5"


EDGE_ERRORS = {
    "unknown source": ("2,3", "99,3", "row 3: source '99' is not an id of nodes.csv"),
    "unknown target": ("1,2", "1,x", "row 2: target 'x' is not an id of nodes.csv"),
    "empty": ("1,2", "1,", "row 2: target is empty, expected an id of nodes.csv"),
    "no source": ("source", "from", "no column 'source', got 'from', 'target'"),
    "no target": ("target", "to", "no column 'target', got 'source', 'to'"),
    "semicolons": ("source,target", "source;target", "no column 'source', got"),
}


@pytest.mark.parametrize("case", EDGE_ERRORS)
def test_edge_list(case, tmp_path):
    old, new, expected = EDGE_ERRORS[case]
    text = message(write(tmp_path, edges=EDGES.replace(old, new, 1)))
    if case == "semicolons":  # the header has one column, the rows have two
        assert text.startswith("edges.csv: row 1: 2 cells, expected 1")
    else:
        assert text == f"edges.csv: {expected}"


@pytest.mark.parametrize("file", ["edges.csv", "nodes.csv"])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "is empty, expected columns '"),
        (b"\n\n", "can't be read as a table ("),
        (b"source,target,id,label,f\n", "no rows, expected at least one"),
        (b"\xff\xfe\x00\x01\x80", "can't be read as a table ("),
        (b"source,target,id,label,f\n0,1,\xe9,1,1\n", "can't be read as a table ("),
    ],
)
def test_content_that_is_no_table(file, content, expected, tmp_path):
    write(tmp_path)
    (tmp_path / file).write_bytes(content)
    assert message(tmp_path).startswith(f"{file}: {expected}")


def test_every_label_empty(tmp_path):
    path = write(tmp_path, nodes="id,label,f\n0,,1\n1,,2\n2,,3\n3,,4\n")
    assert message(path) == "nodes.csv: all labels are empty, expected two classes"


def labelled(folder, labels):
    nodes = NODES
    for node, label in enumerate(labels):
        nodes = nodes.replace(f"\n{node},{node % 2},", f"\n{node},{label},")
    return write(folder, nodes=nodes)


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["1", "2", "0.37", "1e-3"], "row 3: label is '0.37'"),
        (["", "-2.5", "nan", "inf"], "row 2: label is '-2.5'"),
    ],
)
def test_numbers_with_fractions_are_not_classes(labels, found, tmp_path):
    assert message(labelled(tmp_path, labels)) == (
        f"nodes.csv: {found}, expected an integer or a name (a class); "
        "use the task regression for numbers"
    )


@pytest.mark.parametrize(
    "labels",
    [
        ["1.5", "2.0-beta"],
        ["1.5", "other"],
        ["1.0", "2.0"],
        ["inf", "nan"],
    ],
)
def test_names_that_look_like_numbers(labels, tmp_path):
    data = load_dataset(labelled(tmp_path, labels * 2))
    assert data.class_names == labels


def test_no_features(tmp_path):
    path = write(tmp_path, nodes="id,label\n0,0\n1,1\n2,0\n3,1\n")
    assert message(path).startswith("nodes.csv: no feature columns, expected columns other than")


@pytest.mark.parametrize("column", ["all empty", "not there"])
def test_no_split_in_the_tables(column, tmp_path):
    nodes = NODES.replace(",train", ",").replace(",val", ",").replace(",test", ",")
    if column == "not there":
        nodes = nodes.replace(",split", "").replace(",,", ",")
    assert message(write(tmp_path, nodes=nodes)).startswith("nodes.csv: has no split")
    assert load_dataset(tmp_path, split="50/25/25").split == "50/25/25"


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("id", [0.0, 1.0, 2.0, 3.0], "column 'id' is double, expected an integer or a name"),
        ("id", [0, 1, 1, 3], "row 3: id is 1 as in row 2, expected a new id"),
        ("label", [0.0, 1.0, 0.5, 1.0], "row 3: label is 0.5, expected an integer or a name"),
        ("label", [[0], [1], [0], [1]], "can't be read as a node table ("),
        ("label", [None] * 4, "all labels are empty, expected two classes"),
        ("f", [[0.5], [1], [0], [1]], "row 1: feature 'f' is [0.5], expected a number"),
        ("f", ["1", "2", "x", "4"], "row 3: feature 'f' is 'x', expected a number"),
        ("f", [1.0, None, 2.0, 3.0], "row 2: feature 'f' is empty, expected a number"),
        ("split", [1, 2, 3, 4], "row 1: split is 1, expected train, val, test or an empty cell"),
        ("__index_level_0__", [1, 2, 3, 4], "column '__index_level_0__' is a pandas index"),
    ],
)
def test_parquet_columns(column, values, expected, tmp_path):
    columns = {"id": [0, 1, 2, 3], "label": [0, 1, 0, 1], "f": [1.0, 2.0, 3.0, 4.0]}
    pa.parquet.write_table(pa.table(columns | {column: values}), tmp_path / "nodes.parquet")
    (tmp_path / "edges.csv").write_text(EDGES)
    assert message(tmp_path, split="50/25/25").startswith(f"nodes.parquet: {expected}")


def test_parquet_edges(tmp_path):
    write(tmp_path)
    (tmp_path / "edges.csv").unlink()
    path = tmp_path / "edges.parquet"
    pa.parquet.write_table(pa.table({"source": [0, 99], "target": [1, 2]}), path)
    assert message(tmp_path) == "edges.parquet: row 2: source 99 is not an id of nodes.csv"
    path.write_bytes(path.read_bytes()[:-20])
    assert message(tmp_path).startswith("edges.parquet: can't be read as a table (")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_unreadable(tmp_path):
    write(tmp_path)
    (tmp_path / "nodes.csv").chmod(0)
    assert message(tmp_path).startswith("nodes.csv: can't be read as a table (")
