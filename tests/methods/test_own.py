"""A user's own module, targets and edges: weights, attributes, directions, tasks."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GINEConv, GraphConv

import teddy
from conftest import LAYERED, small_graph
from models.test_edge_inputs import DENSE, matrix
from teddy.graph import Edges
from teddy.ticket import TicketInfo
from teddy.training import TrainConfig, seeded, train

TINY = {"epochs": 4, "hidden_channels": 8}


def own_graph(directed=False, kind="edge_attr", seed=0):
    """A small graph whose edges have weights and attributes, of a directed one each direction."""
    data = small_graph(seed)
    generator = torch.Generator().manual_seed(seed)
    table = torch.rand(40, 40, 3, generator=generator) + 0.1
    if directed:
        there = data.edge_index[:, : data.num_edges // 2]
        data.edge_index = torch.cat([there, there[:, ::4].flip(0)], dim=1)  # some run both ways
    else:
        table = table + table.transpose(0, 1)
    data.edge_index = Edges.from_edge_index(data.edge_index, 40, directed=directed).edge_index
    source, target = data.edge_index
    if kind in ("edge_weight", "both"):
        data.edge_weight = table[source, target, 0]
    if kind in ("edge_attr", "both"):
        data.edge_attr = table[source, target, 1:]
    return data


class Edged(nn.Module):
    """Takes attributes of edges, and weights."""

    def __init__(self, outputs=3):
        super().__init__()
        self.embed = nn.Linear(12, 8)
        self.first = GINEConv(nn.Linear(8, 8), edge_dim=2)
        self.last = GraphConv(8, outputs)

    def forward(self, x, edge_index, edge_weight=None, edge_attr=None):
        h = self.first(self.embed(x).relu(), edge_index, edge_attr).relu()
        return self.last(h, edge_index, edge_weight)


class Weighted(nn.Module):
    """Can't do without weights."""

    def __init__(self):
        super().__init__()
        self.first, self.last = GraphConv(12, 8), GraphConv(8, 3)

    def forward(self, x, edge_index, edge_weight):
        return self.last(self.first(x, edge_index, edge_weight).relu(), edge_index, edge_weight)


def listed_again(data, seed=1):
    """The same graph with its columns in another order, and a duplicate."""
    again = data.clone()
    order = torch.randperm(data.num_edges, generator=torch.Generator().manual_seed(seed))
    more = torch.cat([order, order[:1]])
    again.edge_index = data.edge_index[:, more]
    for name in ("edge_weight", "edge_attr"):
        if name in data:
            again[name] = data[name][more]
    return again


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["edge_weight", "edge_attr", "both"])
def test_a_saved_ticket_gives_the_logits_of_its_training(directed, kind, tmp_path):
    data = own_graph(directed, kind)
    torch.manual_seed(0)
    module = Weighted() if kind == "edge_weight" else Edged()
    ticket = teddy.find_ticket(data, module, 0.4, 0.5, epochs=4, directed=directed)
    ticket.save(tmp_path / "own.ticket")
    again = teddy.Ticket.load(tmp_path / "own.ticket", module)
    assert again.info == ticket.info
    logits = ticket.logits(data)
    assert torch.equal(again.logits(data), logits)
    assert torch.equal(again.logits(listed_again(data)), logits)
    assert ticket.verify(data)["test"] == ticket.info.ticket.test

    # Algorithm 1 by hand: the transform, the loop, and messages in a fixed order.
    values = {name: data[name] for name in ("edge_weight", "edge_attr") if name in data}

    def graph_of(listed):
        own = {name: listed[name] for name in values}
        found = Edges.from_edge_index(listed.edge_index, 40, own, directed).messages
        fields = {key: data[key] for key in ("x", "y", "train_mask", "val_mask", "test_mask")}
        return Data(edge_index=found.index, **found.values, **fields)

    config = TrainConfig(epochs=4)
    with seeded(0):
        dense = train(copy.deepcopy(module), graph_of(data), config)
    with seeded(0):
        model, sparse = copy.deepcopy(module), graph_of(teddy.SparsifyEdges(0.4)(data))
        result = train(model, sparse, config, teacher=dense.logits, weight_sparsity=0.5)
    assert torch.equal(result.logits, logits)
    assert ticket.info.graph["directed"] == directed
    assert ticket.info.graph["edge_inputs"] == list(values)

    # Weights and attributes have a part in it.
    for name in values:
        other = data.clone()
        other[name] = data[name] * 2
        assert not torch.allclose(ticket.logits(other), logits)
        del other[name]
        with pytest.raises(teddy.InputError, match=f"data have no {name}, expected it"):
            ticket.logits(other)
        with pytest.raises(teddy.InputError, match=f"data have no {name}, expected it"):
            ticket.apply(other)
        assert torch.equal(ticket.edge_index(other), ticket.edge_index(data))  # needs none


