from __future__ import annotations

import itertools

import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg

import teddy
from conftest import small_graph
from teddy.graph import Edges
from teddy.models import MODELS, build_model


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_ticket_is_the_same_ticket(name, data, tmp_path):
    ticket = teddy.find_ticket(data, name, 0.5, 0.6, epochs=5, hidden_channels=8)
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket")
    assert again.info == ticket.info
    assert torch.equal(again.keep, ticket.keep)
    for (key, ours), theirs in zip(
        again.model.state_dict().items(), ticket.model.state_dict().values(), strict=True
    ):
        assert torch.equal(ours, theirs), key
    assert torch.equal(again.logits(data), ticket.logits(data))
    again.save(tmp_path / "b.ticket")
    assert (tmp_path / "a.ticket").read_bytes() == (tmp_path / "b.ticket").read_bytes()


def test_repr_is_one_short_line(ticket):
    total, kept = ticket.info.edges.total, ticket.info.edges.kept
    expected = (
        f"Ticket(data, gcn, method=teddy, seed=0, edges={kept}/{total}, weights=48/120, test="
    )
    assert repr(ticket).startswith(expected)
    assert repr(ticket).endswith(f", dense={ticket.info.dense.test:.2f})")
    assert len(repr(ticket)) < 130


def test_print_shows_the_result_in_six_lines(ticket):
    lines = str(ticket).splitlines()
    labels = ["Ticket for data: model gcn, method teddy, seed 0", "test accuracy", "edges kept"]
    labels += ["weights kept   48 of 120 (60.0% removed)", "MACs", "use it"]
    for line, label in zip(lines, labels, strict=True):
        assert line.strip().startswith(label)
    assert f"dense model {ticket.info.dense.test:.2f}%" in lines[1]


def test_a_ticket_has_its_stored_accuracy(ticket, data):
    assert ticket.evaluate(data)["test"] == ticket.info.ticket.test
    assert ticket.evaluate(data)["val"] == ticket.info.ticket.val
    assert ticket.verify(data)["test"] == ticket.info.ticket.test


def test_verify_notices_another_split(ticket, data):
    data.y = (data.y + 1) % 3
    with pytest.raises(teddy.InputError, match="expected the recorded"):
        ticket.verify(data)


def test_apply_does_not_depend_on_the_order_of_edges(ticket, data):
    data.edge_weight = data.edge_index[0] + 0.01 * data.edge_index[1]  # by direction
    order = torch.randperm(data.num_edges, generator=torch.Generator().manual_seed(0))
    shuffled = data.clone()
    shuffled.edge_index = data.edge_index[:, order]
    shuffled.edge_weight = data.edge_weight[order]
    a, b = ticket.apply(data), ticket.apply(shuffled)
    assert a.edge_index.equal(b.edge_index)
    assert a.edge_weight.equal(b.edge_weight)
    assert a.edge_weight.equal(a.edge_index[0] + 0.01 * a.edge_index[1])
    torch.testing.assert_close(ticket.logits(data), ticket.logits(shuffled))


def test_a_rewired_graph_of_the_same_size_is_an_error(ticket, data):
    graph, _ = Edges.from_columns(data.edge_index, 40)
    pairs = graph.pairs.clone()
    missing = next(
        p for p in itertools.combinations(range(40), 2) if list(p) not in pairs.t().tolist()
    )
    pairs[:, 0] = torch.tensor(missing)
    other = data.clone()
    other.edge_index = pairs
    with pytest.raises(teddy.InputError, match="the ticket belongs to"):
        ticket.predict(other)


