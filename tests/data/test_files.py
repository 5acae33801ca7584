"""The same graph through every kind of file."""

import doctest
import re
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import scipy.sparse
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from teddy.data import check_data
from teddy.errors import InputError
from teddy.tasks import load_dataset

from .small_graphs import assert_same, small_data

DOCS = Path(__file__).parents[2] / "docs/data.md"
MASKS = ("train_mask", "val_mask", "test_mask")


def write_npz(folder, data, sparse=False):
    path = folder / "graph.npz"
    arrays = {key: data[key].numpy() for key in ("edge_index", "y", *MASKS)}
    if sparse:
        x = scipy.sparse.csr_matrix(data.x.numpy())
        arrays |= {"x_indptr": x.indptr, "x_indices": x.indices, "x_data": x.data}
    else:
        arrays["x"] = data.x.numpy()
    np.savez(path, **arrays, num_nodes=len(data.y))
    return path


def write_pt(folder, data):
    path = folder / "graph.pt"
    torch.save(data, path)
    return path


def tables(data, ids=None):
    ids = list(range(len(data.y))) if ids is None else ids
    split = [None] * len(ids)
    for key in MASKS:
        for node in data[key].nonzero().flatten().tolist():
            split[node] = key.removesuffix("_mask")
    edges = pa.table(
        {
            "source": [ids[node] for node in data.edge_index[0].tolist()],
            "since": ["any"] * data.edge_index.size(1),
            "target": [ids[node] for node in data.edge_index[1].tolist()],
        }
    )
    nodes = pa.table(
        {
            "id": ids,
            "label": [label if label >= 0 else None for label in data.y.tolist()],
            "split": split,
            **{f"f{column}": data.x[:, column].tolist() for column in range(data.x.size(1))},
        }
    )
    return edges, nodes


def write_tables(folder, data, kind="csv", ids=None, node_kind=None):
    for name, table in zip(("edges", "nodes"), tables(data, ids), strict=True):
        this = kind if name == "edges" else node_kind or kind
        path = folder / f"{name}.{this}"
        write = {"csv": pa.csv.write_csv, "parquet": pa.parquet.write_table}[this]
        write(table, path)
    return folder


WRITERS = {
    "npz": write_npz,
    "npz, sparse features": lambda folder, data: write_npz(folder, data, sparse=True),
    "pt": write_pt,
    "csv": write_tables,
    "parquet": lambda folder, data: write_tables(folder, data, "parquet"),
    "mixed": lambda folder, data: write_tables(folder, data, "parquet", node_kind="csv"),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_every_kind_gives_the_same_data(kind, small, tmp_path):
    data = load_dataset(WRITERS[kind](tmp_path, small))
    assert check_data(data) is data
    assert torch.equal(data.x, small.x)
    assert data.edge_index.tolist() == [
        [0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5],
        [1, 2, 0, 2, 0, 1, 3, 2, 4, 3, 5, 4],
    ]
    for key in ("y", *MASKS):
        assert torch.equal(data[key], small[key]), key
    expected = {"x", "edge_index", "y", *MASKS, "num_nodes", "name", "split"}
    assert set(data.keys()) - {"feature_names"} == expected
    named = ["f0", "f1"] if kind in ("csv", "parquet", "mixed") else None
    assert data.get("feature_names") == named
    assert (data.num_nodes, data.split) == (6, "public")


def test_name_is_the_file_without_its_folder(small, tmp_path):
    assert load_dataset(str(write_npz(tmp_path, small))).name == "graph.npz"
    assert load_dataset(write_tables(tmp_path, small)).name == tmp_path.name
    assert load_dataset(tmp_path / "edges.csv").name == "edges.csv"


@pytest.mark.parametrize("kind", ["npz", "csv"])
def test_sparse_features_come_out_sparse(kind, small, tmp_path):
    small.x = torch.eye(6)
    data = load_dataset(WRITERS[kind](tmp_path, small))
    assert data.x.layout == torch.sparse_csr
    assert torch.equal(data.x.to_dense(), torch.eye(6))


@given(st.randoms(use_true_random=False))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_messy_edges_give_the_same_data(tmp_path, random):
    clean = load_dataset(write_npz(tmp_path, small_data()))
    messy = small_data()
    columns = messy.edge_index.t().tolist()
    columns += [column[::-1] for column in columns if random.random() < 0.5]
    columns += [*random.choices(columns, k=3), [2, 2], [5, 5]]
    random.shuffle(columns)
    messy.edge_index = torch.tensor(columns).t()
    assert_same(load_dataset(write_npz(tmp_path, messy)), clean)
    assert_same(load_dataset(write_tables(tmp_path, messy)), clean)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    "ids",
    [["ann", "bob", "zoë", "10", "9", "x y"], ["000", "001", "002", "003", "4", "5"],
     [10, 20, 30, 50, 40, -7]],
)  # fmt: skip
def test_ids_of_any_kind(ids, kind, small, tmp_path):
    plain = load_dataset(write_npz(tmp_path, small))
    data = load_dataset(write_tables(tmp_path, small, kind, ids))
    assert data.node_ids == ids
    del data.node_ids
    assert_same(data, plain)


