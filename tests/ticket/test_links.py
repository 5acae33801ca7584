"""What a ticket that predicts links can do, and what it can't."""

from __future__ import annotations

import copy
import json

import pyarrow.parquet as pq
import pytest
import torch
from torch_geometric.data import Data

import teddy
from conftest import small_graph
from teddy.data.checks import MASKS
from teddy.errors import InputError
from teddy.ticket.description import model_card
from teddy.ticket.info import TicketInfo
from teddy.ticket.speed import measure


@pytest.fixture(scope="module")
def data():
    return small_graph(nodes=60)


@pytest.fixture(scope="module")
def links(data):
    return teddy.split_links(data, 0.2, 0.2, seed=4)


@pytest.fixture(scope="module")
def ticket(links):
    return teddy.find_ticket(
        links, "gcn", 0.3, 0.3, epochs=5, hidden_channels=8, dimensions=6, task="link-prediction"
    )


def test_it_round_trips_through_its_file(links, ticket, tmp_path):
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket")
    assert again.info == ticket.info
    assert again.info.links["decoder"] == "inner product"
    assert again.logits(links).equal(ticket.logits(links))
    assert again.verify(links) == ticket.evaluate(links)


def test_headers_older_than_link_prediction_are_read(ticket):
    plain = json.loads(json.dumps(ticket.info.to_dict()))
    del plain["links"]
    assert TicketInfo.from_dict(plain).links is None


def test_predictions_are_of_the_links_that_are_asked(links, ticket):
    predicted, logits = ticket.predict(links), ticket.logits(links)
    assert logits.shape == (links.edge_label.numel(), 1)
    assert predicted.equal((logits[:, 0] > 0).long())
    pairs = Data(x=links.x, edge_index=links.edge_index, num_nodes=60)
    pairs.edge_label_index = torch.tensor([[0, 5, 9], [7, 8, 40]])  # neither labels nor masks
    outputs = ticket.model(links.x, ticket.edge_index(links))
    first, second = pairs.edge_label_index
    torch.testing.assert_close(
        ticket.logits(pairs)[:, 0], (outputs[first] * outputs[second]).sum(1)
    )
    turned = copy.copy(pairs)
    turned.edge_label_index = pairs.edge_label_index.flip(0)
    assert ticket.logits(turned).equal(ticket.logits(pairs))
    with pytest.raises(InputError, match="no edge_label, expected 0 or 1"):
        ticket.evaluate(pairs)


def test_the_whole_graph_is_split_as_recorded_in_the_ticket(data, links, ticket):
    assert ticket.logits(data).equal(ticket.logits(links))
    assert ticket.evaluate(data) == ticket.evaluate(links)
    assert ticket.edge_index(data).equal(ticket.edge_index(links))
    assert ticket.apply(data).edge_index.equal(ticket.apply(links).edge_index)


def test_another_split_is_another_graph(data, ticket):
    with pytest.raises(InputError, match=r"the ticket belongs to data .* got another graph .* edg"):
        ticket.logits(teddy.split_links(data, 0.2, 0.2, seed=5))


def test_your_own_split_is_not_drawn_again(data, links):
    own = copy.copy(links)
    for key in ("split", "split_seed"):
        del own[key]
    ticket = teddy.find_ticket(own, "gcn", epochs=1, hidden_channels=8, task="link-prediction")
    assert (ticket.info.split, ticket.info.split_seed) == ("given", None)
    assert ticket.evaluate(own) == ticket.evaluate(links)
    with pytest.raises(InputError, match="no edge_label_index, expected the result of"):
        ticket.logits(data)


def test_compiled_logits_are_the_same(links, ticket):
    compiled = ticket.compile(links)
    torch.testing.assert_close(compiled(), ticket.logits(links))
    other = torch.rand_like(links.x)
    moved = copy.copy(links)
    moved.x = other
    torch.testing.assert_close(compiled(other), ticket.logits(moved))
    assert [p.way for p in measure(ticket, links, seconds=0.0)][-1] == "compiled"


def test_exports_give_outputs_of_nodes(links, ticket, tmp_path):
    ticket.export(tmp_path / "a.pt2")
    program = torch.export.load(tmp_path / "a.pt2").module()
    outputs = program(links.x, ticket.edge_index(links))
    first, second = links.edge_label_index
    logits = (outputs[first] * outputs[second]).sum(dim=1, keepdim=True)
    torch.testing.assert_close(logits, ticket.logits(links), atol=1e-5, rtol=1e-4)


def test_an_exported_table_has_the_weights_of_its_edges(data, tmp_path):
    data = copy.copy(data)
    low, high = data.edge_index.min(dim=0).values, data.edge_index.max(dim=0).values
    data.edge_weight = 100.0 * low + high + 1
    links = teddy.split_links(data, 0.1, 0.2)
    ticket = teddy.find_ticket(
        links, "gcn", 0.5, 0.5, epochs=1, hidden_channels=4, task="link-prediction"
    )
    # As many links as columns: they aren't what edges have.
    some = copy.copy(links)
    for key in ("edge_label", *MASKS):
        some[key] = links[key][: links.num_edges]
    some.edge_label_index = links.edge_label_index[:, : links.num_edges]
    for graph in (links, some, data):
        ticket.export(tmp_path / "a.parquet", graph)
        table = pq.read_table(tmp_path / "a.parquet")
        assert table.column_names == ["source", "target", "weight"]
        rows = table.to_pydict()
        assert list(zip(rows["source"], rows["target"], strict=True)) == [
            (a, b) for a, b in ticket.edge_index(links).t().tolist() if a < b
        ]
        ends = zip(rows["source"], rows["target"], strict=True)
        assert rows["weight"] == [100.0 * a + b + 1 for a, b in ends]


def test_a_changed_graph_is_refused(links, ticket):
    with pytest.raises(InputError, match="its links belong to its own graph"):
        ticket.transfer(links)


def test_the_card_describes_link_prediction(ticket):
    card = model_card(ticket.info, "me/links")
    assert "name: link prediction" in card
    assert "| test hits@50 % |" in card
