"""Interrupted and resumed searches: the same ticket, byte for byte."""

from __future__ import annotations

import copy
import random

import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg
from torch_geometric.loader import RandomNodeLoader

import teddy
from conftest import small_graph
from teddy.errors import InputError
from teddy.methods import resume
from teddy.methods.resume import SearchFolder
from teddy.models import build_model
from teddy.training import Checkpoint, FunctionLoader, TrainConfig, seeded, train
from training.modules import Own


class EndedError(Exception):
    """Stands for an interruption of a process."""


def find(path, checkpoint=None, end_after=None, **settings):
    """Find a ticket, or end after a number of epochs; return its bytes."""
    left = [end_after]

    def look(*_):
        if left[0] is not None:
            left[0] -= 1
            if left[0] < 0:
                raise EndedError

    settings = {"model": "gcn", "epochs": 10, **settings}
    if isinstance(settings["model"], str):
        settings = {"hidden_channels": 8, **settings}
    ticket = teddy.find_ticket(
        small_graph(), graph_sparsity=0.3, weight_sparsity=0.3,
        checkpoint=SearchFolder(checkpoint, 0), progress=look, **settings,
    )  # fmt: skip
    ticket.save(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "gcn"},
        {"model": "gin"},
        {"model": "gat"},
        {"model": "nagphormer:batch=16", "hidden_channels": 8},
        {"model": Own},
        {"patience": 3, "epochs": 40},
        {"evaluate_every": 4},
        {"method": "ugs", "epochs": 4},
        {"inductive": True},
        {"loader": "partitions:parts=6:batch=2"},
        {"model": Own, "loader": "partitions:parts=6:batch=2", "evaluate_every": 3},
    ],
    ids=str,
)
def test_a_search_that_was_ended_anywhere_gives_the_same_ticket(settings, tmp_path):
    whole = find(tmp_path / "whole", **settings)
    folder, draw, ends = tmp_path / "folder", random.Random(0), 0
    while True:
        try:
            found = find(tmp_path / "parts", folder, draw.randrange(6), **settings)
            break
        except EndedError:
            ends += 1
            assert ends < 60
    assert ends > 0
    assert found == whole
    assert find(tmp_path / "again", folder, 0, **settings) == whole  # not an epoch was left


def test_damaged_files_are_computed_again(tmp_path):
    whole, folder = find(tmp_path / "whole"), tmp_path / "folder"
    with pytest.raises(EndedError):
        find(tmp_path / "x", folder, 14)  # in the second training
    for path in folder.glob("*.safetensors"):
        path.write_bytes(path.read_bytes()[:-7])
    (folder / ".teddy-abc").write_bytes(b"not whole")  # of a process that was killed
    assert find(tmp_path / "x", folder) == whole
    assert not list(folder.glob(".teddy-*"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": 11}, "holds a search with epochs 10, got 11; expected the same, or another"),
        ({"seed": 1}, "holds a search with seed 0, got 1"),
        ({"model": "gin"}, "holds a search with model gcn, got gin"),
        ({"hidden_channels": 4}, "holds a search with hidden_channels 8, got 4"),
        ({"loader": "partitions"}, "holds a search with loader None, got partitions:parts=32"),
    ],
)
def test_a_folder_of_another_search_is_refused(change, message, tmp_path):
    find(tmp_path / "one", tmp_path / "folder")
    with pytest.raises(InputError, match=message):
        find(tmp_path / "two", tmp_path / "folder", **change)


def test_another_graph_or_module_is_refused(tmp_path):
    module = Own()
    teddy.find_ticket(small_graph(), module, epochs=2, checkpoint=tmp_path)
    with pytest.raises(InputError, match="holds a search with graph"):
        teddy.find_ticket(small_graph(1), module, epochs=2, checkpoint=tmp_path)
    data = small_graph()
    data.x = data.x + 1
    with pytest.raises(InputError, match="holds a search with data"):
        teddy.find_ticket(data, module, epochs=2, checkpoint=tmp_path)
    other = copy.deepcopy(module)
    nn.init.zeros_(other.last.bias.data[:1])
    nn.init.ones_(other.first.bias.data[:1])
    with pytest.raises(InputError, match="holds a search with model Own"):
        teddy.find_ticket(small_graph(), other, epochs=2, checkpoint=tmp_path)


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"has thesis.tex but no search.json"):
        find(tmp_path / "x", tmp_path)
    (tmp_path / "search.json").write_text("{")
    with pytest.raises(InputError, match=r"search.json: file is damaged"):
        find(tmp_path / "x", tmp_path)
    with pytest.raises(InputError, match="can't be created"):
        find(tmp_path / "x", tmp_path / "thesis.tex")


