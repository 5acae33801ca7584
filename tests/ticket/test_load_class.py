"""The class of the module that a ticket is loaded into."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv

import teddy
from conftest import small_graph
from teddy.ticket.file import Content, read_ticket, write_ticket


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = GCNConv(12, 8), GCNConv(8, 3)

    def forward(self, x, edge_index):
        return self.last(self.first(x, edge_index).relu(), edge_index)


class Other(Own):
    """The same parameters, another computation."""

    def forward(self, x, edge_index):
        return self.last(self.first(x, edge_index).sigmoid(), edge_index)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "own.ticket"
    ticket = teddy.find_ticket(small_graph(), Own, 0.5, 0.3, epochs=2)
    ticket.save(path)
    return path, ticket


def rewritten(path, name, rename):
    """The same ticket as if its class and parameters had other names."""
    content = read_ticket(path)
    info = replace(content.info, model={"class": name})
    parameters = {rename(key): value for key, value in content.parameters.items()}
    target = path.with_name(f"{name}.ticket")
    write_ticket(target, Content(info, content.keep, parameters, content.buffers))
    return target


def test_another_class_with_the_same_parameters_is_refused(saved):
    path, _ = saved
    for model in (Other, Other()):
        with pytest.raises(teddy.InputError, match=r"its model is a Own .*, got a Other; expected"):
            teddy.Ticket.load(path, model)


def test_a_renamed_class_is_loaded_as_the_message_suggests(saved):
    class New(Own):
        pass

    path, ticket = saved
    with pytest.raises(teddy.InputError, match=r"New\.__qualname__ = 'Own'"):
        teddy.Ticket.load(path, New)
    New.__qualname__ = "Own"
    data = small_graph()
    assert torch.equal(teddy.Ticket.load(path, New).logits(data), ticket.logits(data))


@pytest.mark.parametrize("name", ["__main__.Own", "package.models.Own", "a.main.<locals>.Own"])
def test_the_same_class_from_another_file_is_loaded(saved, name):
    path, ticket = saved
    loaded = teddy.Ticket.load(rewritten(path, name, str), Own)
    data = small_graph()
    assert torch.equal(loaded.logits(data), ticket.logits(data))


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("torch._dynamo.eval_frame.OptimizedModule", "_orig_mod."),
        ("torch.nn.parallel.data_parallel.DataParallel", "module."),
        ("torch._dynamo.eval_frame.OptimizedModule", "_orig_mod.module."),
    ],
)
def test_a_file_of_a_wrapped_module_is_loaded_into_the_module(saved, name, prefix):
    path, ticket = saved
    old = rewritten(path, name, lambda key: prefix + key)
    data = small_graph()
    for model in (Own, nn.DataParallel(Own()), torch.compile(Own(), backend="eager")):
        assert torch.equal(teddy.Ticket.load(old, model).logits(data), ticket.logits(data))


def test_a_compiled_layer_has_the_names_of_the_layer(tmp_path):
    model = Own()
    model.first = torch.compile(model.first, backend="eager")
    data = small_graph()
    ticket = teddy.find_ticket(data, model, 0.5, 0.3, epochs=2)
    ticket.save(tmp_path / "a.ticket")
    for again in (Own, model):
        found = teddy.Ticket.load(tmp_path / "a.ticket", again)
        torch.testing.assert_close(found.logits(data), ticket.logits(data))


def test_a_built_in_model_is_not_loaded_into_a_module(tmp_path):
    ticket = teddy.find_ticket(small_graph(), "gcn", epochs=1, hidden_channels=8)
    ticket.save(tmp_path / "a.ticket")
    with pytest.raises(teddy.InputError, match=r"its model is a GCN \(teddy.*, got a Own"):
        teddy.Ticket.load(tmp_path / "a.ticket", Own)