def test_integer_ids_meet_across_csv_and_parquet(small, tmp_path):
    data = load_dataset(write_tables(tmp_path, small, "parquet", [3, 1, 4, 15, 9, 2], "csv"))
    assert data.node_ids == [3, 1, 4, 15, 9, 2]


def test_class_names(tmp_path):
    write = (tmp_path / "edges.csv").write_text
    write("source,target\n0,1\n1,2\n2,3\n")
    header = "id,label,split,f\n"
    nodes = tmp_path / "nodes.csv"
    nodes.write_text(header + "0,sun,train,1\n1,moon,train,2\n2,sun,val,3\n3,moon,test,4\n")
    data = load_dataset(tmp_path)
    assert (data.y.tolist(), data.class_names) == ([1, 0, 1, 0], ["moon", "sun"])
    assert "node_ids" not in data
    nodes.write_text(header + "0,10,train,1\n1,2,train,2\n2,10,val,3\n3,2,test,4\n")
    data = load_dataset(tmp_path)
    assert (data.y.tolist(), data.class_names) == ([1, 0, 1, 0], ["2", "10"])


def test_labels_that_pandas_made_floats(small, tmp_path):
    edges, nodes = tables(small)
    place = nodes.column_names.index("label")
    nodes = nodes.set_column(place, "label", nodes["label"].cast(pa.float64()))
    pa.parquet.write_table(nodes, tmp_path / "nodes.parquet")
    pa.parquet.write_table(edges, tmp_path / "edges.parquet")
    data = load_dataset(tmp_path)
    assert torch.equal(data.y, small.y)
    assert "class_names" not in data


def test_categories_blanks_byte_order_mark_and_carriage_returns(tmp_path, small):
    plain = load_dataset(write_tables(tmp_path, small))
    for file in ("edges.csv", "nodes.csv"):
        text = (tmp_path / file).read_text().replace(",", " , ").replace("\n", "\r\n")
        (tmp_path / file).write_bytes(b"\xef\xbb\xbf" + text.replace('"', "").encode())
    assert_same(load_dataset(tmp_path), plain)
    nodes = tables(small)[1]
    place = nodes.column_names.index("split")
    nodes = nodes.set_column(place, "split", nodes["split"].dictionary_encode())
    pa.parquet.write_table(nodes, tmp_path / "nodes.parquet")
    data = load_dataset(tmp_path / "edges.csv", nodes=tmp_path / "nodes.parquet")
    assert_same(data, plain)


def test_node_table_by_name(small, tmp_path):
    plain = load_dataset(write_tables(tmp_path, small))
    (tmp_path / "nodes.csv").rename(tmp_path / "people.csv")
    assert_same(load_dataset(tmp_path / "edges.csv", nodes=tmp_path / "people.csv"), plain)
    assert_same(load_dataset(tmp_path, nodes=str(tmp_path / "people.csv")), plain)


def test_a_split_may_be_drawn_in_place_of_the_files(small, tmp_path):
    small.y = torch.tensor([0, 1, 0, 1, 0, 1])
    path = write_npz(tmp_path, small)
    data = load_dataset(path, split="50/25/25", seed=2)
    assert data.split == "50/25/25"
    assert [int(data[key].sum()) for key in MASKS] == [3, 1, 2]  # cuts at 3 and at 4.5, to even


def test_missing_split_raises_with_the_option(small, tmp_path):
    path = tmp_path / "graph.npz"
    np.savez(path, x=small.x, y=small.y, edge_index=small.edge_index)
    expected = (
        "graph.npz: has no split, pass split as 'random' or percentages such as "
        "'20/40/40' (--split 20/40/40)"
    )
    for split in (None, "public"):
        with pytest.raises(InputError) as caught:
            load_dataset(path, split=split)
        assert str(caught.value) == expected


def test_other_fields_of_a_saved_data_are_left_out(small, tmp_path):
    small.edge_attr = torch.ones(6, 3)
    small.note = "hello"
    assert {"edge_attr", "note"}.isdisjoint(load_dataset(write_pt(tmp_path, small)).keys())


def test_the_example_in_the_docs(tmp_path, monkeypatch):
    text = DOCS.read_text()
    blocks = re.findall(r"^```csv (\S+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert [name for name, _ in blocks] == ["edges.csv", "nodes.csv"]
    for name, content in blocks:
        (tmp_path / name).write_text(content)
    shutil.copytree(DOCS.parents[1] / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(examples) == 4
    code = "\n".join(examples)
    test = doctest.DocTestParser().get_doctest(code, {}, "docs/data.md", str(DOCS), 0)
    result = doctest.DocTestRunner().run(test)
    assert (result.attempted > 14, result.failed) == (True, 0)


def test_the_table_in_the_docs_is_the_catalog():
    from teddy.data import list_datasets

    for info in list_datasets():
        name = f"{info.name} (bundled)" if info.bundled else info.name
        row = f"| {name} | {info.nodes} | {info.edges} | {info.features} | {info.classes} |"
        assert row in DOCS.read_text()


def test_data_works_in_pyg(small, tmp_path):
    data = load_dataset(write_npz(tmp_path, small))
    assert isinstance(data.clone().to("cpu"), Data)
    assert data.is_undirected()
    assert not data.has_self_loops()
    assert data.validate()
