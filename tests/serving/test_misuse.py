"""Slips of callers: one line each, and never a wrong answer."""

from __future__ import annotations

import os
import pickle
import signal
import threading

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg

from serving.test_answers import close, graph, masked_model
from serving.test_changes import Attributed
from teddy.errors import InputError
from teddy.graph import Edges
from teddy.serving import Server

EVERY = torch.arange(40)
NEW = torch.tensor([[0], [39]])


def make_server(weighted=False):
    edges, x, weight = graph(9)
    values = {"edge_weight": weight[edges.messages.pair]} if weighted else {}
    return Server(masked_model("gcn", 1, share=0.0), x, edges.edge_index, values)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (EVERY > 3, r"nodes is a mask, expected numbers \(use mask.nonzero\(\).view\(-1\)\)"),
        ([True, False], "nodes is a mask"),
        ([[1], [1, 2]], "nodes is a list, expected integers"),
        (torch.ones(2, dtype=torch.bfloat16), "nodes is a Tensor, expected integers"),
        (torch.ones(2, requires_grad=True), "expected integers"),
        (["1"], "expected integers"),
        ([2**70], "expected integers"),
    ],
)
def test_wrong_nodes(nodes, message):
    with pytest.raises(InputError, match=message):
        make_server().logits(nodes)


def add(edge_index, edge_weight):
    return lambda server: server.add_edges(edge_index, edge_weight=edge_weight)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (add(NEW, torch.ones(1, 2)), r"edge_weight has shape \[1, 2\], expected \[1\]"),
        (add(NEW, torch.tensor(1.0)), r"edge_weight has shape \[\], expected \[1\]"),
        (add(NEW, torch.tensor([np.nan])), "edge_weight has values that are not finite"),
        (add(NEW, "1"), "edge_weight is a str, expected a tensor"),
        (add([[0, 39], [39, 0]], [1.0, 2.0]), "edge_weight of edge 39, 0 has two values"),
        (add(None, [1.0]), "edge_index is a NoneType, expected a tensor"),
        (lambda s: s.add_nodes(torch.full((1, 6), 1e39, dtype=torch.float64)), "not finite"),
        (lambda s: s.add_nodes(torch.zeros(1, 6, dtype=torch.complex64)), "x is torch.complex64"),
    ],
)
def test_wrong_changes_change_nothing(change, message):
    served = make_server(weighted=True)
    before = served.logits(EVERY)
    with pytest.raises(InputError, match=message):
        change(served)
    assert torch.equal(served.logits(EVERY), before)


def test_changes_take_lists_and_arrays():
    served, other = make_server(weighted=True), make_server(weighted=True)
    served.add_nodes([[0.5] * 6])
    served.add_edges([[40], [3]], edge_weight=[2])
    other.add_nodes(torch.full((1, 6), 0.5))
    other.add_edges(np.array([[3], [40]]), edge_weight=torch.tensor([2.0]))
    close(served.logits(torch.arange(41)), other.logits(torch.arange(41)))


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ([[1, 77], [77, 1]], "is 77, expected a node from 0 to 39"),
        ([[1, -1], [-1, 1]], "is -1, expected a node"),
        ([[1, 2, 1], [2, 1, 2]], "edge_index has a message twice"),
    ],
)
def test_wrong_edges_of_a_new_server(index, message):
    _, x, _ = graph(9)
    with pytest.raises(InputError, match=message):
        Server(masked_model("gcn", 1), x, torch.tensor(index))


def test_values_of_another_length():
    edges, x, weight = graph(9)
    with pytest.raises(InputError, match="edge_weight has shape"):
        Server(masked_model("gcn", 1), x, edges.edge_index, {"edge_weight": weight})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"model": None}, "model is a NoneType, expected a module"),
        ({"x": torch.rand(40, 4)}, r"x has shape \[40, 4\], expected \[N, 6\]"),
        ({"x": torch.rand(40)}, r"x has shape \[40\], expected \[N, 6\]"),
        ({"edge_values": {"edge_attr": torch.rand(2, 3)}}, "a GCN does not take edge_attr"),
        ({"edge_values": {"edge_weight": torch.rand(2, 1)}}, "edge_weight has several columns"),
        (
            {
                "model": masked_model("nagphormer", 1),
                "edge_values": {"edge_weight": torch.rand(2)},
            },
            "a NAGphormer does not take edge_weight, expected nothing",
        ),
    ],
)
def test_wrong_inputs_of_a_new_server(wrong, message):
    inputs = {"model": masked_model("gcn", 1), "x": torch.rand(40, 6)}
    inputs |= {"edge_index": torch.tensor([[0, 1], [1, 0]]), **wrong}
    with pytest.raises(InputError, match=message):
        Server(**inputs)


