"""A ticket on a graph that has changed since."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import teddy
from conftest import small_graph
from teddy.graph import Edges

RULES = ("scored", "training", "none")


def pairs_of(data, ticket=None):
    """Undirected edges by the ids of their ends; of a ticket, those that it keeps."""
    graph, _ = Edges.from_columns(data.edge_index, data.num_nodes)
    keep = torch.ones(graph.num_edges, dtype=torch.bool) if ticket is None else ticket.keep
    ids = data.get("node_ids") or range(data.num_nodes)
    return {frozenset((ids[a], ids[b])) for a, b in graph.pairs[:, keep].t().tolist()}


def with_edges(data, pairs, num_nodes=None):
    """The same nodes, and new ones as the first, with other edges."""
    changed, more = data.clone(), (num_nodes or data.num_nodes) - data.num_nodes
    for key in ("x", "y", "train_mask", "val_mask", "test_mask"):
        changed[key] = torch.cat([data[key], data[key][:more]])
    changed.edge_index = torch.tensor([sorted(p) for p in pairs]).t()
    return changed


@pytest.fixture(scope="module")
def found():
    return teddy.find_ticket(small_graph(), "gcn", 0.5, 0.6, epochs=1, hidden_channels=4)


@pytest.fixture
def added(data):
    """A node more, with two edges."""
    return with_edges(data, pairs_of(data) | {frozenset((40, 0)), frozenset((40, 7))}, 41)


@pytest.fixture
def removed(data):
    """An edge less."""
    return with_edges(data, sorted(pairs_of(data), key=sorted)[1:])


def test_without_a_rule_another_graph_stays_an_error(ticket, added, removed):
    for changed in (added, removed):
        with pytest.raises(teddy.InputError, match=r"has it changed since: Ticket.transfer"):
            ticket.predict(changed)


def test_new_edges_are_kept_and_others_are_unchanged(ticket, data, added):
    there = ticket.transfer(added, "training", original=data)
    expected = pairs_of(data, ticket) | {frozenset((40, 0)), frozenset((40, 7))}
    assert pairs_of(added, there) == expected
    assert there.predict(added).shape == (41,)


def test_an_edge_that_is_gone_is_gone(ticket, data, removed):
    there = ticket.transfer(removed, "training", original=data)
    assert pairs_of(removed, there) == pairs_of(data, ticket) & pairs_of(removed)


def test_a_score_chooses_among_all_edges(ticket, added, removed):
    for changed in (added, removed):
        there = ticket.transfer(changed, "scored")
        keep = teddy.prune_edges(changed.edge_index, 0.5, "teddy", num_nodes=changed.num_nodes)
        assert pairs_of(changed, there) == {
            frozenset(p) for p in changed.edge_index[:, keep].t().tolist()
        }


def test_all_edges_stay_without_pruning(ticket, data, added):
    there = ticket.transfer(added, "none")
    assert pairs_of(added, there) == pairs_of(added)
    with torch.no_grad():
        expected = ticket.model(added.x, Edges.from_columns(added.edge_index, 41)[0].edge_index)
    torch.testing.assert_close(there.logits(added), expected)


@pytest.mark.parametrize("rule", ["scored", "training"])
def test_a_graph_that_is_the_same_keeps_its_ticket(rule, ticket, data):
    """Listed in another order, it is."""
    listed = data.clone()
    listed.edge_index = data.edge_index.flip(1)
    original = data if rule == "training" else None
    assert torch.equal(ticket.transfer(listed, rule, original).keep, ticket.keep)
    assert torch.equal(ticket.predict(listed), ticket.predict(data))


@settings(max_examples=15)
@given(order=st.permutations(range(40)), gone=st.integers(0, 5))
def test_nodes_are_matched_by_their_ids(found, order, gone):
    """Reordered, with removed and new nodes: other edges are kept or removed as before."""
    data = small_graph()
    data.node_ids = [f"n{i}" for i in range(40)]
    left = order[gone:]
    number = {old: new for new, old in enumerate(left)}
    graph, _ = Edges.from_columns(data.edge_index, 40)
    pairs = [(number[a], number[b]) for a, b in graph.pairs.t().tolist()
             if a in number and b in number]  # fmt: skip
    changed = data.clone()
    changed.x = torch.cat([data.x[left], data.x[:1]])
    changed.node_ids = [f"n{i}" for i in left] + ["new"]
    changed.edge_index = torch.tensor([*pairs, (0, len(left))]).t()
    there = found.transfer(changed, "training", original=data)
    names = {f"n{i}" for i in left}
    expected = {pair for pair in pairs_of(data, found) if pair <= names}
    assert pairs_of(changed, there) == expected | {frozenset((f"n{left[0]}", "new"))}


def test_ids_that_were_numbers_and_are_names_now_are_the_same(ticket, data, added):
    added.node_ids = [*map(str, range(40)), "new"]
    there = ticket.transfer(added, "training", original=data)
    assert int(there.keep.sum()) == int(ticket.keep.sum()) + 2


def test_it_reports_recognised_edges(ticket, data, added, removed):
    there = ticket.transfer(added, "training", original=data)
    assert there.info.transferred["recognised"] == {"nodes": 40, "edges": added.num_edges - 2}
    there = ticket.transfer(removed, "training", original=data)
    assert there.info.transferred["recognised"] == {"nodes": 40, "edges": removed.num_edges}
    assert "recognised" not in there.transfer(removed, "none").info.transferred


@pytest.mark.parametrize("of", [list, tuple, np.array, torch.tensor])
def test_ids_may_be_in_any_sequence(of, ticket, data, added):
    data.node_ids, added.node_ids = of(range(1, 41)), of(range(1, 42))
    there = ticket.transfer(added, "training", original=data)
    assert int(there.keep.sum()) == int(ticket.keep.sum()) + 2


@pytest.mark.parametrize(
    ("before", "now", "problem"),
    [
        (range(1, 41), None, "the original has node_ids, such as '1', the changed graph has none"),
        (None, range(1, 42), "the changed graph has node_ids, such as '1', the original has none"),
        (range(1, 41), range(101, 142), r"no node .* ids such as '1' and '101', expected shared"),
        (range(40), [0, 1, 1, *range(3, 41)], "node_ids has '1' twice, expected each id once"),
        (range(40), ["1", *range(1, 41)], "node_ids has '1' twice, expected each id once"),
        (range(40), range(10), r"node_ids has 10 ids, expected 41 \(num_nodes\)"),
        (range(50), range(41), r"node_ids has 50 ids, expected 40 \(num_nodes\)"),
        (range(40), "names", "node_ids is a str, expected a list with an id for each node"),
        (range(40), torch.zeros(41, 1), "node_ids is a Tensor, expected a list"),
    ],
)
def test_ambiguous_nodes_are_refused(before, now, problem, found, added):
    data = small_graph()
    for graph, ids in ((data, before), (added, now)):
        if ids is not None:
            graph.node_ids = list(ids) if isinstance(ids, range) else ids
    with pytest.raises(teddy.InputError, match=problem):
        found.transfer(added, "training", original=data)


def test_a_table_without_node_ids_has_the_numbers_as_ids(found, added):
    """Node 0 is gone since: other ids aren't 0, 1, 2, ... any more."""
    data, left = small_graph(), list(range(1, 40))
    data.feature_names = [f"f{i}" for i in range(12)]
    changed = data.subgraph(torch.tensor(left))
    changed.node_ids, changed.num_nodes = left, 39
    there = found.transfer(changed, "training", original=data)
    expected = {pair for pair in pairs_of(data, found) if 0 not in pair}
    assert pairs_of(changed, there) == expected


