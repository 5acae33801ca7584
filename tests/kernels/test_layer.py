from __future__ import annotations

import pytest
import torch

from teddy.kernels import jit
from teddy.kernels import layer as module
from teddy.kernels.hidden import Hidden
from teddy.kernels.layer import SparseWeight, choose_products, multiply
from teddy.kernels.sparse import SparseMatrix
from teddy.models import build_model


@pytest.fixture(params=["kernels", "torch"])
def _way(request, monkeypatch):
    if request.param == "torch":
        monkeypatch.setattr(jit, "numba", None)


def sparse(rows, columns, share=0.1):
    torch.manual_seed(rows)
    return torch.randn(rows, columns) * (torch.rand(rows, columns) < share)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("weight", [sparse(7, 9, 0.3), sparse(7, 1), torch.zeros(7, 4)])
def test_a_product_is_that_of_the_dense_weight(weight):
    h = sparse(20, 7, 0.5)
    expected = h @ weight
    for given in (h, SparseMatrix.from_tensor(h)):
        torch.testing.assert_close(SparseWeight(weight).left_product(given), expected)
    found = multiply(Hidden(h, 0.0), SparseWeight(weight))
    torch.testing.assert_close(found, h.relu() @ weight)


@pytest.mark.parametrize("share", [0.3, 1.0])
@pytest.mark.parametrize("name", ["gcn", "gat", "gin", "sage"])
def test_a_model_takes_sparse_weights_everywhere(name, share):
    model = build_model(name, 12, 3, hidden_channels=8, num_layers=3).eval().requires_grad_(False)
    x, edge_index = sparse(20, 12, share), torch.randint(0, 20, (2, 40))
    for parameter in model.parameters():
        parameter.mul_(torch.rand_like(parameter) < 0.5)
    expected = model(x, edge_index)
    x, structure = model.prepare(x, edge_index)
    for products in (getattr(model, products) for products in model.PRODUCTS):
        for index, weight in enumerate(products):
            module.replace_weight(products, index, SparseWeight(weight))
    torch.testing.assert_close(model(x, structure), expected)


@pytest.mark.parametrize(
    ("ticks", "kind"), [((0, 5, 0, 1), SparseWeight), ((0, 1, 0, 5), torch.Tensor)]
)
def test_the_faster_product_is_chosen(ticks, kind, monkeypatch):
    """By a clock of our own: begin and end of a dense pass, then of a sparse one."""
    model = build_model("gcn", 12, 3, hidden_channels=8).eval().requires_grad_(False)
    model.weights[0][:, 1:] = 0  # the other has too few zeros to be looked at
    clock = iter(ticks * 10)
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(clock))
    choose_products(model, lambda: None)
    assert isinstance(model.weights[0], kind)
    assert isinstance(model.weights[1], torch.Tensor)