def test_an_interrupted_change_changes_nothing(monkeypatch):
    served = make_server()
    before, add_message, calls = served.logits(EVERY), served.graph.rows.add, []

    def interrupted(*args):
        calls.append(args)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return add_message(*args)

    monkeypatch.setattr(served.graph.rows, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        served.add_edges(torch.tensor([[0, 1, 2], [39, 38, 37]]))
    monkeypatch.undo()
    close(served.logits(EVERY), before)
    assert served.graph.rows.nnz == make_server().graph.rows.nnz


def test_values_of_removed_edges_are_used_again():
    edges, x, _ = graph(11)
    attributes = torch.rand(edges.num_edges, 2)[edges.messages.pair]
    model = Attributed().eval()
    served = Server(model, x, edges.edge_index, {"edge_attr": attributes})
    before = served.logits(EVERY)
    for turn in range(300):
        served.logits_of_new(x[:1], torch.tensor([[40], [3]]), edge_attr=torch.rand(1, 2))
        served.add_edges(NEW, edge_attr=torch.full((1, 2), float(turn)))
        served.remove_edges(NEW)
    assert served.graph.values["edge_attr"].size(0) <= 2 * attributes.size(0)
    close(served.logits(EVERY), before)
    served.add_edges(NEW, edge_attr=[[0.5, 2.0]])
    more = torch.cat([edges.edge_index, NEW, NEW.flip(0)], dim=1)
    with torch.no_grad():
        attributes = torch.cat([attributes, torch.tensor([[0.5, 2.0]] * 2)])
        close(served.logits(EVERY), model(x, more, attributes))
    with pytest.raises(InputError, match=r"edge_attr has shape \[1, 3\], expected \[1, 2\]"):
        served.add_edges(NEW, edge_attr=torch.rand(1, 3))


class Stack(nn.Module):
    """Layers in a row."""

    def __init__(self, *layers, repeat=1):
        super().__init__()
        self.layers, self.repeat = nn.ModuleList(layers), repeat

    def forward(self, x, edge_index):
        for layer in list(self.layers) * self.repeat:
            x = layer(x, edge_index)
        return x


@pytest.mark.parametrize("early", [0, 1])
def test_hops_are_enough_for_edges_that_are_added_later(early):
    torch.manual_seed(0)
    edges, x, _ = graph(12)
    first = Edges.from_edge_index(edges.pairs[:, :early], 40).edge_index
    model = Stack(pyg.GCNConv(6, 8), pyg.GCNConv(8, 3)).eval()
    served = Server(model, x, first)
    served.add_edges(edges.pairs)
    with torch.no_grad():
        reference = model(x, edges.edge_index)
    close(torch.cat([served.logits([node]) for node in range(40)]), reference)


@pytest.mark.parametrize(
    ("model", "hops"),
    [
        (Stack(pyg.TAGConv(6, 8, K=3), pyg.TAGConv(8, 3, K=3)), 7),
        (Stack(pyg.SAGEConv(6, 6), repeat=6), 6),
        (Stack(pyg.GCNConv(6, 3, normalize=False)), 1),
    ],
)
def test_hops_of_layers_that_pass_messages_several_times(model, hops):
    index = Edges.from_edge_index(torch.stack([torch.arange(99), torch.arange(1, 100)])).edge_index
    x = torch.rand(100, 6, generator=torch.Generator().manual_seed(1))
    served = Server(model.eval(), x, index)
    assert served._answers.hops == hops
    with torch.no_grad():
        close(served.logits([50]), model(x, index)[[50]])


@pytest.mark.parametrize("hops", [0, -1, 1.5])
def test_wrong_hops(hops):
    edges, x, _ = graph(9)
    with pytest.raises(InputError, match="hops"):
        Server(Stack(pyg.SAGEConv(6, 3)), x, edges.edge_index, hops=hops)


def test_no_nodes_keep_the_type():
    edges, x, _ = graph(9)
    served = Server(masked_model("gcn", 1).double(), x.double(), edges.edge_index)
    assert served.logits([]).dtype == served.logits([0]).dtype == torch.float64


def test_a_fork_of_a_pickled_server_answers():
    served = pickle.loads(pickle.dumps(make_server()))
    held, release = threading.Event(), threading.Event()

    def hold():
        with served._lock.writing():
            held.set()
            release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a lock that is held would wait for ever
        served.logits([1])
        os._exit(0)
    _, status = os.waitpid(child, 0)
    release.set()
    thread.join()
    assert status == 0
