import copy
import math

import pytest
import torch
from torch_geometric.data import Data, HeteroData

from teddy.data import check_data
from teddy.errors import InputError

from .small_graphs import mask, small_data


def changed(**fields):
    data = small_data()
    for key, value in fields.items():
        data[key] = value
    return data


def without(key):
    data = small_data()
    del data[key]
    return data


def features(row, column, value):
    x = small_data().x.double()
    x[row, column] = value
    return x


def edges(end, column, value):
    edge_index = small_data().edge_index.clone()
    edge_index[end, column] = value
    return edge_index


def labels(node, value):
    y = small_data().y.clone()
    y[node] = value
    return y


ERRORS = {
    "no data": ({}, "is a dict, expected a torch_geometric.data.Data"),
    "hetero": (HeteroData(), "is a HeteroData, expected a torch_geometric.data.Data"),
    "no x": (without("x"), "no x, expected a feature matrix of shape [N, F]"),
    "x no tensor": (changed(x=[[1.0]] * 6), "x is a list, expected a tensor"),
    "x 1-D": (changed(x=torch.ones(6)), "x has shape [6], expected [N, F], both above 0"),
    "x empty": (changed(x=torch.ones(6, 0)), "x has shape [6, 0], expected [N, F], both above 0"),
    "x complex": (changed(x=torch.ones(6, 1).cfloat()), "x is complex64, expected real numbers"),
    "x nan": (changed(x=features(4, 1, math.nan)), "x[4, 1] is nan, expected finite features"),
    "x inf": (changed(x=features(2, 0, -math.inf)), "x[2, 0] is -inf, expected finite features"),
    "x too large": (
        changed(x=features(5, 0, 1e300)),
        "x[5, 0] is 1e+300, expected finite features of at most 3.4e38",
    ),
    "x sparse nan": (
        changed(x=features(4, 1, math.nan).to_sparse_csr()),
        "x[4, 1] is nan, expected finite features",
    ),
    "x rows": (changed(num_nodes=7), "x has 6 rows, expected 7 (num_nodes)"),
    "no edges": (
        without("edge_index"),
        "no edge_index, expected an integer tensor of shape [2, E]",
    ),
    "edges turned": (
        changed(edge_index=torch.zeros(5, 2).long()),
        "edge_index has shape [5, 2], expected [2, E]",
    ),
    "edges float": (
        changed(edge_index=torch.zeros(2, 5)),
        "edge_index is float32, expected integers",
    ),
    "edges out of range": (
        changed(edge_index=edges(1, 3, 6)),
        "edge_index[1, 3] is 6, expected a node from 0 to 5",
    ),
    "edges negative": (
        changed(edge_index=edges(0, 2, -1)),
        "edge_index[0, 2] is -1, expected a node from 0 to 5",
    ),
    "no y": (without("y"), "no y, expected an integer label for each node"),
    "y float": (
        changed(y=torch.zeros(6)),
        "y is float32, expected integers (classes); use the task regression for numbers, "
        "multilabel for 0 and 1 of several labels",
    ),
    "y short": (changed(y=torch.zeros(5).long()), "y has shape [5], expected [6]"),
    "y many": (
        changed(y=torch.zeros(6, 3).long()),
        "y has shape [6, 3], expected [6] (a class); use the task multilabel for several labels, "
        "regression for several numbers",
    ),
    "y negative": (
        changed(y=labels(5, -2)),
        "y[5] is -2, expected -1 (no label) or a class from 0 to 99999",
    ),
    "y absurd": (
        changed(y=labels(1, 20240131)),
        "y[1] is 20240131, expected -1 (no label) or a class from 0 to 99999",
    ),
    "no mask": (
        without("val_mask"),
        "no val_mask, expected three bool masks: train_mask, val_mask, test_mask",
    ),
    "mask of integers": (
        changed(test_mask=torch.tensor([3, 4])),
        "test_mask is int64, expected bool",
    ),
    "mask short": (
        changed(train_mask=mask(0, size=5)),
        "train_mask has shape [5], expected [6]",
    ),
    "mask 2-D": (
        changed(train_mask=mask(0, size=5).unsqueeze(1)),
        "train_mask has shape [5, 1], expected [6, K] for K splits",
    ),
    "masks of no split": (
        changed(train_mask=mask(0)[:, None][:, :0]),
        "train_mask has shape [6, 0], expected [6, K] for K splits",
    ),
    "other numbers of splits": (
        changed(train_mask=mask(0, 1)[:, None].repeat(1, 3), test_mask=mask(3)[:, None]),
        "test_mask has shape [6, 1], expected [6, 3] as train_mask",
    ),
    "one of several splits is wrong": (
        changed(train_mask=torch.stack([mask(0, 1), mask(0, 2, 1)], 1)),
        "node 2 is in train_mask[:, 1] and val_mask, expected one of them",
    ),
    "mask empty": (changed(val_mask=mask()), "val_mask has no node, expected at least one"),
    "masks overlap": (
        changed(test_mask=mask(1, 4)),
        "node 1 is in train_mask and test_mask, expected one of them",
    ),
    "unlabelled": (
        changed(test_mask=mask(4, 5)),
        "y[5] is -1, expected a label: node is in test_mask",
    ),
    "one class": (
        changed(train_mask=mask(0), val_mask=mask(1, 2)),
        "all training labels are 0, expected at least two classes",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error_names_source_place_value_and_expectation(case):
    data, message = ERRORS[case]
    with pytest.raises(InputError) as caught:
        check_data(data, "graph.npz")
    assert str(caught.value) == f"graph.npz: {message}"


def test_good_data_is_returned_as_it_is(small):
    assert check_data(small) is small


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("y", small_data().y.unsqueeze(1)),
        ("y", small_data().y.to(torch.int16)),
        ("x", small_data().x.double()),
        ("x", (small_data().x * 2).int()),
        ("edge_index", small_data().edge_index.int()),
    ],
)
def test_types_are_normalised_in_a_copy(key, value):
    data = changed(**{key: value}, edge_attr=torch.ones(6))
    before = copy.copy(data)
    checked = check_data(data)
    assert checked is not data
    for name in before.keys():  # noqa: SIM118 - iterating a Data gives pairs
        assert data[name] is before[name]
    assert checked.y.dtype == torch.int64
    assert checked.y.shape == (6,)
    assert checked.x.dtype == torch.float32
    assert checked.edge_index.dtype == torch.int64
    assert checked.edge_attr is data.edge_attr
    assert torch.equal(checked[key].flatten().double(), value.flatten().double())


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
def test_sparse_features_become_csr(layout, small):
    dense = small.x
    small.x = dense.to_sparse(layout=layout)
    checked = check_data(small)
    assert checked.x.layout == torch.sparse_csr
    assert torch.equal(checked.x.to_dense(), dense)
    assert (checked is small) == (layout == torch.sparse_csr)


def test_edges_are_unchanged_and_may_be_none(small):
    small.edge_index = torch.tensor([[0, 0, 1], [0, 1, 0]])
    assert check_data(small).edge_index is small.edge_index
    small.edge_index = torch.empty(2, 0, dtype=torch.int64)
    assert check_data(small) is small


def test_subclass_of_data_is_fine(small):
    class Mine(Data):
        pass

    assert type(check_data(Mine(**small.to_dict()))) is Mine