@pytest.mark.parametrize("name", LAYERED)
@pytest.mark.parametrize("directed", [False, True])
def test_the_logits_of_a_ticket_are_those_of_a_dense_formula(name, directed, tmp_path):
    data = own_graph(directed, "edge_weight")
    options = {"heads": 2} if name in ("gat", "unimp") else {}
    settings = {**TINY, **options, "directed": directed, "dropout": 0.0}
    ticket = teddy.find_ticket(data, name, 0.4, 0.3, **settings)
    ticket.save(tmp_path / "a.ticket")
    loaded = teddy.Ticket.load(tmp_path / "a.ticket")
    kept = teddy.SparsifyEdges(0.4)(data)
    A = matrix(kept.edge_index, kept.edge_weight, 40)
    A = A if directed else torch.maximum(A, A.t())
    A.fill_diagonal_(0)
    model = copy.deepcopy(loaded.model).double()
    with torch.no_grad():
        expected = DENSE[name](model, data.x.double(), A).float()
    torch.testing.assert_close(loaded.logits(data), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LAYERED)
def test_weights_of_one_are_no_weights(name):
    data, weighted = small_graph(), small_graph()
    weighted.edge_weight = torch.ones(data.num_edges)
    tickets = [teddy.find_ticket(d, name, 0.4, 0.5, **TINY, dropout=0.0) for d in (data, weighted)]
    assert torch.equal(tickets[0].keep, tickets[1].keep)
    torch.testing.assert_close(
        tickets[0].logits(data), tickets[1].logits(weighted), rtol=1e-3, atol=1e-4
    )


def test_a_directed_graph_listed_both_ways_is_the_undirected_one():
    data = small_graph()
    tickets = [teddy.find_ticket(data, "gcn", 0.4, 0.5, **TINY, directed=d) for d in (False, True)]
    assert torch.equal(tickets[0].logits(data), tickets[1].logits(data))
    assert tickets[0].info.edges == tickets[1].info.edges


def test_an_edge_and_its_reverse_are_kept_or_removed_together():
    data = own_graph(directed=True, kind="none")
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.0, **TINY, directed=True)
    graph, _ = Edges.from_columns(data.edge_index, 40)
    assert ticket.info.edges.total == graph.num_edges
    undirected = teddy.find_ticket(data, "gcn", 0.5, 0.0, **TINY)
    assert torch.equal(ticket.keep, undirected.keep)  # scores are of the undirected graph
    kept = ticket.apply(data).edge_index
    listed = {tuple(edge) for edge in kept.t().tolist()}
    for source, target in data.edge_index.t().tolist():
        if (target, source) in {tuple(edge) for edge in data.edge_index.t().tolist()}:
            assert ((source, target) in listed) == ((target, source) in listed)


def test_messages_run_along_listed_directions_only():
    """A node's messages reach its targets only."""
    data = small_graph()
    data.edge_index = torch.tensor([[0, 1, 5], [1, 2, 4]])
    ticket = teddy.find_ticket(data, "sage", 0.0, 0.0, **TINY, directed=True, num_layers=1)
    before = ticket.logits(data)
    data.x = data.x.clone()
    data.x[1] += 1
    changed = (ticket.logits(data) != before).any(dim=1).nonzero().flatten()
    assert changed.tolist() == [1, 2]
    data.edge_index = data.edge_index.flip(0)
    with pytest.raises(teddy.InputError, match="got another graph"):
        ticket.logits(data)


def test_weighted_degrees_choose_the_edges():
    data = own_graph(kind="edge_weight")
    expected = teddy.SparsifyEdges(0.5, weighted=True)(data)
    for method in ("teddy", "degree-high"):
        ticket = teddy.find_ticket(data, "gcn", 0.5, method=method, weighted=True, **TINY)
        plain = teddy.find_ticket(data, "gcn", 0.5, method=method, **TINY)
        assert not torch.equal(ticket.keep, plain.keep)
        if method == "teddy":
            assert torch.equal(ticket.apply(data).edge_index, expected.edge_index)
    assert ticket.info.config["weighted"] is True


