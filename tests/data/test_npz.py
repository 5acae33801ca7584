"""An npz that can't be used, and the less usual ones that can; test_files.py has the rest."""

import io
import zipfile

import numpy as np
import pytest
import torch

from teddy.tasks import load_dataset

from .small_graphs import message, small_data, write_fields

CSR = {"x": None, "x_indptr": [0, 1, 1, 2, 2, 2, 3], "x_indices": [0, 1, 2]}
NPZ_ERRORS = {
    "no x": ({"x": None}, "no x, expected a feature matrix of shape [N, F]"),
    "no edges": ({"edge_index": None}, "no edge_index, expected an integer tensor"),
    "no y": ({"y": None}, "no y, expected an integer label for each node"),
    "nan": ({"x": np.full((6, 2), np.nan)}, "x[0, 0] is nan, expected finite features"),
    "objects": (
        {"y": np.array([0, 1, None, 1, 0, 1], dtype=object)},
        "y has Python objects, expected numbers",
    ),
    "text": ({"y": np.array(list("abcabc"))}, "y is <U1, expected numbers"),
    "complex": ({"x": np.ones((6, 1), dtype=complex)}, "x is complex128, expected numbers"),
    "float labels": ({"y": np.zeros(6)}, "y is float64, expected integers"),
    "edges": ({"edge_index": [[0, 1], [1, 6]]}, "edge_index[1, 1] is 6, expected a node from 0"),
    "mask numbers": ({"train_mask": [0, 1]}, "train_mask is int64, expected bool"),
    "two masks": (
        {"val_mask": None},
        "has train_mask but no val_mask, expected all three masks or none",
    ),
    "num_nodes": ({"num_nodes": 7}, "x has 6 rows, expected 7 (num_nodes)"),
    "num_nodes list": ({"num_nodes": [6, 6]}, "num_nodes has shape [2], expected one number"),
    "no indices": (CSR | {"x_indices": None}, "no x_indices, expected it with x_indptr"),
    "float indices": (
        CSR | {"x_indices": [0.0, 1.0, 2.0]},
        "x_indices is float64 of shape [3], expected integers in one dimension",
    ),
    "column": (
        CSR | {"x_shape": [6, 2]},
        "x_indices[2] is 2, expected a column from 0 to 1",
    ),
    "negative column": (
        CSR | {"x_indices": [0, -4, 2]},
        "x_indices[1] is -4, expected a column from 0 to 2",
    ),
    "indptr": (CSR | {"x_indptr": [0, 1, 1, 2, 2, 1, 3]}, "can't be read as a CSR matrix in"),
    "short data": (CSR | {"x_data": [1.0, 2.0]}, "can't be read as a CSR matrix in"),
    "shape": (CSR | {"x_shape": [6]}, "can't be read as a CSR matrix in"),
    "rows": (CSR | {"x_indptr": [0, 1, 2, 3]}, "edge_index[0, 3] is 3, expected a node from 0"),
    "sparse nan": (
        CSR | {"x_data": [1.0, np.nan, 1.0]},
        "x[2, 1] is nan, expected finite features",
    ),
}


@pytest.mark.parametrize("case", NPZ_ERRORS)
def test_npz(case, tmp_path):
    fields, expected = NPZ_ERRORS[case]
    assert message(write_fields(tmp_path, **fields)).startswith(f"graph.npz: {expected}")


def test_npz_of_other_widths_and_byte_orders(tmp_path):
    plain = load_dataset(write_fields(tmp_path))
    small = small_data()
    edge_index = small.edge_index.numpy().astype(np.uint16)
    x = small.x.numpy().astype(">f8")
    data = load_dataset(
        write_fields(tmp_path, edge_index=edge_index, x=x, y=small.y.numpy().astype(">i2"))
    )
    assert torch.equal(data.x, plain.x)
    assert torch.equal(data.edge_index, plain.edge_index)
    assert torch.equal(data.y, plain.y)


def test_npz_sparse_without_values_is_ones(tmp_path):
    data = load_dataset(write_fields(tmp_path, **CSR, x_shape=[6, 4]))
    assert data.x.to_dense().nonzero().tolist() == [[0, 0], [2, 1], [5, 2]]
    assert data.x.shape == (6, 4)
    assert data.x.values().tolist() == [1.0, 1.0, 1.0]


def test_one_bare_array(tmp_path):
    with io.BytesIO() as buffer:
        np.save(buffer, np.ones(3))
        (tmp_path / "graph.npz").write_bytes(buffer.getvalue())
    assert message(tmp_path / "graph.npz").startswith("graph.npz: has a single array")


def test_zip_of_something_else(tmp_path):
    with zipfile.ZipFile(tmp_path / "graph.npz", "w") as archive:
        archive.writestr("edge_index.npy", b"no array")
    assert message(tmp_path / "graph.npz").startswith("graph.npz: ")
