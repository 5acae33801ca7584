"""Inputs of your own modules that are refused, and where they may be missing."""

from __future__ import annotations

import pytest
import torch

import teddy
from methods.test_own_modules import NODES, RGCN, Placed, typed_graph


class NeedsLabels(RGCN):
    def forward(self, x, edge_index, edge_type, y):
        return super().forward(x, edge_index, edge_type)


class OnData(RGCN):
    def forward(self, data):
        return super().forward(data.x, data.edge_index, data.edge_type)


class WithoutGraph(RGCN):
    def forward(self, z, pos, batch=None):
        return pos


class WithMatrix(RGCN):
    def forward(self, x, edge_index, adj_t):
        return x


class WithSecondGraph(RGCN):
    def forward(self, x, edge_index, full_edge_index=None):
        return x


@pytest.mark.parametrize(
    ("module", "missing", "message"),
    [
        (RGCN, "edge_type", "a RGCN needs edge_type, expected data with it"),
        (Placed, "pos", "a Placed needs pos, expected data with it"),
        (NeedsLabels, None, "a NeedsLabels needs y, which is missing at prediction"),
        (OnData, None, r"forward\(data\), expected forward\(x, edge_index\)"),
        (WithoutGraph, None, "expected a parameter edge_index"),
        (WithMatrix, None, "takes adj_t, which is not pruned with the edges"),
        (WithSecondGraph, None, "takes full_edge_index, which is not pruned with the edges"),
    ],
)
def test_unsupported_inputs_of_a_module_raise_a_clear_message(module, missing, message):
    data = typed_graph()
    if missing is not None:
        del data[missing]
    if module is WithMatrix:
        data.adj_t = torch.eye(NODES).to_sparse()
    data.full_edge_index = data.edge_index
    with pytest.raises(teddy.InputError, match=message) as error:
        teddy.find_ticket(data, module, epochs=1)
    assert "\n" not in str(error.value)


def test_a_search_resumes_only_with_the_same_values(tmp_path):
    data, settings = typed_graph(), {"epochs": 1, "checkpoint": tmp_path / "search"}
    torch.manual_seed(0)
    module = Placed()
    teddy.find_ticket(data, module, **settings)
    teddy.find_ticket(data, module, **settings)
    for name in ("pos", "u"):
        other = data.clone()
        other[name] = data[name] + 1
        with pytest.raises(teddy.InputError, match="holds a search with data"):
            teddy.find_ticket(other, module, **settings)


@pytest.mark.parametrize("name", ["edge_type", "pos"])
def test_a_value_of_another_size_raises_a_clear_message(name):
    data = typed_graph()
    data[name] = data[name][1:]
    module = RGCN if name == "edge_type" else Placed
    with pytest.raises(teddy.InputError, match=f"data: {name} has shape"):
        teddy.find_ticket(data, module, epochs=1)


@pytest.mark.parametrize("module", [RGCN, Placed])
def test_exports_without_values_raise_a_clear_message(module, tmp_path):
    data = typed_graph()
    ticket = teddy.find_ticket(data, module, epochs=1)
    with pytest.raises(
        teddy.InputError, match=r"found with (edge_type|pos), expected a ticket without it"
    ):
        ticket.export(tmp_path / "a.pt2")


@pytest.mark.parametrize("taught", [False, True])
def test_a_score_of_nodes_without_edges_keeps_the_values_of_nodes(taught):
    torch.manual_seed(0)
    teacher = Placed() if taught else None
    ticket = teddy.find_ticket(
        typed_graph(), Placed, 0.3, 0.3, epochs=1, method="gain", teacher=teacher
    )
    assert ticket.info.edges.kept == ticket.info.edges.total - -(-ticket.info.edges.total * 3 // 10)
