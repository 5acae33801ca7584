"""Uses of tickets with edge weights, directions, other targets or your own module."""

from __future__ import annotations

import copy

import pytest
import torch
from torch_geometric.data import Data

import teddy
from conftest import LAYERED, small_graph
from methods.test_own import Edged, Weighted, own_graph
from models.test_edge_inputs import ARCS, DENSE, WEIGHTS, matrix
from teddy.graph import Edges
from teddy.models import build_model
from teddy.models.plain import Plain
from teddy.ticket.speed import compiled_variants, dense_like
from ticket.test_export import onnx_session, read_edges

TINY = {"epochs": 2, "hidden_channels": 4}


def by_hand(ticket, name, data, pairs):
    """Logits by dense matrices, of the edges between these pairs."""
    source, target = data.edge_index
    stays = [frozenset(ends) in pairs for ends in data.edge_index.t().tolist()]
    weights = data.edge_weight[stays].double()
    A = matrix(torch.stack([source[stays], target[stays]]), weights, data.num_nodes)
    model = copy.deepcopy(ticket.model).double().eval()
    with torch.no_grad():
        return DENSE[name](model, data.x.double(), A)


def kept_pairs(ticket, data):
    graph, _ = Edges.from_columns(data.edge_index, data.num_nodes)
    return {frozenset(ends) for ends in graph.pairs[:, ticket.keep].t().tolist()}


def same(found, expected):
    torch.testing.assert_close(found, expected.to(found.dtype), rtol=1e-4, atol=1e-5)


@pytest.fixture(scope="module", params=[False, True], ids=["undirected", "directed"])
def weighted(request):
    """A graph with weights, and a ticket of it whose degrees were weighted."""
    data = own_graph(request.param, "edge_weight")
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, directed=request.param, weighted=True, **TINY)
    return data, ticket


@pytest.fixture(scope="module")
def regression():
    data = small_graph()
    data.y = 100 + 20 * data.x[:, :2]
    return data, teddy.find_ticket(data, "sage", 0.5, 0.5, task="regression", **TINY)


@pytest.fixture(scope="module")
def multilabel():
    data = small_graph()
    data.y = (data.x[:, :3] > 0.3).long()
    return data, teddy.find_ticket(data, "gin", 0.5, 0.5, task="multilabel", **TINY)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", LAYERED)
def test_a_compiled_ticket_weighs_edges(name, directed):
    data = own_graph(directed, "edge_weight")
    ticket = teddy.find_ticket(data, name, 0.5, 0.5, directed=directed, **TINY)
    compiled = ticket.compile(data)
    expected = by_hand(ticket, name, data, kept_pairs(ticket, data))
    same(ticket.logits(data), expected)
    same(compiled(), expected)
    other = data.clone()
    other.x = data.x.flip(0)
    same(compiled(other.x), by_hand(ticket, name, other, kept_pairs(ticket, data)))


@pytest.mark.parametrize(("module", "kind"), [(Edged, "both"), (Weighted, "edge_weight")])
def test_your_own_compiled_module_gets_its_edge_inputs(module, kind):
    data = own_graph(directed=True, kind=kind)
    ticket = teddy.find_ticket(data, module, 0.5, 0.5, epochs=2, directed=True)
    same(ticket.compile(data)(), ticket.logits(data))
    same(ticket.compile(data)(data.x), ticket.logits(data))
    same(compiled_variants(ticket, data)["compiled"](), ticket.logits(data))


def test_timed_variants_have_the_edge_weights(weighted):
    data, ticket = weighted
    ways = compiled_variants(ticket, data)
    same(ways["sparse weights"](), ticket.logits(data))
    dense = copy.copy(ticket)
    dense.model = dense_like(ticket.model)
    everything = {frozenset(ends) for ends in data.edge_index.t().tolist()}
    same(ways["dense"](), by_hand(dense, "gcn", data, everything))
    same(ways["sparse graph"](), by_hand(dense, "gcn", data, kept_pairs(ticket, data)))


@pytest.mark.parametrize("name", LAYERED)
def test_the_plain_form_weighs_edges(name):
    torch.manual_seed(0)
    model = build_model(name, 3, 2, hidden_channels=4).double().eval()
    x = torch.randn(6, 3, dtype=torch.float64)
    weights = WEIGHTS.clone()
    weights[1], weights[4] = -weights[1], 0.0
    loop = torch.cat([ARCS, torch.tensor([[2], [2]])], dim=1)  # counts nothing
    with torch.no_grad():
        found = Plain(model)(x, loop, torch.cat([weights, weights[:1]]))
        torch.testing.assert_close(found, DENSE[name](model, x, matrix(weights=weights)))


