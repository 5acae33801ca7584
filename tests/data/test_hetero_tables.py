"""Folders of tables of a heterogeneous graph: good ones, and those that can't be used."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet
import pytest
import torch
from torch_geometric.data import HeteroData

import teddy
from teddy.data.reverse_edges import add_reverse_edges
from teddy.tasks import load_dataset, load_to_predict

from .small_graphs import message

TABLES = {
    "nodes/paper.csv": "id,label,split,f1,f2\np1,x,train,1,2\np2,y,train,3,4\np3,x,val,5,6\n"
    "p4,y,test,7,8\np5,,,9,0\n",
    "nodes/author.csv": "id,age\n7,30\n3,40\n",
    "edges/author__writes__paper.csv": "source,target,weight\n7,p1,0.5\n3,p2,2\n7,p3,1\n3,p5,4\n",
    "edges/paper__cites__paper.csv": "source,target\np1,p2\np4,p3\n",
    "edges/paper__at__venue.csv": "source,target\np1,10\np2,9\np3,10\n",
}
WRITES, REV = ("author", "writes", "paper"), ("paper", "rev_writes", "author")
CITES, AT = ("paper", "cites", "paper"), ("paper", "at", "venue")


def write(folder, **tables):
    """Write the tables, with others in place of some; None leaves one out."""
    for name, text in {**TABLES, **tables}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        if text is not None:
            (folder / name).write_text(text)
    return folder


def test_a_folder_is_a_heterogeneous_graph(tmp_path):
    (tmp_path / "library").mkdir()
    data = load_dataset(write(tmp_path / "library"))
    assert isinstance(data, HeteroData)
    assert (data.name, data.split, data.class_names) == ("library", "public", ["x", "y"])
    assert sorted(data.node_types) == ["author", "paper", "venue"]
    paper, author, venue = data["paper"], data["author"], data["venue"]
    assert paper.x.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8], [9, 0]]
    assert paper.y.tolist() == [0, 1, 0, 1, -1]
    assert paper.train_mask.tolist() == [True, True, False, False, False]
    assert (paper.node_ids[0], paper.feature_names) == ("p1", ["f1", "f2"])
    assert (author.node_ids, author.x.tolist()) == ([7, 3], [[30], [40]])
    assert (venue.node_ids, venue.num_nodes, "x" in venue) == ([9, 10], 2, False)
    assert data[WRITES].edge_index.tolist() == [[0, 1, 0, 1], [0, 1, 2, 4]]
    assert data[WRITES].edge_weight.tolist() == [0.5, 2, 1, 4]
    assert data[REV].edge_index.tolist() == [[0, 1, 2, 4], [0, 1, 0, 1]]
    assert data[REV].edge_weight.tolist() == [0.5, 2, 1, 4]
    assert data[CITES].edge_index.tolist() == [[0, 1, 2, 3], [1, 0, 3, 2]]
    assert data["venue", "rev_at", "paper"].edge_index.tolist() == [[1, 0, 1], [0, 1, 2]]
    sparse = teddy.SparsifyEdges(0.5)(data)
    assert sparse[WRITES].num_edges == 2


def test_directed_relations_get_no_reverse(tmp_path):
    data = load_dataset(write(tmp_path), directed=True)
    assert sorted(data.edge_types) == sorted([WRITES, CITES, AT])
    assert data[CITES].edge_index.tolist() == [[0, 3], [1, 2]]


@pytest.mark.parametrize("name", ["rev_writes", "written_by"])
def test_a_reverse_that_is_listed_is_not_added(tmp_path, name):
    back = "source,target\np5,3\np3,7\np2,3\np1,7\n"
    data = load_dataset(write(tmp_path, **{f"edges/paper__{name}__author.csv": back}))
    between = [kind for kind in data.edge_types if "author" in kind]
    assert sorted(between) == sorted([WRITES, ("paper", name, "author")])


def test_parquet_and_csv_are_the_same(tmp_path):
    (tmp_path / "csv").mkdir()
    (tmp_path / "parquet").mkdir()
    plain = load_dataset(write(tmp_path / "csv"))
    mixed = write(tmp_path / "parquet", **{"nodes/author.csv": None})
    table = pa.table({"id": [7, 3], "age": [30.0, 40.0]})
    pa.parquet.write_table(table, mixed / "nodes" / "author.parquet")
    data = load_dataset(mixed)
    for store, other in zip(plain.stores, data.stores, strict=True):
        for key, value in store.items():
            if key != "name":
                same = torch.equal(value, other[key]) if torch.is_tensor(value) else None
                assert same or value == other[key], key


def test_a_drawn_split(tmp_path):
    data = load_dataset(write(tmp_path), split="50/25/25", seed=3)
    assert (data.split, data.split_seed) == ("50/25/25", 3)
    assert int(data["paper"].train_mask.sum()) == 2
    other = load_dataset(tmp_path, split="50/25/25", seed=3)
    assert torch.equal(data["paper"].test_mask, other["paper"].test_mask)


def test_the_target_is_a_choice_where_several_have_labels(tmp_path):
    labelled = "id,label,split,age\n7,a,train,30\n3,b,val,40\n5,b,train,1\n6,a,test,2\n"
    write(tmp_path, **{"nodes/author.csv": labelled})
    text = message(tmp_path)
    assert "target is missing and author and paper have a column 'label', expected" in text
    assert load_dataset(tmp_path, target="author")["author"].y.tolist() == [0, 1, 1, 0]
    papers = load_dataset(tmp_path, target="paper")
    assert "y" not in papers["author"]
    assert papers["author"].x.tolist() == [[30], [40], [1], [2]]


def test_labels_may_be_numbers(tmp_path):
    rows = [f"p{number},{number / 2},{number},1" for number in range(1, 6)]
    table = "\n".join(["id,label,f1,f2", *rows, ""])
    folder = write(tmp_path, **{"nodes/paper.csv": table + "p6,3,1,1\n"})
    data = load_dataset(folder, task="regression", split="34/33/33")
    assert data["paper"].y.tolist() == [0.5, 1, 1.5, 2, 2.5, 3]


def test_to_predict_labels_and_split_may_be_missing(tmp_path):
    bare = "id,f1,f2\np1,1,2\np2,3,4\np3,5,6\np4,7,8\np5,9,0\n"
    data = load_to_predict(
        write(tmp_path, **{"nodes/paper.csv": bare}), classes=["x", "y"], target="paper"
    )
    assert "y" not in data["paper"]
    assert "train_mask" not in data["paper"]
    write(tmp_path)
    data = load_to_predict(tmp_path, classes=["y", "x"], target="paper")
    assert data["paper"].y.tolist() == [1, 0, 1, 0, -1]


def test_a_saved_graph_is_the_same(tmp_path):
    data = load_dataset(write(tmp_path))
    torch.save(data, tmp_path / "graph.pt")
    again = load_dataset(tmp_path / "graph.pt")
    assert again.name == "graph.pt"
    assert again.metadata() == data.metadata()
    for store in data.stores:
        for key, value in store.items():
            if key not in ("name", "split"):
                other = again[store._key][key] if store._key else getattr(again, key)
                assert torch.equal(value, other) if torch.is_tensor(value) else value == other
    assert load_dataset(tmp_path / "graph.pt", split="50/25/25").split_seed == 0


def test_a_saved_graph_is_checked(tmp_path):
    data = load_dataset(write(tmp_path))
    data["author"].x[1, 0] = torch.nan
    torch.save(data, tmp_path / "graph.pt")
    assert "data['author']: x[1, 0] is nan, expected finite" in message(tmp_path / "graph.pt")
    data["author"].x[1, 0] = 0
    data[WRITES].edge_index[0, 0] = 9
    torch.save(data, tmp_path / "graph.pt")
    expected = "graph.pt (author, writes, paper): edge_index[0, 0] is 9, expected a node from 0 to"
    assert expected in message(tmp_path / "graph.pt")


def test_weights_of_both_directions_must_agree(tmp_path):
    data = HeteroData(paper={"num_nodes": 2})
    data[CITES].edge_index = torch.tensor([[0, 1], [1, 0]])
    data[CITES].edge_weight = torch.tensor([1.0, 2.0])
    with pytest.raises(
        teddy.InputError, match=r"data \(paper, cites, paper\): edge_weight of edge"
    ):
        add_reverse_edges(data)
    data[CITES].edge_weight = torch.tensor([1.0, 1.0])
    assert add_reverse_edges(data)[CITES].edge_weight.tolist() == [1, 1]


PAPERS, EDGES = TABLES["nodes/paper.csv"], TABLES["edges/paper__cites__paper.csv"]
WRONG = {
    "unknown id": (
        {"edges/paper__cites__paper.csv": EDGES + "p1,p9\n"},
        "paper__cites__paper.csv: row 3: target 'p9' is not an id of nodes/paper.csv",
    ),
    "wrong end": (
        {"edges/author__writes__paper.csv": "source,target\np1,7\n"},
        "author__writes__paper.csv: row 1: source 'p1' is not an id of nodes/author.csv",
    ),
    "missing id": (
        {"edges/paper__at__venue.csv": "source,target\np1,10\np2,\n"},
        "paper__at__venue.csv: row 2: target is empty, expected an integer or a name",
    ),
    "duplicate id": (
        {"nodes/paper.csv": PAPERS + "p1,,,1,1\n"},
        "paper.csv: row 6: id is 'p1' as in row 1, expected a new id",
    ),
    "no rows": (
        {"edges/paper__cites__paper.csv": "source,target\n"},
        "paper__cites__paper.csv: no rows, expected at least one",
    ),
    "no source": (
        {"edges/paper__cites__paper.csv": "from,to\np1,p2\n"},
        "paper__cites__paper.csv: no column 'source', got 'from', 'to'",
    ),
    "two parts": (
        {"edges/author_paper.csv": EDGES},
        "edges/author_paper.csv: invalid name, expected two types and their relation, such as aut",
    ),
    "empty part": (
        {"edges/author____paper.csv": EDGES},
        "edges/author____paper.csv: invalid name, expected two types",
    ),
    "type without relations": (
        {"nodes/papers.csv": "id,f\n1,2\n"},
        "nodes/papers.csv: type 'papers' is in no relation of",
    ),
    "no table": (
        {"edges/notes.txt": "hello"},
        "edges/notes.txt: ends in '.txt', expected tables, .csv or .parquet",
    ),
    "two tables": (
        {"nodes/paper.parquet": "x"},
        "has two tables 'paper', expected one",
    ),
    "no features": (
        {"nodes/paper.csv": "id,label\np1,x\np2,y\np3,x\np4,y\np5,x\n"},
        "paper.csv: no feature columns, expected columns other than id, label, split",
    ),
    "no labels": (
        {"nodes/paper.csv": "id,f1\np1,1\np2,2\np3,3\np4,4\np5,5\n"},
        "target is missing and no type has a column 'label', expected one of: author, paper",
    ),
    "word as a feature": (
        {"nodes/author.csv": "id,age\n7,old\n3,40\n"},
        "author.csv: row 1: feature 'age' is 'old', expected a number",
    ),
    "word as a weight": (
        {"edges/paper__cites__paper.csv": "source,target,weight\np1,p2,much\n"},
        "paper__cites__paper.csv: row 1: weight is 'much', expected a number",
    ),
    "no validation": (
        {"nodes/paper.csv": PAPERS.replace("val", "")},
        "'paper': val_mask has no node, expected at least one",
    ),
    "no split": (
        {"nodes/paper.csv": "id,label,f\np1,x,1\np2,y,2\np3,x,3\np4,y,4\np5,x,5\n"},
        "'paper': has no split, pass split as 'random' or percentages",
    ),
    "edges.csv beside it": ({"edges.csv": EDGES}, "has edges.csv and a folder edges, expected"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_invalid_tables_raise_one_line(case, tmp_path):
    tables, expected = WRONG[case]
    assert expected in message(write(tmp_path, **tables))


def test_an_unknown_target_and_empty_folders(tmp_path):
    write(tmp_path)
    expected = "target is 'venue', expected a type with a node table: author, paper"
    assert expected in message(tmp_path, target="venue")
    (tmp_path / "empty" / "edges").mkdir(parents=True)
    text = message(tmp_path / "empty")
    assert "edges: has no tables, expected one or more such as author__writes__pap" in text