def test_two_searches_at_once_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(resume, "_LOCK_TIMEOUT", 0.1)
    folder = tmp_path / "folder"

    def look(*_):
        with pytest.raises(InputError, match="in use by another process"):
            find(tmp_path / "x", folder)
        raise EndedError

    with pytest.raises(EndedError):
        teddy.find_ticket(small_graph(), "gcn", epochs=2, checkpoint=folder, progress=look)


@pytest.mark.parametrize("loader", [None, FunctionLoader(lambda graph: [graph])])
def test_a_training_resumes_from_its_file(tmp_path, loader):
    data, config = small_graph(), TrainConfig(epochs=6)

    def weights(epochs, checkpoint, seed=0):
        with seeded(seed):
            model = build_model("gcn", 12, 3, hidden_channels=8)
            train(model, data, TrainConfig(epochs=epochs), loader=loader, checkpoint=checkpoint)
        return torch.cat([p.detach().flatten() for p in model.parameters()])

    path = tmp_path / "one.safetensors"
    weights(3, Checkpoint(path))  # the last epoch is always written
    assert torch.equal(weights(config.epochs, Checkpoint(path)), weights(config.epochs, None))
    with pytest.raises(InputError, match="is a checkpoint of another training"):
        weights(config.epochs, Checkpoint(path), seed=1)


def freeze(module):
    module.convs[0].requires_grad_(False)
    return module


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (lambda: pyg.GCN(12, 8, 2, 3), lambda: freeze(pyg.GCN(12, 8, 2, 3))),
        (lambda: pyg.GCN(12, 8, 2, 3), lambda: pyg.GCN(12, 8, 2, 3, act="tanh")),
        (lambda: pyg.GCN(12, 8, 2, 3), lambda: pyg.GCN(12, 8, 2, 3, dropout=0.5)),
        (lambda: pyg.GCN(-1, 8, 2, 3), lambda: pyg.GCN(-1, 8, 2, 3, act="tanh")),
    ],
)
@pytest.mark.parametrize("factory", [False, True])
def test_a_module_of_other_settings_is_refused(first, then, factory, tmp_path):
    def given(make):
        torch.manual_seed(0)
        return (lambda: make()) if factory else make()

    data = small_graph()
    ticket = teddy.find_ticket(data, given(first), epochs=2, checkpoint=tmp_path)
    again = teddy.find_ticket(data, given(first), epochs=2, checkpoint=tmp_path)
    assert torch.equal(again.logits(data), ticket.logits(data))
    with pytest.raises(InputError, match=r"holds a search with model [^\n]*, got [^\n]*$"):
        teddy.find_ticket(data, given(then), epochs=2, checkpoint=tmp_path)


def test_a_loader_function_with_another_number_is_refused(tmp_path):
    def find(loader):
        return teddy.find_ticket(
            small_graph(), "gcn", epochs=2, hidden_channels=8, loader=loader, checkpoint=tmp_path
        )

    def parts(number):
        return lambda graph: RandomNodeLoader(graph, num_parts=number)

    ticket = find(lambda graph: RandomNodeLoader(graph, num_parts=2))
    assert ticket.info.config["loader"].endswith("<lambda>:together=1")
    find(lambda graph: RandomNodeLoader(graph, num_parts=2))
    for loader in (lambda graph: RandomNodeLoader(graph, num_parts=10), parts(10)):
        with pytest.raises(InputError, match=r"holds a search with loader .*<lambda>:together=1"):
            find(loader)