@pytest.mark.parametrize("name", MODELS)
def test_the_listing_of_the_edges_does_not_matter(name, data):
    """Once, twice, shuffled, with duplicates and self-loops: the same ticket, the same logits."""
    once = Edges.from_columns(data.edge_index, 40)[0].pairs
    loops = torch.arange(40).expand(2, 40)
    listings = [data.edge_index, once, once.flip(0).flip(1), torch.cat([once, loops, once], dim=1)]
    tickets, logits = [], []
    for edge_index in listings:
        listed = data.clone()
        listed.edge_index = edge_index
        tickets.append(teddy.find_ticket(listed, name, 0.5, 0.6, epochs=5, hidden_channels=8))
        logits.append(tickets[0].logits(listed))
    for ticket, z in zip(tickets[1:], logits[1:], strict=True):
        assert ticket.info == tickets[0].info
        assert torch.equal(z, logits[0])


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.x.double(),
        lambda d: d.x.to_sparse_coo(),
        lambda d: d.x.to(torch.bfloat16).float(),
    ],
)
def test_a_search_returns_a_usable_ticket(change, data):
    data.x, data.y = change(data), data.y[:, None]
    ticket = teddy.find_ticket(data, "gcn", epochs=3, hidden_channels=8)
    assert ticket.evaluate(data)["test"] == ticket.info.ticket.test


def test_evaluate_looks_at_each_mask(ticket, data):
    right = ticket.predict(data) == data.y
    for name, mask in (
        ("train", data.train_mask),
        ("val", data.val_mask),
        ("test", data.test_mask),
    ):
        expected = 100 * float(right[mask].double().mean())
        assert ticket.evaluate(data)[name] == pytest.approx(expected)


def test_bad_data_for_a_ticket_raise_a_clear_message(ticket, data):
    data.x[3, 4] = torch.nan
    with pytest.raises(teddy.InputError, match=r"x\[3, 4\] is nan"):
        ticket.predict(data)
    with pytest.raises(teddy.InputError, match="data is a str, expected a Data"):
        ticket.predict("citeseer")


def test_a_built_in_model_given_as_a_module_loads_without_it(data, tmp_path):
    ticket = teddy.find_ticket(
        data, build_model("gcn", 12, 3, hidden_channels=8), 0.5, 0.6, epochs=3
    )
    ticket.save(tmp_path / "a")
    assert torch.equal(teddy.Ticket.load(tmp_path / "a").logits(data), ticket.logits(data))


def test_another_graph_is_an_error(ticket, data):
    other = data.clone()
    first = other.edge_index[:, 0]
    gone = (other.edge_index.sort(dim=0).values == first.sort().values[:, None]).all(dim=0)
    other.edge_index = other.edge_index[:, ~gone]
    with pytest.raises(teddy.InputError, match="the ticket belongs to data with 40 nodes"):
        ticket.predict(other)
    with pytest.raises(teddy.InputError, match="got another graph with 50 nodes"):
        ticket.predict(small_graph(nodes=50))


def test_other_features_are_an_error(ticket, data):
    data.x = data.x[:, :5]
    with pytest.raises(teddy.InputError, match="expects 12 features, got 5"):
        ticket.predict(data)


def test_your_own_module_is_needed_to_load(data, tmp_path):
    torch.manual_seed(0)
    module = nn.ModuleList([pyg.GCN(12, 8, num_layers=2, out_channels=3, norm="batch_norm")])[0]
    ticket = teddy.find_ticket(data, module, 0.5, 0.6, epochs=5)
    path = tmp_path / "a.ticket"
    ticket.save(path)
    with pytest.raises(
        teddy.InputError, match=r"its model is your own module .torch_geometric.*GCN., expected"
    ):
        teddy.Ticket.load(path)
    again = teddy.Ticket.load(path, model=module)
    assert torch.equal(again.logits(data), ticket.logits(data))  # running statistics included
    with pytest.raises(teddy.InputError, match="the weights do not fit"):
        teddy.Ticket.load(path, model=pyg.GCN(12, 9, num_layers=2, out_channels=3))


def test_a_header_without_later_keys_is_read(ticket):
    plain = ticket.info.to_dict()
    del plain["inductive"], plain["classes"]
    assert type(ticket.info).from_dict(plain) == ticket.info
