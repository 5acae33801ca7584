"""Graphs that users have: whole searches on the smallest and strangest of them, by every model."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data

import teddy
from conftest import small_graph
from teddy.models import MODELS


def graph(pairs, num_nodes, labels=None, train=(0, 1), val=(2,), test=(3,)):
    def mask(nodes):
        found = torch.zeros(num_nodes, dtype=torch.bool)
        found[list(nodes)] = True
        return found

    x = torch.rand(num_nodes, 5, generator=torch.Generator().manual_seed(0))
    y = torch.arange(num_nodes) % 2 if labels is None else torch.tensor(labels)
    edges = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t()
    masks = {"train_mask": mask(train), "val_mask": mask(val), "test_mask": mask(test)}
    return Data(x=x, edge_index=edges, y=y, **masks)


CASES = {
    "one edge": graph([(0, 1)], 4),
    "no edges": graph([], 4),
    "a star": graph([(0, i) for i in range(1, 9)], 9),
    "a component without labels": graph(
        [(0, 1), (2, 3), (4, 5), (5, 6), (4, 6)], 7, [0, 1, 0, 1, -1, -1, -1]
    ),
    "two equal halves": graph([(0, 1), (1, 2), (3, 4), (4, 5)], 6),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("inductive", [False, True], ids=["transductive", "inductive"])
def test_a_ticket_is_found_saved_and_used(case, model, inductive, tmp_path):
    data = CASES[case]
    ticket = teddy.find_ticket(data, model, 0.5, 0.5, epochs=3, inductive=inductive)
    weights = ticket.info.weights
    assert weights.kept <= -(-weights.total // 2)
    assert ticket.logits(data).isfinite().all()
    ticket.save(tmp_path / "t.ticket")
    again = teddy.Ticket.load(tmp_path / "t.ticket")
    assert torch.equal(again.predict(data), ticket.predict(data))
    assert ticket.info.macs.ticket is not None
    assert sum(ticket.info.macs.ticket) <= sum(ticket.info.macs.dense)


def test_nodes_of_a_graph_that_was_split_into_links():
    """Links are no business of a ticket that predicts nodes."""
    data = small_graph()
    expected = teddy.find_ticket(data, "gcn", epochs=2, hidden_channels=4)
    data.edge_label_index = torch.tensor([[0], [1]])
    assert teddy.find_ticket(data, "gcn", epochs=2, hidden_channels=4).info == expected.info
