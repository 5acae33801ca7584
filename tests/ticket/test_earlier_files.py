"""Tickets of earlier versions load, and predict what they predicted then.

``earlier/1`` is from before the fingerprints of kept edges, ``earlier/2`` from before the tasks
moved into their own subpackage; ``.npy`` has the logits of that time.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.nn import to_hetero

import teddy
from conftest import small_graph
from graph_sets import rings_and_trees
from hetero_graphs import Layers, library
from teddy.ticket import CompiledTicket

FOLDER = Path(__file__).with_name("earlier")
FILES = sorted(file.relative_to(FOLDER).as_posix() for file in FOLDER.rglob("*.ticket"))
COMPILED = sorted(file.relative_to(FOLDER).as_posix() for file in FOLDER.rglob("*.compiled"))


def data_of(name):
    if name == "graphs":
        return rings_and_trees()
    if name == "hetero":
        return library(papers=24)
    data = small_graph()
    if name == "links":
        for key in ("train_mask", "val_mask", "test_mask", "y"):
            del data[key]
    return data


def then(file):
    return torch.from_numpy(np.load((FOLDER / file).with_suffix(".npy")))


def test_every_kind_of_file_is_covered():
    assert {Path(file).stem for file in FILES} == {
        "nodes", "inductive", "learned", "links", "graphs", "hetero"
    }  # fmt: skip
    assert len(FILES) == 12
    assert len(COMPILED) == 3


@pytest.mark.parametrize("file", FILES)
def test_a_ticket_predicts_as_before(file):
    name = Path(file).stem
    data, model = data_of(name), None
    if name == "hetero":
        model = to_hetero(Layers(), data.metadata())
    ticket = teddy.Ticket.load(FOLDER / file, model)
    torch.testing.assert_close(ticket.logits(data), then(file), atol=1e-5, rtol=1e-5)
    assert ticket.evaluate(data)["test"] == pytest.approx(ticket.info.ticket.test)
    assert torch.equal(ticket.predict(ticket.apply(data)), ticket.predict(data))


@pytest.mark.parametrize("file", COMPILED)
def test_a_compiled_ticket_predicts_as_before(file):
    compiled = CompiledTicket.load(FOLDER / file)
    torch.testing.assert_close(compiled(), then(file), atol=1e-5, rtol=1e-5)
