from __future__ import annotations

import pytest
import torch
import torch_geometric.transforms as T
from torch_geometric.data import Data

import teddy


def graph() -> Data:
    edge_index = torch.tensor([[0, 1, 1, 2, 2, 3, 3], [1, 0, 2, 1, 3, 2, 3]])
    return Data(
        x=torch.arange(4.0).view(4, 1),
        edge_index=edge_index,
        edge_attr=torch.arange(14.0).view(7, 2),
        edge_weight=torch.arange(7.0),
        edge_mask=torch.tensor([True, False, True, False, True, False, True]),
        y=torch.tensor([0, 1, 0, 1]),
        train_mask=torch.tensor([True, True, False, False]),
    )


def test_edge_attributes_are_pruned_with_edges():
    data = graph()
    sparse = teddy.SparsifyEdges(0.3)(data)
    assert sparse.edge_index.tolist() == [[0, 1, 2, 3, 3], [1, 0, 3, 2, 3]]
    assert sparse.edge_weight.tolist() == [0, 1, 4, 5, 6]
    assert sparse.edge_attr.tolist() == [[0, 1], [2, 3], [8, 9], [10, 11], [12, 13]]
    assert sparse.edge_mask.tolist() == [True, False, True, False, True]
    assert torch.equal(sparse.x, data.x)
    assert torch.equal(sparse.train_mask, data.train_mask)
    assert sparse.num_nodes == 4
    assert data.num_edges == 7  # the original is as it was


def test_it_composes_with_other_transforms():
    transform = T.Compose([T.ToUndirected(), teddy.SparsifyEdges(0.5), T.NormalizeFeatures()])
    sparse = transform(Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]), x=torch.eye(4)))
    assert sparse.num_edges == 2
    assert sparse.x.sum(dim=1).tolist() == [1, 1, 1, 1]


def test_repr():
    assert repr(teddy.SparsifyEdges(0.64)) == "SparsifyEdges(sparsity=0.64, score='teddy')"
    random = teddy.SparsifyEdges(0.5, "random", seed=3)
    assert repr(random) == "SparsifyEdges(sparsity=0.5, score='random', seed=3)"


def test_bad_arguments_raise():
    with pytest.raises(teddy.InputError, match=r"sparsity must be in \[0, 1\], got 1\.5"):
        teddy.SparsifyEdges(1.5)
    with pytest.raises(teddy.InputError, match="unknown score 'x'"):
        teddy.SparsifyEdges(0.5, "x")
    with pytest.raises(teddy.InputError, match="got a dict, expected an edge_index, a Data"):
        teddy.SparsifyEdges(0.5).forward({})