@pytest.mark.parametrize("kind", ["edge_weight", "both"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("rule", ["scored", "training"])
def test_inductive_tickets_take_edges_along(kind, directed, rule, tmp_path):
    data = own_graph(directed, kind)
    module = "gcn" if kind == "edge_weight" else Edged()
    options = {"hidden_channels": 8} if kind == "edge_weight" else {}
    ticket = teddy.find_ticket(
        data, module, 0.4, 0.3, epochs=3, directed=directed, inductive=True, inference=rule,
        weighted=True, **options,
    )  # fmt: skip
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", None if kind == "edge_weight" else module)
    assert torch.equal(again.logits(listed_again(data)), ticket.logits(data))
    assert again.evaluate(data)["test"] == ticket.info.ticket.test
    if rule == "scored":
        expected = teddy.SparsifyEdges(0.4, weighted=True)(data)
        assert torch.equal(again.apply(data).edge_index, expected.edge_index)
    # What training didn't see has no part in the weights of the network.
    other = data.clone()
    unseen = ~data.train_mask
    touched = unseen[data.edge_index[0]] | unseen[data.edge_index[1]]
    other.edge_weight = torch.where(touched, data.edge_weight * 3, data.edge_weight)
    other.x = torch.where(unseen[:, None], data.x + 1, data.x)
    same = teddy.find_ticket(
        other, module, 0.4, 0.3, epochs=1, directed=directed, inductive=True, inference=rule,
        weighted=True, **options,
    )  # fmt: skip
    first = teddy.find_ticket(
        data, module, 0.4, 0.3, epochs=1, directed=directed, inductive=True, inference=rule,
        weighted=True, **options,
    )  # fmt: skip
    for ours, theirs in zip(same.model.parameters(), first.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_masks_are_learned_beside_weights_and_directions(directed, own):
    data = own_graph(directed, "both" if own else "edge_weight")
    model, options = (Edged(), {}) if own else ("gcn", {"hidden_channels": 8})
    ticket = teddy.find_ticket(
        data, model, 0.05, 0.05, epochs=3, directed=directed, method="ugs", **options
    )
    assert ticket.info.edges.kept < ticket.info.edges.total
    assert ticket.evaluate(data)["test"] == ticket.info.ticket.test


def test_masks_of_a_graph_that_grows_with_weights():
    data = own_graph(True, "edge_weight")
    ticket = teddy.find_ticket(
        data,
        "gcn",
        0.05,
        0.05,
        epochs=3,
        hidden_channels=8,
        directed=True,
        method="ugs",
        inductive=True,
    )
    assert ticket.evaluate(data)["test"] == ticket.info.ticket.test


def test_a_ticket_without_task_and_edge_metadata_is_a_classification():
    data = small_graph()
    ticket = teddy.find_ticket(data, "gcn", 0.4, 0.5, **TINY)
    plain = ticket.info.to_dict()
    del plain["task"], plain["graph"]["directed"], plain["graph"]["edge_inputs"]
    old = teddy.Ticket(TicketInfo.from_dict(plain), ticket.keep, ticket.model)
    assert old.info.task == ticket.info.task
    data.edge_weight = torch.rand(data.num_edges)
    assert torch.equal(old.predict(data), ticket.predict(data))


@pytest.mark.parametrize("name", ["multilabel", "regression"])
@pytest.mark.parametrize("model", ["gcn", "nagphormer", "own"])
def test_tasks_from_a_search_to_a_file(name, model, tmp_path):
    data = small_graph()
    data.y = (data.x[:, :3] > 0.3).long()
    if name == "regression":
        data.y = 1000 + 50 * data.x[:, :2].double()
    outputs = data.y.size(1)
    module = Edged(outputs) if model == "own" else model
    if model == "own":
        data.edge_attr = torch.ones(data.num_edges, 2)
    options = {} if model == "own" else {"hidden_channels": 8}
    ticket = teddy.find_ticket(data, module, 0.4, 0.3, epochs=40, task=name, **options)
    assert ticket.info.task["name"] == name
    assert ticket.info.task["metric"] == {"multilabel": "micro-F1", "regression": "R2"}[name]
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", module if model == "own" else None)
    predicted = again.predict(data)
    assert predicted.shape == data.y.shape
    assert again.verify(data)["test"] == pytest.approx(ticket.info.ticket.test, abs=1e-4)
    if name == "multilabel":
        assert set(predicted.unique().tolist()) <= {0, 1}
        ours, y = predicted[data.test_mask], data.y[data.test_mask]
        f1 = 200 * int((ours & y).sum()) / int(ours.sum() + y.sum())
        assert ticket.info.ticket.test == pytest.approx(f1)
    else:
        left = (predicted - data.y)[data.test_mask].square().mean(dim=0)
        share = 1 - left / data.y[data.test_mask].var(dim=0, correction=0)
        assert ticket.info.ticket.test == pytest.approx(100 * float(share.mean()), abs=1e-3)


def test_an_inductive_regression_reads_training_targets_only():
    data = small_graph()
    data.y = 3 + data.x[:, 0]
    changed = data.clone()
    changed.y = torch.where(data.train_mask, data.y, data.y * 7)
    settings = {"task": "regression", "epochs": 1, "hidden_channels": 8, "inductive": True}
    tickets = [teddy.find_ticket(d, "gcn", 0.4, 0.3, **settings) for d in (data, changed)]
    assert tickets[0].info.task == tickets[1].info.task
    assert torch.equal(tickets[0].logits(data), tickets[1].logits(data))


def test_class_weights_move_predictions_to_the_rare_class():
    data = small_graph()
    data.y = (torch.arange(40) % 8 == 0).long()
    data.x = data.x + 0.3 * data.y[:, None]
    found = {
        weight: teddy.find_ticket(
            data, "gcn", 0.2, 0.0, epochs=30, hidden_channels=8, class_weight=weight, distill=0.0
        ).predict(data).sum()
        for weight in (None, "balanced", (1.0, 1000.0))
    }  # fmt: skip
    assert found[None] < found["balanced"] <= found[1.0, 1000.0]


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("edge_weight", {"model": "nagphormer"}, "model nagphormer does not support edge weights"),
        (
            "none",
            {"model": "specformer", "directed": True},
            "does not support directed messages",
        ),
        ("none", {"weighted": True}, "weighted is True, expected data with edge_weight"),
        (
            "edge_weight",
            {"method": "random", "weighted": True},
            "does not support weighted degrees",
        ),
        ("none", {"task": "regresion"}, "unknown task 'regresion'"),
        ("none", {"method": "wd-glt", "task": "regression"}, "does not support method wd-glt"),
        (
            "none",
            {"model": "unimp:label_rate=0.5", "task": "regression"},
            "does not support label input",
        ),
        ("none", {"model": Weighted()}, "needs edge_weight, expected"),
        ("none", {"model": Edged(2), "task": "regression"}, "returned 2 outputs, expected 1"),
    ],
)
def test_conflicting_settings_raise_a_clear_message(kind, arguments, message):
    data = own_graph(kind=kind)
    if isinstance(arguments.get("model"), Edged):
        data.edge_attr = torch.ones(data.num_edges, 2)
    if arguments.get("task") == "regression":
        data.y = data.x[:, 0]
    settings = {"model": "gcn", "epochs": 1} | arguments
    with pytest.raises(teddy.InputError, match=message):
        teddy.find_ticket(data, **settings)


def test_attributes_of_a_data_set_change_nothing_for_models_without():
    data = small_graph()
    plain = teddy.find_ticket(data, "gcn", 0.4, 0.3, **TINY).logits(data)
    data.edge_attr = torch.rand(data.num_edges, 3)  # not even the same both ways
    assert torch.equal(teddy.find_ticket(data, "gcn", 0.4, 0.3, **TINY).logits(data), plain)


def test_two_weights_of_an_edge_require_directed():
    data = own_graph(kind="edge_weight")
    data.edge_weight = torch.arange(float(data.num_edges)) + 1
    with pytest.raises(teddy.InputError, match="directed=True has one for each direction"):
        teddy.find_ticket(data, "gcn", **TINY)


def test_a_search_resumes_only_with_the_same_task_and_edges(tmp_path):
    data = own_graph(kind="edge_weight")
    settings = {**TINY, "model": "gcn", "checkpoint": tmp_path / "search"}
    ticket = teddy.find_ticket(data, class_weight="balanced", **settings)
    again = teddy.find_ticket(data, class_weight="balanced", **settings)
    assert torch.equal(ticket.logits(data), again.logits(data))
    with pytest.raises(teddy.InputError, match="holds a search with class_weight"):
        teddy.find_ticket(data, **settings)
    data.edge_weight = data.edge_weight * 2
    with pytest.raises(teddy.InputError, match="holds a search with data"):
        teddy.find_ticket(data, class_weight="balanced", **settings)


@pytest.mark.parametrize("directed", [False, True])
def test_your_own_training_loop_gives_the_same_result(directed):
    """SparsifyEdges and L0Projected in plain torch give what find_ticket gives."""
    data = own_graph(directed, "both")
    torch.manual_seed(0)
    module = Edged()
    ticket = teddy.find_ticket(
        data, module, 0.4, 0.5, epochs=5, distill=0.0, directed=directed, weight_decay=0.0
    )
    sparse, model, best = teddy.SparsifyEdges(0.4)(data), copy.deepcopy(module), (-1, None)
    optimizer = teddy.L0Projected(torch.optim.Adam(model.parameters(), lr=0.01), 0.5)
    inputs = sparse.x, sparse.edge_index, sparse.edge_weight, sparse.edge_attr
    for _ in range(5):
        optimizer.zero_grad()
        logits = model(*inputs)[data.train_mask]
        nn.functional.cross_entropy(logits, data.y[data.train_mask]).backward()
        optimizer.step()
        with torch.no_grad():
            logits = model(*inputs)
        val = float((logits.argmax(1) == data.y)[data.val_mask].double().mean())
        best = (val, logits) if val >= best[0] else best
    torch.testing.assert_close(ticket.logits(data), best[1], rtol=1e-3, atol=1e-4)