def test_it_can_be_saved_and_records_its_origin(ticket, added, tmp_path):
    there = ticket.transfer(added, "scored")
    there.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket")
    assert torch.equal(again.predict(added), there.predict(added))
    was = again.info.transferred
    assert was == {"inference": "scored", "dataset": "data", "graph": ticket.info.graph}
    assert again.info.graph["nodes"] == 41
    assert again.info.edges.kept == int(there.keep.sum())
    assert again.info.ticket == ticket.info.ticket
    assert ticket.info.transferred is None
    twice = there.transfer(added, "none")
    assert twice.info.transferred == {**was, "inference": "none"}


def test_learned_edges_have_no_score_to_choose_by(data, added):
    ticket = teddy.find_ticket(data, "gcn", 0.1, 0.1, method="ugs", epochs=2, hidden_channels=4)
    with pytest.raises(teddy.InputError, match="chosen by ugs without a score, expected inference"):
        ticket.transfer(added, "scored")
    there = ticket.transfer(added, "training", original=data)
    assert int(there.keep.sum()) == ticket.info.edges.kept + 2


def test_a_score_that_draws_draws_with_the_tickets_seed(data, added):
    ticket = teddy.find_ticket(
        data, "gcn", 0.5, 0.5, method="random", seed=3, epochs=1, hidden_channels=4
    )
    keep = teddy.prune_edges(added.edge_index, 0.5, "random", num_nodes=41, seed=3)
    expected = {frozenset(p) for p in added.edge_index[:, keep].t().tolist()}
    assert pairs_of(added, ticket.transfer(added)) == expected


def test_missing_inputs_of_a_rule_raise_a_clear_message(ticket, data, added):
    with pytest.raises(teddy.InputError, match="expected one of: scored, training, none"):
        ticket.transfer(added, "known")
    with pytest.raises(teddy.InputError, match="is 'training', expected original"):
        ticket.transfer(added, "training")
    with pytest.raises(teddy.InputError, match="is 'none', expected no original"):
        ticket.transfer(added, "none", original=data)
    with pytest.raises(teddy.InputError, match="the ticket belongs to"):
        ticket.transfer(added, "training", original=added)
    with pytest.raises(teddy.InputError, match="data is a str, expected a Data"):
        ticket.transfer("citeseer")


def test_an_inductive_ticket_needs_no_transfer(data, added):
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, epochs=1, hidden_channels=4, inductive=True)
    with pytest.raises(teddy.InputError, match=r"prunes any graph itself \(scored\)"):
        ticket.transfer(added)


def test_a_model_with_labels_as_inputs_is_refused(data, added):
    ticket = teddy.find_ticket(data, "unimp:label_rate=0.5", 0.5, 0.5, epochs=1, hidden_channels=4)
    with pytest.raises(teddy.InputError, match="takes training labels of nodes as inputs"):
        ticket.transfer(added)
