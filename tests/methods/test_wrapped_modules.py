"""Modules that are wrapped, or that remember a graph: the result is that of the module itself."""

from __future__ import annotations

import copy
import warnings

import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data

import teddy
from methods.test_own_modules import RGCN, Cached, Gated, by_hand, close, typed_graph


class Wrapper(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.inner = module

    def forward(self, *args, **kwargs):
        return self.inner(*args, **kwargs).log_softmax(dim=1)


class ByPosition(Wrapper):
    def forward(self, *args):
        return super().forward(*args)


WRAPPERS = {
    "torch.compile": lambda module: torch.compile(module, backend="eager"),
    "DataParallel": nn.DataParallel,
    "both": lambda module: torch.compile(nn.DataParallel(module), backend="eager"),
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_wrapped_module_is_the_module(wrapper, tmp_path):
    data = typed_graph()
    torch.manual_seed(0)
    module = Gated()
    plain = teddy.find_ticket(data, module, 0.5, 0.3, epochs=2)
    wrapped = WRAPPERS[wrapper](module)
    for model in (wrapped, lambda: WRAPPERS[wrapper](copy.deepcopy(module))):
        ticket = teddy.find_ticket(data, model, 0.5, 0.3, epochs=2)
        assert ticket.info.graph["edge_inputs"] == ["edge_attr"]
        assert torch.equal(ticket.logits(data), plain.logits(data))
    for one in (plain, ticket):
        one.save(tmp_path / f"{one is plain}.ticket")
    assert (tmp_path / "True.ticket").read_bytes() == (tmp_path / "False.ticket").read_bytes()
    again = teddy.Ticket.load(tmp_path / "True.ticket", wrapped)
    assert torch.equal(again.logits(data), plain.logits(data))


def test_a_scripted_module_gets_its_named_inputs(tmp_path):
    class Scripted(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(12, 3)

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor, edge_type: torch.Tensor):
            h = self.lin(x)
            return h.index_add(0, edge_index[1], h[edge_index[0]] * edge_type[:, None])

    data, torch_script = typed_graph(), torch.jit.script(Scripted())
    ticket = teddy.find_ticket(data, torch_script, 0.5, 0.3, epochs=2)
    kept = ticket.apply(data).edge_index
    close(ticket.logits(data), by_hand(ticket.model, data, kept, ["edge_type"]))
    ticket.save(tmp_path / "a.ticket")
    for model in (torch_script, Scripted):
        again = teddy.Ticket.load(tmp_path / "a.ticket", model)
        close(again.logits(data), ticket.logits(data))


@pytest.mark.parametrize("kind", [Wrapper, ByPosition])
def test_a_wrapper_that_computes_must_declare_its_inputs(kind, tmp_path):
    data = typed_graph()
    for name in ("edge_attr", "edge_time", "pos", "z"):
        del data[name]
    torch.manual_seed(0)
    model = kind(RGCN())
    with pytest.raises(teddy.InputError, match=r"expected a declaration: model.forward_inputs = "):
        teddy.find_ticket(data, model, 0.5, 0.3, epochs=2)
    model.forward_inputs = ["edge_type"]
    ticket = teddy.find_ticket(data, model, 0.5, 0.3, epochs=2)
    assert ticket.info.graph["edge_inputs"] == ["edge_type"]
    kept = ticket.apply(data).edge_index
    expected = by_hand(ticket.model.inner, data, kept, ["edge_type"]).log_softmax(dim=1)
    close(ticket.logits(data), expected)
    ticket.save(tmp_path / "a.ticket")
    close(teddy.Ticket.load(tmp_path / "a.ticket", model).logits(data), expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        undeclared = teddy.Ticket.load(tmp_path / "a.ticket", lambda: kind(RGCN()))
    if kind is ByPosition:
        with pytest.raises(teddy.InputError, match="expected a parameter edge_type"):
            undeclared.logits(data)
    else:
        close(undeclared.logits(data), expected)
    plain = kind(pyg.GCN(12, 8, 2, 3))
    plain.forward_inputs = []
    assert teddy.find_ticket(data, plain, epochs=1).info.graph["edge_inputs"] == []
    del data.edge_type, plain.forward_inputs
    teddy.find_ticket(data, plain, epochs=1)  # there is nothing to ask


def test_a_wrapper_passes_on_edge_weights():
    data = typed_graph()
    data = Data(**{k: data[k] for k in ("x", "edge_index", "y", "train_mask", "val_mask",
                                        "test_mask")})  # fmt: skip
    data.edge_weight = torch.ones(data.num_edges)
    model = Wrapper(pyg.GCN(12, 8, 2, 3))
    with pytest.raises(teddy.InputError, match=r"data have edge_weight, expected a declaration"):
        teddy.find_ticket(data, model, epochs=1)
    model.forward_inputs = []
    with pytest.raises(teddy.InputError, match="does not take edge_weight"):
        teddy.find_ticket(data, model, epochs=1)


def test_a_wrapper_of_graphs_passes_on_batch():
    class Pooled(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = pyg.GCNConv(2, 2)

        def forward(self, x, edge_index, batch):
            return pyg.global_add_pool(self.conv(x, edge_index), batch)

    path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    graphs = [Data(x=torch.rand(3, 2), edge_index=path, y=n % 2) for n in range(12)]
    model = Wrapper(Pooled())
    with pytest.raises(teddy.InputError, match=r"model.forward_inputs = \['batch'\], or \[\]"):
        teddy.find_ticket(graphs, model, epochs=1, task="graph-classification")
    model.forward_inputs = ["batch"]
    ticket = teddy.find_ticket(graphs, model, epochs=1, task="graph-classification")
    assert ticket.logits(graphs).shape == (12, 2)


def test_a_module_that_has_seen_the_whole_graph_forgets_it(tmp_path):
    data = typed_graph()
    torch.manual_seed(0)
    module = Cached()
    fresh = teddy.find_ticket(data, module, 0.5, 0.3, epochs=2)
    module(data.x, data.edge_index)  # what remembers an autograd graph can't even be copied
    known = module.first._cached_edge_index
    ticket = teddy.find_ticket(data, module, 0.5, 0.3, epochs=2)
    assert module.first._cached_edge_index is known  # the user's module stays as it is
    assert module.first.cached
    assert torch.equal(ticket.logits(data), fresh.logits(data))
    kept = ticket.apply(data).edge_index
    close(ticket.logits(data), by_hand(ticket.model, data, kept, []))
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", module)
    assert torch.equal(again.logits(data), fresh.logits(data))


class Remembers(nn.Module):
    """A cache of the user's own."""

    def __init__(self):
        super().__init__()
        self.linear, self.matrix = nn.Linear(12, 3), None

    def forward(self, x, edge_index):
        if self.matrix is None:
            ones = torch.ones(edge_index.size(1))
            self.matrix = torch.sparse_coo_tensor(edge_index, ones, (len(x), len(x)))
        return self.matrix @ self.linear(x)


def test_your_own_cache_is_refused_or_warned_about():
    data = typed_graph()
    with pytest.raises(teddy.InputError, match="logits of a Remembers depend on the graph"):
        teddy.find_ticket(data, Remembers, epochs=1)
    filled = Remembers()
    filled(data.x, data.edge_index)
    with pytest.warns(UserWarning, match="the same logits with half of the edges"):
        teddy.find_ticket(data, filled, epochs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        teddy.find_ticket(data, RGCN, epochs=1)
