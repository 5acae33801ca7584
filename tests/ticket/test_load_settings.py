"""Settings of the module that a ticket, compiled or not, is loaded into."""

from __future__ import annotations

import functools
import warnings
from dataclasses import replace

import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg

import teddy
from conftest import small_graph
from teddy.errors import TeddyWarning
from teddy.ticket import CompiledTicket
from teddy.ticket.file import Content, read_ticket, write_ticket

GCN = functools.partial(pyg.GCN, 12, 8, 2, 3)
OTHER = r"was found with other settings of GCN, so that predictions may differ"


def save(model, path):
    """Find a ticket; write it and what it is compiled to; return it."""
    data = small_graph()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ticket = teddy.find_ticket(data, model, 0.5, 0.3, epochs=2)
        ticket.save(path / "a.ticket")
        ticket.compile(data).save(path / "a.compiled")
    return ticket


def load(model, path):
    """Load both without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ticket = teddy.Ticket.load(path / "a.ticket", model)
        return ticket, CompiledTicket.load(path / "a.compiled", model)


@pytest.mark.parametrize("options", [{"act": "tanh"}, {"norm": "batch_norm", "act_first": True}])
def test_a_module_of_other_settings_is_a_warning(options, tmp_path):
    norm = {"norm": options["norm"]} if "norm" in options else {}
    save(GCN(**norm), tmp_path)
    with pytest.warns(TeddyWarning, match=OTHER):
        teddy.Ticket.load(tmp_path / "a.ticket", GCN(**options))
    with pytest.warns(TeddyWarning, match=OTHER):
        CompiledTicket.load(tmp_path / "a.compiled", GCN(**options))


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.calls, self.last = pyg.GCNConv(12, 3), 0, None

    def forward(self, x, edge_index):
        self.calls, self.last, self.nodes = self.calls + 1, x, x.size(0)
        return self.conv(x, edge_index)


def used(model):
    """The same module, after a call."""
    data = small_graph()
    model(data.x, data.edge_index)
    return model


def frozen():
    model = GCN()
    model.convs[0].requires_grad_(False)
    return model


def with_compiled_layer():
    model = GCN()
    model.convs[0] = torch.compile(model.convs[0], backend="eager")
    return model


class Normed(nn.Module):
    """Layers whose weight is computed, and changed in training each time it is read."""

    def __init__(self):
        super().__init__()
        self.conv = pyg.GCNConv(12, 8)
        self.last = nn.utils.parametrizations.spectral_norm(nn.Linear(8, 3))

    def forward(self, x, edge_index):
        return self.last(self.conv(x, edge_index).relu())


class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.last = pyg.GCNConv(-1, 8), nn.LazyLinear(3)

    def forward(self, x, edge_index):
        return self.last(self.conv(x, edge_index).relu())


MODULES = {
    "plain": GCN,
    "evaluation": lambda: GCN().eval(),
    "used": lambda: used(GCN()),
    "frozen": frozen,
    "cached": lambda: GCN(cached=True),
    "used cached": lambda: used(GCN(cached=True)),
    "compiled": lambda: torch.compile(GCN(), backend="eager"),
    "compiled layer": with_compiled_layer,
    "parallel": lambda: nn.DataParallel(GCN()),
    "both": lambda: nn.DataParallel(torch.compile(GCN(), backend="eager")),
}


@pytest.mark.parametrize("found", MODULES)
def test_the_same_settings_are_no_warning_however_wrapped(found, tmp_path):
    data, make = small_graph(), MODULES[found]
    ticket = save(make if found != "frozen" else make(), tmp_path)
    assert "structure" in ticket.info.model
    for name in MODULES:
        for model in (MODULES[name], MODULES[name]()):
            again, compiled = load(model, tmp_path)
            torch.testing.assert_close(again.logits(data), ticket.logits(data))
            torch.testing.assert_close(compiled(), ticket.logits(data))


@pytest.mark.parametrize("make", [Counting, Normed, Lazy])
def test_modules_that_change_in_use_are_no_warning(make, tmp_path):
    data = small_graph()
    for found in (make, make()):
        ticket = save(found, tmp_path)
        for model in (make, make(), make().eval(), used(make()), ticket.model):
            again, compiled = load(model, tmp_path)
            assert torch.equal(again.logits(data), ticket.logits(data))
            assert torch.equal(compiled(), ticket.compile(data)())
            again.save(tmp_path / "again")
            assert (tmp_path / "again").read_bytes() == (tmp_path / "a.ticket").read_bytes()
            compiled.save(tmp_path / "again")
            assert (tmp_path / "again").read_bytes() == (tmp_path / "a.compiled").read_bytes()


def test_older_files_are_no_warning(tmp_path):
    save(GCN(), tmp_path)
    content = read_ticket(tmp_path / "a.ticket")
    info = replace(content.info, model={"class": content.info.model["class"]})
    old = Content(info, content.keep, content.parameters, content.buffers)
    write_ticket(tmp_path / "a.ticket", old)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        teddy.Ticket.load(tmp_path / "a.ticket", GCN(act="tanh"))


def test_weights_that_do_not_fit_are_an_error_alone(tmp_path):
    save(GCN(), tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(teddy.InputError, match="the weights do not fit"):
            teddy.Ticket.load(tmp_path / "a.ticket", pyg.GCN(12, 9, 2, 3))


def test_built_in_models_record_no_settings(tmp_path):
    ticket = teddy.find_ticket(small_graph(), "gcn", epochs=1, hidden_channels=8)
    assert "structure" not in ticket.info.model


class Other(pyg.GCN):
    """The same parameters."""


def test_a_compiled_ticket_is_not_loaded_into_another_class(tmp_path):
    save(GCN(), tmp_path)
    for model in (Other(12, 8, 2, 3), lambda: Other(12, 8, 2, 3)):
        with pytest.raises(teddy.InputError, match=r"a.compiled: its model is a GCN .* a Other"):
            CompiledTicket.load(tmp_path / "a.compiled", model)
