"""What a ticket gives beside classes: probabilities, logits by a call; and where it is."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import teddy
from conftest import small_graph
from graph_sets import rings_and_trees
from teddy.ticket import Count


def softmax(z):
    """The independent reference, in numpy."""
    z = np.exp(z.astype(np.float64) - z.max(axis=1, keepdims=True))
    return z / z.sum(axis=1, keepdims=True)


def test_classes_have_probabilities(ticket, data):
    found = ticket.predict_proba(data)
    np.testing.assert_allclose(found, softmax(ticket.logits(data).numpy()), atol=1e-6)
    assert torch.equal(found.argmax(dim=1), ticket.predict(data))


def test_graphs_have_probabilities():
    graphs = rings_and_trees()
    ticket = teddy.find_ticket(
        graphs, "gcn", 0.3, 0.5, epochs=3, hidden_channels=8, task="graph-classification"
    )
    found = ticket.predict_proba(graphs)
    np.testing.assert_allclose(found, softmax(ticket.logits(graphs).numpy()), atol=1e-6)


def test_labels_and_links_have_a_probability_each(data):
    several = data.clone()
    several.y = torch.nn.functional.one_hot(data.y, 3).float()
    ticket = teddy.find_ticket(
        several, "gcn", 0.3, 0.5, epochs=3, hidden_channels=8, task="multilabel"
    )
    z = ticket.logits(several).double().numpy()
    np.testing.assert_allclose(ticket.predict_proba(several), 1 / (1 + np.exp(-z)), atol=1e-6)

    links = teddy.split_links(small_graph(nodes=60))
    ticket = teddy.find_ticket(
        links, "gcn", 0.3, 0.5, epochs=3, hidden_channels=8, task="link-prediction"
    )
    found, z = ticket.predict_proba(links), ticket.logits(links).double().numpy()[:, 0]
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-z)), atol=1e-6)
    assert torch.equal((found > 0.5).long(), ticket.predict(links))


def test_numbers_have_none(data):
    data.y = data.x[:, 0] * 3
    ticket = teddy.find_ticket(
        data, "gcn", 0.3, 0.5, epochs=3, hidden_channels=8, task="regression"
    )
    with pytest.raises(teddy.InputError, match=r"regression has no probabilities, expected pred"):
        ticket.predict_proba(data)


def test_a_call_gives_the_logits(ticket, data):
    assert torch.equal(ticket(data), ticket.logits(data))


def test_it_moves_whole_and_is_the_same_back(ticket, data):
    expected = ticket.logits(data)
    assert ticket.to("meta") is ticket
    tensors = [ticket.keep, *ticket.model.parameters()]
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    again = teddy.find_ticket(data, "gcn", 0.3, 0.5, epochs=3, hidden_channels=8)
    expected = again.logits(data)
    assert torch.equal(again.to(torch.device("cpu")).logits(data), expected)


def test_a_moved_ticket_is_saved(ticket, data, tmp_path):
    if not torch.cuda.is_available():
        pytest.skip("no second device")
    expected = ticket.logits(data)
    ticket.to("cuda").save(tmp_path / "a.ticket")
    assert torch.equal(teddy.Ticket.load(tmp_path / "a.ticket").logits(data), expected)


@pytest.mark.parametrize(
    ("total", "kept", "sparsity"), [(10, 10, 0.0), (10, 0, 1.0), (8, 2, 0.75), (0, 0, 0.0)]
)
def test_counts_have_a_sparsity(total, kept, sparsity):
    assert Count(total, kept).sparsity == sparsity