@pytest.mark.parametrize("name", [pytest.param("gcn", marks=pytest.mark.slow), "gat"])
def test_an_exported_program_weighs_edges(name, tmp_path):
    data = own_graph(True, "edge_weight")
    ticket = teddy.find_ticket(data, name, 0.5, 0.5, directed=True, **TINY)
    for kind in ("pt2", "onnx"):
        ticket.export(tmp_path / f"a.{kind}")
    expected = by_hand(ticket, name, data, kept_pairs(ticket, data))
    fields = ticket.fields(data)
    assert torch.equal(fields["edge_index"], ticket.edge_index(data))
    program = torch.export.load(tmp_path / "a.pt2").module()
    same(program(data.x, fields["edge_index"], fields["edge_weight"]), expected)
    session = onnx_session(tmp_path / "a.onnx").session
    inputs = {name: value.numpy() for name, value in {"x": data.x, **fields}.items()}
    assert [(i.name, i.shape) for i in session.get_inputs()] == [
        ("x", ["nodes", 12]), ("edge_index", [2, "edges"]), ("edge_weight", ["edges"]),
    ]  # fmt: skip
    same(torch.from_numpy(session.run(None, inputs)[0]), expected)


def test_your_own_module_is_exported_with_edge_weights(tmp_path):
    data = own_graph(kind="edge_weight")
    ticket = teddy.find_ticket(data, Weighted, 0.5, 0.5, epochs=2)
    ticket.export(tmp_path / "a.pt2")
    fields = ticket.fields(data)
    program = torch.export.load(tmp_path / "a.pt2").module()
    found = program(data.x, fields["edge_index"], fields["edge_weight"])
    same(found, ticket.logits(data))


@pytest.mark.parametrize("kind", ["onnx", "pt2"])
def test_attributes_of_edges_are_not_exported(kind, tmp_path):
    data = own_graph(kind="edge_attr")
    ticket = teddy.find_ticket(data, Edged, 0.5, 0.5, epochs=2)
    message = f"found with edge_attr, expected a ticket without it for .{kind}"
    with pytest.raises(teddy.InputError, match=message):
        ticket.export(tmp_path / f"a.{kind}")
    assert list(tmp_path.iterdir()) == []
    ticket.export(tmp_path / "a.parquet", data)
    assert len(read_edges(tmp_path / "a.parquet")["edge_attr"]) == int(ticket.keep.sum())


def test_a_program_of_a_regression_gives_numbers_as_they_were(regression, tmp_path):
    data, ticket = regression
    for kind in ("pt2", "onnx"):
        ticket.export(tmp_path / f"a.{kind}")
    inputs, expected = (data.x, ticket.edge_index(data)), ticket.predict(data)
    assert expected.mean() > 80  # the scale of y, not that of the logits
    found = torch.export.load(tmp_path / "a.pt2").module()(*inputs)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-4)
    run = onnx_session(tmp_path / "a.onnx")
    torch.testing.assert_close(run(*inputs), expected, rtol=1e-5, atol=1e-4)
    assert [o.name for o in run.session.get_outputs()] == ["predictions"]


def test_a_program_of_several_labels_gives_their_logits(multilabel, tmp_path):
    data, ticket = multilabel
    ticket.export(tmp_path / "a.pt2")
    found = torch.export.load(tmp_path / "a.pt2").module()(data.x, ticket.edge_index(data))
    same(found, ticket.logits(data))
    assert torch.equal((found > 0).long(), ticket.predict(data))


def test_other_targets_compile_and_transfer(regression, multilabel):
    for data, ticket in (regression, multilabel):
        same(ticket.compile(data)(), ticket.logits(data))
        later = data.clone()
        later.edge_index = torch.cat([data.edge_index, torch.tensor([[0], [39]])], dim=1)
        there = ticket.transfer(later)
        assert there.info.task == ticket.info.task
        assert there.predict(later).shape == data.y.shape
        assert set(there.evaluate(later)) == {"train", "val", "test"}


