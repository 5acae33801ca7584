"""Weights and directions of edges in every model, against dense matrices."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric import nn as pyg

from conftest import LAYERED
from teddy.errors import InputError
from teddy.models import build_model
from teddy.models.edge_inputs import check_given, edge_inputs, takes
from teddy.training.adapters import ModuleAdapter
from teddy.training.runner import Runner

#: From source to target, with weights that differ by direction; node 4 only sends, 5 is alone.
ARCS = torch.tensor([[0, 1, 1, 2, 3, 4, 4], [1, 0, 2, 3, 1, 0, 3]])
WEIGHTS = torch.tensor([0.5, 2.0, 1.5, 0.25, 3.0, 1.0, 0.75], dtype=torch.float64)


def matrix(edge_index=ARCS, weights=WEIGHTS, nodes=6):
    """A with a row for each target and a column for each source."""
    A = torch.zeros(nodes, nodes, dtype=torch.float64)
    for (source, target), weight in zip(edge_index.t().tolist(), weights.tolist(), strict=True):
        A[target, source] = weight
    return A


def softmax(scores, A):
    shares = A * scores.exp()
    return shares / shares.abs().sum(dim=1, keepdim=True).clamp(min=1e-300)


def dense_gcn(model, x, A):
    A = A + torch.eye(len(A))
    scale = A.abs().sum(dim=1).rsqrt().diag()
    return scale @ A @ scale @ (scale @ A @ scale @ x @ model.weights[0]).relu() @ model.weights[1]


def dense_gin(model, x, A):
    eye = torch.eye(len(A))
    h = ((A + (1 + model.eps[0]) * eye) @ x @ model.weights[0]).relu()
    last = ((A + (1 + model.eps[1]) * eye) @ h @ model.weights[1]).relu()
    return (h @ model.readouts[0] + last) / 2


def dense_sage(model, x, A):
    mean = A / A.abs().sum(dim=1, keepdim=True).clamp(min=1)
    h = (x @ model.self_weights[0] + mean @ x @ model.neighbour_weights[0]).relu()
    return h @ model.self_weights[1] + mean @ h @ model.neighbour_weights[1]


def dense_gat(model, x, A):
    h, B = x, A + torch.eye(len(A))
    for index, heads in enumerate(model.heads):
        g = (h @ model.weights[index]).view(len(A), heads, -1)
        outputs = []
        for head in range(heads):
            own = g[:, head] @ model.target_attention[index][head]
            other = g[:, head] @ model.source_attention[index][head]
            scores = F.leaky_relu(own[:, None] + other[None, :], 0.2)
            outputs.append(softmax(scores, B) @ g[:, head])
        h = torch.cat(outputs, dim=1)
        h = h if index else F.elu(h)
    return h


def dense_unimp(model, x, A):
    h = x
    for index in range(2):
        parts = [getattr(model, name)[index] for name in ("queries", "keys", "values", "skips")]
        width, bias = parts[0].size(1), model.biases[index]
        q, k = h @ parts[0] + bias[:width], h @ parts[1]
        v, r = h @ parts[2] + bias[width : 2 * width], h @ parts[3] + bias[2 * width :]
        outputs = []
        for own_q, own_k, own_v in zip(*(t.chunk(model.heads, 1) for t in (q, k, v)), strict=True):
            outputs.append(softmax(own_q @ own_k.t() / math.sqrt(own_q.size(1)), A) @ own_v)
        m = sum(outputs) / model.heads if index else torch.cat(outputs, dim=1)
        gate = torch.sigmoid(torch.cat([m, r, m - r], dim=1) @ model.gates[index])
        h = (1 - gate) * m + gate * r
        h = h if index else model.norms[0](h).relu()
    return h


DENSE = {name: globals()[f"dense_{name}"] for name in LAYERED}


def model_of(name):
    torch.manual_seed(1)
    options = {"hidden_channels": 3, "dropout": 0.0} | (
        {"heads": 2} if name in ("gat", "unimp") else {}
    )
    return build_model(name, 4, 2, **options).double()


def features():
    return torch.randn(6, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("name", LAYERED)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_and_directions_are_those_of_a_dense_matrix(name, sparse, weighted):
    model, x = model_of(name), features()
    x = x * (x > 0.8) if sparse else x
    weights = WEIGHTS if weighted else None
    A = matrix() if weighted else (matrix() > 0).double()
    logits, expected = model(x, ARCS, weights), DENSE[name](model, x, A)
    torch.testing.assert_close(logits, expected)
    by_name = dict(model.named_parameters())
    probe = torch.randn(6, 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    grads = [torch.autograd.grad((z * probe).sum(), by_name.values()) for z in (logits, expected)]
    for key, ours, theirs in zip(by_name, *grads, strict=True):
        torch.testing.assert_close(ours, theirs, msg=lambda text, key=key: f"{key}: {text}")


@pytest.mark.parametrize("name", LAYERED)
def test_the_order_of_columns_and_self_loops_do_not_matter(name):
    model, x = model_of(name).eval(), features()
    order = torch.tensor([3, 0, 6, 2, 5, 1, 4])
    loop = torch.tensor([[2], [2]])
    listed = torch.cat([ARCS[:, order], loop], dim=1)
    weights = torch.cat([WEIGHTS[order], torch.tensor([9.0])])
    assert torch.equal(model(x, listed, weights), model(x, ARCS, WEIGHTS))


def test_gcn_with_weights_is_that_of_pyg():
    model, x = model_of("gcn").eval(), features()
    h = x
    for index in range(2):
        conv = pyg.GCNConv(*model.weights[index].shape, bias=False).double()
        conv.lin.weight.data = model.weights[index].detach().t().clone()
        h = conv(h, ARCS, WEIGHTS)
        h = h if index else h.relu()
    torch.testing.assert_close(model(x, ARCS, WEIGHTS), h)


def test_invalid_weights_raise_a_clear_message():
    model, x = model_of("gcn"), features()
    with pytest.raises(InputError, match=r"edge_weight has shape \[2\], expected \[7\]"):
        model(x, ARCS, torch.ones(2))
    twice = torch.cat([ARCS, ARCS[:, :1]], dim=1)
    with pytest.raises(InputError, match="lists an edge twice"):
        model(x, twice, torch.ones(8))
    for name in ("nagphormer", "specformer"):
        with pytest.raises(
            InputError, match="does not support edge weights, expected data without"
        ):
            build_model(name, 4, 2, hidden_channels=8)(x.float(), ARCS, torch.ones(7))


class Attributed(nn.Module):
    def __init__(self):
        super().__init__()
        self.kinds, self.linear = nn.Embedding(3, 4), nn.Linear(4, 2)

    def forward(self, x, edge_index, edge_attr, edge_weight=None):
        messages = x[edge_index[0]] * self.kinds(edge_attr)
        if edge_weight is not None:
            messages = messages * edge_weight[:, None]
        return self.linear(x.index_add(0, edge_index[1], messages))


def test_inputs_that_a_module_takes():
    assert takes(Attributed(), "edge_attr")
    assert edge_inputs(Attributed(), ["edge_attr"]) == ["edge_attr"]
    assert edge_inputs(Attributed(), ["edge_weight", "edge_attr"]) == ["edge_weight", "edge_attr"]
    assert edge_inputs(pyg.GraphSAGE(4, 4, 2), ["edge_attr"]) == []
    assert edge_inputs(pyg.GCN(4, 4, 2), ["edge_weight", "edge_attr"]) == ["edge_weight"]
    assert edge_inputs(pyg.GAT(4, 4, 2), ["edge_attr"]) == ["edge_attr"]
    with pytest.raises(InputError, match="a GraphSAGE does not take edge_weight"):
        edge_inputs(pyg.GraphSAGE(4, 4, 2), ["edge_weight"])
    with pytest.raises(InputError, match="a Attributed needs edge_attr"):
        check_given(Attributed(), ["edge_weight"])
    with pytest.raises(InputError, match="a Specformer does not support directed graphs"):
        edge_inputs(build_model("specformer", 4, 2), [], directed=True)


def test_a_module_gets_its_declared_inputs():
    model, x, kinds = Attributed().double(), features(), torch.tensor([0, 1, 2, 0, 1, 2, 0])
    runner = Runner(model, x, ARCS, {"edge_attr": kinds, "edge_weight": WEIGHTS.float()})
    assert isinstance(runner.adapter, ModuleAdapter)
    h = x.clone()
    for (s, t), kind, weight in zip(ARCS.t(), kinds, WEIGHTS, strict=True):
        h[t] += x[s] * model.kinds.weight[kind] * weight
    torch.testing.assert_close(runner.training_logits(), model.linear(h))
