"""Other tasks, class weights and settings that conflict, with edge weights and directions."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

import teddy
from conftest import small_graph
from methods.test_own import TINY, Edged, Weighted, own_graph
from teddy.ticket import TicketInfo


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
