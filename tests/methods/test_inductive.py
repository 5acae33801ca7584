"""Training that sees its own nodes only, and graphs that grow past it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

import teddy
from conftest import small_graph
from teddy.data import split_nodes
from teddy.data.features import select_rows
from teddy.errors import TeddyWarning
from teddy.graph import Edges
from teddy.methods import METHODS, SparsityLevel, make_problem
from teddy.prune import choose_edges
from teddy.settings import Settings
from teddy.tasks.views import Views

MODELS = ("gcn", "gat", "gin", "sage", "unimp")


def split_graph(seed=0, nodes=60):
    data = small_graph(seed, nodes)
    data.train_mask, data.val_mask, data.test_mask = split_nodes(data.y, "40/30/30", seed)
    return data


def perturbed(data, nodes, seed=1):
    """Other features, labels and edges for these nodes, and for these alone."""
    generator = torch.Generator().manual_seed(seed)
    changed = data.clone()
    count = int(nodes.sum())
    changed.x = data.x.clone()
    changed.x[nodes] = torch.rand(count, data.x.size(1), generator=generator)
    changed.y = data.y.clone()
    changed.y[nodes] = (data.y[nodes] + 1) % 3
    touched = nodes[data.edge_index[0]] | nodes[data.edge_index[1]]
    others = nodes.nonzero().flatten()
    pick = torch.randint(count, (2 * count,), generator=generator)
    ends = torch.randint(data.num_nodes, (2 * count,), generator=generator)
    new = torch.stack([others[pick], ends])
    changed.edge_index = torch.cat([data.edge_index[:, ~touched], new], dim=1)
    return changed


def trained(data, model="gcn", method="teddy", epochs=6, **settings):
    """The loss of every epoch of every training, and the ticket."""
    seen = []
    settings = {"hidden_channels": 8, "epochs": epochs, "inductive": True, **settings}
    problem = make_problem(data, model, Settings.from_dict(settings))
    whole = problem.phases.report

    def watch(phase):
        return (*whole(phase), lambda epoch: seen.append((phase, epoch.index, epoch.loss)))

    problem.phases.report = watch
    (ticket,) = METHODS[method].tickets(problem, [SparsityLevel(0.3, 0.3)])
    return seen, ticket


def same_ticket(ticket, other):
    assert torch.equal(ticket.keep, other.keep)
    state, others = ticket.model.state_dict(), other.model.state_dict()
    assert all(state[n].numpy().tobytes() == others[n].numpy().tobytes() for n in state)
    assert ticket.info.graph == other.info.graph
    assert ticket.info.weights == other.info.weights


@given(st.integers(0, 10_000))
def test_an_induced_graph_has_the_edges_between_its_nodes(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    edges = torch.from_numpy(rng.integers(0, n, (2, int(rng.integers(0, 30)))))
    graph, _ = Edges.from_columns(edges, n)
    nodes = torch.from_numpy(rng.random(n) < 0.6)
    part, within = graph.induced(nodes)
    ids = nodes.nonzero().flatten()
    expected = [(a, b) for a, b in graph.pairs.t().tolist() if nodes[a] and nodes[b]]
    assert [(int(ids[a]), int(ids[b])) for a, b in part.pairs.t()] == expected
    assert int(within.sum()) == len(expected)
    assert Edges.from_columns(part.edge_index, part.num_nodes)[0].pairs.equal(part.pairs)
    x = torch.from_numpy(rng.random((n, 3)) * (rng.random((n, 3)) < 0.5))
    assert torch.equal(select_rows(x.to_sparse_csr(), nodes).to_dense(), x[nodes])
    assert torch.equal(select_rows(x, nodes), x[nodes])


def test_views_grow_and_keep_the_training_edges():
    data = split_graph()
    graph, _ = Edges.from_columns(data.edge_index, data.num_nodes)
    views = Views.inductive(data, graph, "scored", 0)
    training, val, test = views.train, views.val, views.test
    assert training.data.num_nodes == int(data.train_mask.sum())
    assert training.known.all()
    assert val.data.num_nodes == int((data.train_mask | data.val_mask).sum())
    assert test.edges.pairs.equal(graph.pairs)
    for view in (val, test):
        assert int(view.known.sum()) == training.edges.num_edges
        ends = view.data.train_mask[view.edges.pairs]
        assert torch.equal(ends.all(dim=0), view.known)


@pytest.mark.parametrize("method", ["teddy", "random", "ugs"])
@pytest.mark.parametrize("model", MODELS)
def test_nothing_of_an_unseen_node_reaches_a_ticket(model, method):
    """With one epoch there is none to choose by the validation nodes: all is the training's."""
    data = split_graph()
    _, ticket = trained(data, model, method, epochs=1)
    _, changed = trained(perturbed(data, ~data.train_mask), model, method, epochs=1)
    same_ticket(ticket, changed)