def test_the_table_has_directions_and_weights(weighted, tmp_path):
    data, ticket = weighted
    ticket.export(tmp_path / "a.parquet", data)
    found = read_edges(tmp_path / "a.parquet")
    stays = kept_pairs(ticket, data)
    columns = zip(data.edge_index.t().tolist(), data.edge_weight.tolist(), strict=True)
    expected = {tuple(ends): weight for ends, weight in columns if frozenset(ends) in stays}
    if not ticket.info.graph["directed"]:
        expected = {ends: weight for ends, weight in expected.items() if ends[0] < ends[1]}
    ends = zip(found["source"], found["target"], strict=True)
    assert dict(zip(ends, found["weight"], strict=True)) == expected


def changed(data):
    """An edge less, and a node more that one leads to."""
    later = data.clone()
    gone = sorted(data.edge_index[:, 0].tolist())
    stays = torch.tensor([sorted(ends) != gone for ends in data.edge_index.t().tolist()])
    new = torch.tensor([[40, 3], [3, 40]])
    later.edge_index = torch.cat([data.edge_index[:, stays], new], dim=1)
    later.edge_weight = torch.cat([data.edge_weight[stays], torch.full((2,), 1.25)])
    for key in ("x", "y", "train_mask", "val_mask", "test_mask"):
        later[key] = torch.cat([data[key], data[key][:1]])
    return later


def test_a_changed_graph_is_scored_by_its_weights(weighted):
    data, ticket = weighted
    later = changed(data)
    there = ticket.transfer(later)
    stays = teddy.prune_edges(later.edge_index, 0.5, num_nodes=41, edge_weight=later.edge_weight)
    expected = {frozenset(ends) for ends in later.edge_index[:, stays].t().tolist()}
    assert kept_pairs(there, later) == expected
    same(there.logits(later), by_hand(there, "gcn", later, expected))
    assert there.info.graph["directed"] == ticket.info.graph["directed"]
    with pytest.raises(teddy.InputError, match="the ticket belongs to"):
        there.logits(data)


def test_known_edges_stay_kept_or_removed(weighted):
    data, ticket = weighted
    later = changed(data)
    there = ticket.transfer(later, "training", original=data)
    gone = frozenset(data.edge_index[:, 0].tolist())
    expected = (kept_pairs(ticket, data) - {gone}) | {frozenset((3, 40))}
    assert kept_pairs(there, later) == expected
    same(there.logits(later), by_hand(there, "gcn", later, expected))


def test_the_direction_of_a_changed_graph_counts():
    data = own_graph(True, "edge_weight")
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, directed=True, **TINY)
    turned = data.clone()
    turned.edge_index = data.edge_index.flip(0)
    with pytest.raises(teddy.InputError, match="has it changed since"):
        ticket.predict(turned)
    there = ticket.transfer(turned, "training", original=data)
    assert kept_pairs(there, turned) == kept_pairs(ticket, data)
    same(there.logits(turned), by_hand(there, "gcn", turned, kept_pairs(ticket, data)))


def test_a_changed_graph_without_weights_is_refused(weighted):
    data, ticket = weighted
    later = changed(data)
    del later.edge_weight
    for rule, original in (("scored", None), ("training", data), ("none", None)):
        with pytest.raises(teddy.InputError, match="data have no edge_weight, expected it"):
            ticket.transfer(later, rule, original)
    with pytest.raises(teddy.InputError, match="data have no edge_weight, expected it"):
        ticket.compile(Data(**{k: v for k, v in data.to_dict().items() if k != "edge_weight"}))


@pytest.mark.parametrize("task", ["multilabel", "regression"])
def test_whole_neurons_are_removed_for_any_task(task):
    data = own_graph(True, "edge_weight")
    data.y = (data.x[:, :3] > 0.3).long() if task == "multilabel" else data.x[:, 0]
    ticket = teddy.find_ticket(
        data,
        "gcn",
        0.5,
        0.5,
        epochs=2,
        hidden_channels=16,
        structure="neurons",
        task=task,
        directed=True,
    )
    dead = (ticket.model.weights[0] == 0).all(dim=0)
    assert dead.sum() >= 8
    assert (ticket.model.weights[1][dead] == 0).all()
    compiled = ticket.compile(data)
    assert compiled.num_weights < ticket.info.weights.total
    same(compiled(), ticket.logits(data))


def test_your_own_module_has_no_removable_units():
    with pytest.raises(teddy.InputError, match="a Weighted has no removable hidden units"):
        teddy.find_ticket(own_graph(kind="edge_weight"), Weighted, structure="neurons", epochs=2)
