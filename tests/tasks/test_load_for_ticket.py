"""Graphs whose labels are to be predicted."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import torch

from data.small_graphs import assert_same, write_fields
from data.test_tables import EDGES, write
from data.test_tables import NODES as ALL_NODES
from teddy.data.features import column_order, feature_names, take_columns
from teddy.errors import InputError
from teddy.tasks import load_dataset, load_to_predict

NODES = ALL_NODES.replace("train,1,", "train,9,")  # labels alone are 0 or 1
CLASSES = ["0", "1"]


def test_complete_data_are_loaded_as_for_a_search(tmp_path):
    fields = write_fields(tmp_path)
    for path, classes in ((write(tmp_path), CLASSES), (fields, ["0", "1", "2"])):
        plain = load_dataset(path)
        del plain.split
        assert_same(load_to_predict(path, classes=classes), plain)
    with pytest.raises(InputError, match=r"y\[4\] is 2, expected a class of the model, 0 to 1"):
        load_to_predict(fields, classes=CLASSES)


@pytest.mark.parametrize(
    ("nodes", "classes", "y"),
    [
        (NODES, ["1", "0"], [1, 0, 1, 0]),
        (NODES.replace(",1,", ",,"), CLASSES, [0, -1, 0, -1]),  # no node of a class
        (NODES.replace(",0,", ",,"), CLASSES, [-1, 1, -1, 1]),
        (NODES.replace(",0,", ",sun,").replace(",1,", ",,"), ["moon", "sun"], [1, -1, 1, -1]),
        (NODES.replace(",0,", ",,").replace(",1,", ",,"), CLASSES, None),
        (NODES.replace("label,", "").replace(",0,", ",").replace(",1,", ","), CLASSES, None),
    ],
)
def test_labels_have_the_numbers_that_they_had(nodes, classes, y, tmp_path):
    data = load_to_predict(write(tmp_path, nodes=nodes), classes=classes)
    assert (None if y is None else data.y.tolist()) == y
    assert ("y" in data) == (y is not None)
    assert data.train_mask.tolist() == [True, True, False, False]  # whether labelled or not
    assert "class_names" not in data


@pytest.mark.parametrize("labels", [[None, 1, None, 1], [None, 1.0, float("nan"), 1.0]])
def test_labels_in_parquet(labels, tmp_path):
    (tmp_path / "edges.csv").write_text(EDGES)
    table = pa.table({"id": range(4), "label": labels, "f": [1.0, 2.0, 3.0, 4.0]})
    pa.parquet.write_table(table, tmp_path / "nodes.parquet")
    assert load_to_predict(tmp_path, classes=CLASSES).y.tolist() == [-1, 1, -1, 1]


@pytest.mark.parametrize("empty", [[None] * 4, [float("nan")] * 4, [""] * 4])
@pytest.mark.parametrize("task", ["classification", "multilabel", "regression"])
def test_every_label_empty(empty, task, tmp_path):
    (tmp_path / "edges.csv").write_text(EDGES)
    table = pa.table({"id": range(4), "label": empty, "f": [1.0, 2.0, 3.0, 4.0]})
    pa.parquet.write_table(table, tmp_path / "nodes.parquet")
    classes = CLASSES if task == "classification" else []
    assert set(load_to_predict(tmp_path, classes=classes, task=task).keys()) == {
        "x", "edge_index", "num_nodes", "name", "feature_names",
    }  # fmt: skip


def test_numbers_may_be_missing(tmp_path):
    path = write(tmp_path, nodes=NODES.replace("3,1,", "3,,"))
    y = load_to_predict(path, task="regression").y
    assert y.isnan().tolist() == [False, False, False, True]


@pytest.mark.parametrize("task", ["classification", "multilabel", "regression"])
def test_one_file_without_labels_or_masks(task, tmp_path):
    masks = dict.fromkeys(("train_mask", "val_mask", "test_mask"))
    data = load_to_predict(write_fields(tmp_path, y=None, **masks), task=task)
    assert set(data.keys()) == {"x", "edge_index", "num_nodes", "name"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"y": np.zeros(3, int)}, "y has shape [3], expected [6]"),
        ({"val_mask": None}, "has train_mask but no val_mask, expected all three masks or none"),
        ({"val_mask": np.zeros(6)}, "val_mask is float64, expected bool"),
        ({"val_mask": np.zeros(5, bool)}, "val_mask has shape [5], expected [6]"),
        ({"x": np.full((6, 1), np.nan)}, "x[0, 0] is nan, expected finite features"),
    ],
)
def test_loaded_data_must_match_the_ticket(change, expected, tmp_path):
    with pytest.raises(InputError) as caught:
        load_to_predict(write_fields(tmp_path, **change))
    assert str(caught.value) == f"graph.npz: {expected}"


def test_an_unknown_class_is_refused(tmp_path):
    with pytest.raises(InputError) as caught:
        load_to_predict(write(tmp_path), classes=["0", "2"])
    assert str(caught.value) == (
        "nodes.csv: row 2: label is '1', expected a class of the model ('0', '2'), or an empty cell"
    )


def test_classes_without_names_are_numbers(tmp_path):
    data = load_to_predict(write(tmp_path, nodes=NODES.replace(",0,", ",,")))
    assert data.y.tolist() == [-1, 1, -1, 1]
    with pytest.raises(InputError, match="labels are names, expected the class names"):
        load_to_predict(write(tmp_path, nodes=NODES.replace(",0,", ",sun,")))


def test_names_of_features(tmp_path):
    data = load_dataset(write(tmp_path))
    assert feature_names(data) == ["f1", "f2"]
    data.x = data.x[:, :1]
    assert feature_names(data) is None
    data.feature_names = ["a", "a"]
    data.x = torch.ones(4, 2)
    assert feature_names(data) is None


def test_missing_and_new_columns_are_reported():
    for names, expected in (
        (["a"], "missing 'b', 'c'"),
        (["a", "b", "c", "d"], "new 'd'"),
        (["a", "B", "c"], "missing 'b', new 'B'"),
    ):
        with pytest.raises(InputError, match=rf"differ from those of training: {expected}$"):
            column_order(names, ["a", "b", "c"])


@pytest.mark.parametrize("layout", ["dense", "CSR"])
def test_columns_in_another_order(layout):
    x = torch.rand(7, 5, generator=torch.Generator().manual_seed(0))
    x = x * (x > 0.4)
    order = torch.tensor([3, 0, 4, 1, 2])
    found = take_columns(x.to_sparse_csr() if layout == "CSR" else x, order)
    assert torch.equal(found.to_dense(), x[:, order])