@pytest.mark.parametrize("model", MODELS)
def test_nothing_of_an_unseen_node_reaches_an_epoch(model):
    data = split_graph()
    losses, changed = (
        [loss for loss in trained(graph, model)[0] if loss[0] == "dense"]
        for graph in (data, perturbed(data, ~data.train_mask))
    )
    assert len(losses) == 6
    assert losses == changed


@pytest.mark.parametrize("method", ["teddy", "random", "ugs"])
@pytest.mark.parametrize("model", MODELS)
def test_a_ticket_does_not_depend_on_the_test_nodes(model, method):
    data = split_graph()
    losses, ticket = trained(data, model, method)
    changed_losses, changed = trained(perturbed(data, data.test_mask), model, method)
    assert losses == changed_losses
    same_ticket(ticket, changed)


@pytest.mark.parametrize("method", ["teddy", "random", "ugs"])
@pytest.mark.parametrize("rule", ["scored", "training", "none"])
def test_a_ticket_prunes_the_grown_graph_by_its_rule(method, rule, tmp_path):
    data = split_graph()
    _, ticket = trained(data, method=method, inference=rule)
    graph, keep = ticket.prune(data)
    total = graph.num_edges
    if rule == "scored" and method != "ugs":
        expected = choose_edges(graph, 0.3, method, 0)
    else:
        known = data.train_mask[graph.pairs].all(dim=0)
        expected = torch.ones(total, dtype=torch.bool)
        if rule != "none":
            expected[known] = ticket.keep
    assert torch.equal(keep, expected)
    assert ticket.info.inductive["edges"] == {"total": total, "kept": int(expected.sum())}
    assert ticket.evaluate(data)["test"] == pytest.approx(ticket.info.ticket.test)
    ticket.save(tmp_path / "t.ticket")
    again = teddy.Ticket.load(tmp_path / "t.ticket")
    assert torch.equal(again.predict(data), ticket.predict(data))
    assert again.apply(data).num_edges == ticket.apply(data).num_edges


def test_a_ticket_can_be_used_on_a_graph_that_grew_further():
    data = split_graph()
    _, ticket = trained(data)
    more = Data(
        x=torch.cat([data.x, data.x[:2]]),
        edge_index=torch.cat([data.edge_index, torch.tensor([[60, 61], [0, 1]])], dim=1),
    )
    assert ticket.predict(more).shape == (62,)


def test_a_ticket_with_stored_training_edges_needs_the_training_nodes():
    data = split_graph()
    _, ticket = trained(data, inference="training")
    bare = Data(x=data.x, edge_index=data.edge_index)
    with pytest.raises(teddy.InputError, match="data have no train_mask, expected one"):
        ticket.predict(bare)
    other = data.clone()
    other.train_mask = data.val_mask
    with pytest.raises(teddy.InputError, match="got another graph"):
        ticket.predict(other)


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_the_dense_model_is_evaluated_on_the_grown_graph(seed):
    data = split_graph(seed)
    problem = make_problem(
        data, "gcn", Settings.from_dict({"hidden_channels": 8, "epochs": 3, "inductive": True})
    )
    model, result = problem.train()
    graph, _ = Edges.from_columns(data.edge_index, data.num_nodes)
    predicted = model.eval()(data.x, graph.edge_index).argmax(1)
    right = (predicted == data.y)[data.test_mask].double().mean()
    assert result.test == pytest.approx(100 * float(right))
    both = data.train_mask | data.val_mask
    part, _ = graph.induced(both)
    predicted = model(data.x[both], part.edge_index).argmax(1)
    right = (predicted == data.y[both])[data.val_mask[both]].double().mean()
    assert result.best.val == pytest.approx(100 * float(right))
    assert result.logits.size(0) == int(data.train_mask.sum())


def test_labels_as_an_input_are_refused():
    with pytest.raises(teddy.InputError, match="label_rate"):
        trained(split_graph(), "unimp:label_rate=0.5")


def test_a_rule_without_unseen_nodes_is_warned_of():
    with pytest.warns(TeddyWarning, match="inference=none has no effect, since inductive is False"):
        teddy.find_ticket(small_graph(), "gcn", epochs=1, hidden_channels=8, inference="none")
