"""An exported network has no dead hidden units, and computes the same."""

from __future__ import annotations

import onnx
import pytest
import torch
from onnx import numpy_helper

import teddy
from conftest import small_graph
from ticket.test_export import onnx_session
from weights.test_declared_units import NormedSAGE, TwoGCN


def onnx_shapes(path):
    """Shapes of the matrices that a file holds."""
    tensors = map(numpy_helper.to_array, onnx.load(path).graph.initializer)
    return sorted(tensor.shape for tensor in tensors if tensor.ndim == 2 and min(tensor.shape) > 1)


def check(ticket, data, path):
    x = data.x if data.x.layout == torch.strided else data.x.to_dense()
    edges, expected = ticket.edge_index(data), ticket.logits(data)
    ticket.export(path / "a.onnx")
    ticket.export(path / "a.pt2")
    found = onnx_session(path / "a.onnx")(x, edges)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    program = torch.export.load(path / "a.pt2")
    torch.testing.assert_close(program.module()(x, edges), expected, rtol=1e-5, atol=1e-5)
    return sum(value.numel() for value in program.state_dict.values())


@pytest.mark.parametrize(
    ("layers", "name"),
    [
        *((2, "gcn"), (3, "gat"), (2, "gin"), (3, "sage")),
        *(
            pytest.param(layers, name, marks=pytest.mark.slow)
            for layers, name in ((3, "gcn"), (2, "gat"), (3, "gin"), (2, "sage"))
        ),
    ],
)
def test_dead_units_of_a_model_are_not_in_the_file(name, layers, tmp_path):
    data, hidden = small_graph(), {"hidden_channels": 8 if name == "gat" else 64}
    ticket = teddy.find_ticket(
        data, name, 0.5, 0.8, epochs=3, num_layers=layers, structure="neurons", **hidden
    )
    stored = check(ticket, data, tmp_path)
    assert stored <= 0.2 * ticket.info.weights.total + 64
    widest = max(max(shape) for shape in onnx_shapes(tmp_path / "a.onnx"))
    assert widest < 64


@pytest.mark.parametrize("make", [TwoGCN, NormedSAGE])
def test_dead_units_of_your_own_module_are_not_in_the_file(make, tmp_path):
    torch.manual_seed(0)
    data = small_graph()
    ticket = teddy.find_ticket(data, make(), 0.5, 0.7, epochs=5, structure="neurons")
    assert check(ticket, data, tmp_path) < 0.6 * ticket.info.weights.total


def test_a_module_that_cannot_be_smaller_is_exported_as_it_is(tmp_path):
    class Fixed(TwoGCN):
        def forward(self, x, edge_index):
            h = self.first(x, edge_index).relu()
            return self.last(h.view(-1, 16), edge_index)

    torch.manual_seed(0)
    data = small_graph()
    ticket = teddy.find_ticket(data, Fixed(), 0.5, 0.7, epochs=5, structure="neurons")
    assert check(ticket, data, tmp_path) == ticket.info.weights.total


def test_citeseer(citeseer, tmp_path):
    ticket = teddy.find_ticket(citeseer, "gcn", 0.64, 0.64, epochs=2, structure="neurons")
    stored = check(ticket, citeseer, tmp_path)
    assert stored < 0.4 * ticket.info.weights.total
    assert (tmp_path / "a.onnx").stat().st_size < 4 * stored + 50_000
