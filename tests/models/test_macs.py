from __future__ import annotations

import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg

from teddy.models import build_model
from teddy.models.macs import count_macs

# Three nodes on a path, four features, three of the twelve entries non-zero.
X = torch.tensor([[1.0, 0, 0, 2], [0, 0, 0, 0], [0, 3.0, 0, 0]]).to_sparse_csr()
EDGES = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # H W: 3 entries x 5 units; A: (4 + 3 loops) x 5 | 3 rows x 5 x 2; 7 x 2
        ("gcn", [3 * 5 + 7 * 5, 3 * 5 * 2 + 7 * 2]),
        # GIN's (1 + eps) I has an entry a node | the readout: 3 x 5 x 2
        ("gin", [3 * 5 + 7 * 5, 3 * 5 * 2 + 7 * 2 + 3 * 5 * 2]),
        ("sage", [2 * 3 * 5 + 4 * 5, 2 * 3 * 5 * 2 + 4 * 2]),
    ],
)
def test_dense_weights_by_hand(name, expected):
    assert count_macs(build_model(name, 4, 2, hidden_channels=5), X, EDGES) == expected


def test_attention_by_hand():
    model = build_model("gat", 4, 2, hidden_channels=5, heads=2)
    first = 3 * 10 + 2 * 3 * 10 + 7 * 10
    assert count_macs(model, X, EDGES) == [first, 3 * 10 * 2 + 2 * 3 * 2 + 7 * 2]


def test_zero_weights_cost_nothing():
    model = build_model("gcn", 4, 2, hidden_channels=5)
    with torch.no_grad():
        model.weights[0][0] = 0  # meets one entry of X
        model.weights[0][2] = 0  # meets none
        model.weights[1][:, 0] = 0
    assert count_macs(model, X, EDGES) == [2 * 5 + 7 * 5, 3 * 5 * 1 + 7 * 2]


def test_modules_of_pyg_are_counted_by_hooks():
    model = pyg.GCN(4, 5, num_layers=2, out_channels=2, bias=False)
    # PyG aggregates messages of the output width over 4 edges and 3 loops
    assert count_macs(model, X.to_dense(), EDGES) == [3 * 20 + 7 * 5 + 3 * 10 + 7 * 2]
    assert model.training
    assert count_macs(pyg.GAT(4, 6, num_layers=1, heads=2), X.to_dense(), EDGES) is not None


def test_a_module_that_shows_nothing_gives_none():
    class Mystery(nn.Module):
        def forward(self, x, edge_index):
            return x

    assert count_macs(Mystery(), X.to_dense(), EDGES) is None
