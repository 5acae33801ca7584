"""A trained model that teaches in place of the dense training."""

from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data

import teddy
from conftest import small_graph
from graph_sets import rings_and_trees
from hetero_graphs import hetero_module, library
from teddy.graph import Edges
from teddy.models import build_model
from teddy.tracking.tracker import ticket_summary
from teddy.training import TrainConfig, seeded, train

TINY = {"epochs": 6, "hidden_channels": 8}


class Own(nn.Module):
    """A teacher of another architecture and width, with a cache of the first graph it sees."""

    def __init__(self, features=12, outputs=3):
        super().__init__()
        self.first = pyg.GCNConv(features, 20, cached=True)
        self.norm = nn.BatchNorm1d(20)
        self.last = pyg.GCNConv(20, outputs, cached=True)

    def forward(self, x, edge_index):
        h = F.dropout(self.norm(self.first(x, edge_index)).relu(), 0.5, self.training)
        return self.last(h, edge_index)


def taught(data, epochs=30, **options):
    """A teacher trained by hand, as a user would."""
    torch.manual_seed(5)
    model = Own(**options)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(epochs):
        optimizer.zero_grad()
        logits = model(data.x, data.edge_index)
        F.cross_entropy(logits[data.train_mask], data.y[data.train_mask]).backward()
        optimizer.step()
    return model


def state_of(ticket):
    return [ticket.keep, *ticket.model.state_dict().values()]


def same(a, b):
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(a, b, strict=True))


def numbers():
    data = small_graph()
    data.y = 100 + 20 * data.x[:, 0]
    return data


#: What is predicted, with which model, how.
CASES = {
    "nodes": (small_graph, "gcn", {}),
    "inductive": (lambda: small_graph(nodes=60), "gin", {"inductive": True}),
    "batches": (small_graph, "sage", {"loader": "partitions:parts=2:batch=1"}),
    "links": (lambda: teddy.split_links(small_graph(nodes=60)), "gcn", {"task": "link-prediction"}),
    "graphs": (rings_and_trees, "gin", {"task": "graph-classification"}),
    "masks": (small_graph, "gcn", {"method": "ugs", "stride": 20, "distill": 3.0}),
    "gain": (small_graph, "gcn", {"method": "gain"}),
    "agreement": (small_graph, "gcn", {"method": "agreement"}),
    "hetero": (library, None, {"target": "paper"}),
    "regression": (numbers, "sage", {"task": "regression"}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_given_dense_model_as_teacher_gives_the_same_ticket(case):
    make, model, settings = CASES[case]
    data = make()
    options = TINY if model else {"epochs": 6}
    model = model or hetero_module(data)
    without = teddy.find_ticket(data, model, 0.4, 0.6, **options, **settings)
    plain = {k: v for k, v in settings.items() if k not in ("method", "stride", "distill")}
    dense = teddy.find_ticket(data, model, 0.0, 0.0, distill=0, **options, **plain)
    seen = []
    found = teddy.find_ticket(
        data, model, 0.4, 0.6, teacher=dense, progress=lambda *epoch: seen.append(epoch[0]),
        **options, **settings,
    )  # fmt: skip
    assert "dense" not in seen
    assert found.info.dense.val == pytest.approx(without.info.dense.val, 1e-4)
    assert found.info.dense.test == pytest.approx(without.info.dense.test, 1e-4)
    assert found.info.macs == without.info.macs
    if case == "regression":  # once to the scale of y and back
        torch.testing.assert_close(found.logits(data), without.logits(data), atol=1e-3, rtol=1e-3)
    else:
        same(state_of(found), state_of(without))
        assert found.info.links == without.info.links


def test_a_teacher_of_another_architecture_distils_by_logits():
    data = small_graph()
    pairs = Edges.from_columns(data.edge_index, 40)[0].pairs  # as a search takes it: each edge once
    data.edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
    data.edge_index = data.edge_index[
        :, torch.argsort(data.edge_index[0] * 40 + data.edge_index[1])
    ]
    teacher = taught(data)
    with torch.no_grad():
        logits = teacher.eval()(data.x, data.edge_index)
    right = logits.argmax(dim=1) == data.y

    ticket = teddy.find_ticket(data, "gin", 0.4, 0.7, seed=3, teacher=teacher.train(), **TINY)

    sparse = teddy.SparsifyEdges(0.4)(data)
    with seeded(3):
        model = build_model("gin", 12, 3, hidden_channels=8)
        result = train(model, sparse, TrainConfig(6), teacher=logits, weight_sparsity=0.7)
    assert torch.equal(ticket.logits(data), result.logits)
    for name, mask in (("val", data.val_mask), ("test", data.test_mask)):
        expected = 100 * float(right[mask].float().mean())
        assert getattr(ticket.info.dense, name) == pytest.approx(expected)
    assert ticket.info.dense.last_test == ticket.info.dense.test
    assert ticket.info.dense.best_epoch is None
    assert ticket.info.config["teacher"].startswith("Own ")

    as_logits = teddy.find_ticket(data, "gin", 0.4, 0.7, seed=3, teacher=logits, **TINY)
    same(state_of(as_logits), state_of(ticket))
    assert as_logits.info.dense == ticket.info.dense
    assert as_logits.info.macs.dense is None
    assert as_logits.info.config["teacher"].startswith("logits ")


def test_the_teacher_is_not_changed():
    data = small_graph()
    teacher = taught(data).train()
    other = small_graph(seed=7)
    before, cache = copy.deepcopy(teacher.state_dict()), teacher.first._cached_edge_index
    teddy.find_ticket(other, "gcn", 0.4, 0.7, teacher=teacher, **TINY)
    assert teacher.training
    assert all(p.requires_grad for p in teacher.parameters())
    assert teacher.first._cached_edge_index is cache
    same(before.values(), teacher.state_dict().values())


def test_a_teachers_cache_of_another_graph_is_not_used():
    data, other = small_graph(), small_graph(seed=7)
    teacher = taught(other)  # its layers have a cache of that graph
    fresh = Own()
    fresh.load_state_dict(teacher.state_dict())
    a, b = (
        teddy.find_ticket(data, "gcn", 0.4, 0.7, teacher=module, **TINY)
        for module in (teacher, fresh)
    )
    same(state_of(a), state_of(b))


def induced(data, nodes):
    """By hand, without the library: the graph of some nodes."""
    number = nodes.long().cumsum(0) - 1
    inside = nodes[data.edge_index].all(dim=0)
    return data.x[nodes], number[data.edge_index[:, inside]]


def test_inductive_logits_are_of_the_training_nodes_alone():
    data = small_graph(nodes=60)
    teacher = taught(data)
    ticket = teddy.find_ticket(data, "gcn", 0.4, 0.5, inductive=True, teacher=teacher, **TINY)

    fresh = Own()
    fresh.load_state_dict(teacher.state_dict())
    for module in fresh.modules():
        module.cached = False
    fresh.eval()
    with torch.no_grad():
        views = {"val": data.train_mask | data.val_mask, "test": torch.ones(60, dtype=torch.bool)}
        for name, nodes in views.items():
            predicted = fresh(*induced(data, nodes)).argmax(dim=1)
            mask = data[f"{name}_mask"][nodes]
            right = predicted[mask] == data.y[nodes][mask]
            expected = pytest.approx(100 * float(right.float().mean()))
            assert getattr(ticket.info.dense, name) == expected

    # Whatever the other nodes are, the ticket is the same.
    changed = data.clone()
    changed.x[~data.train_mask] += 1.0
    again = teddy.find_ticket(changed, "gcn", 0.4, 0.5, inductive=True, teacher=teacher, epochs=1,
                              hidden_channels=8)  # fmt: skip
    first = teddy.find_ticket(data, "gcn", 0.4, 0.5, inductive=True, teacher=teacher, epochs=1,
                              hidden_channels=8)  # fmt: skip
    same(state_of(again), state_of(first))


def test_a_teacher_with_edge_attributes_distils_into_a_student_with_them():
    class Weighted(Own):
        def forward(self, x, edge_index, edge_weight):
            h = self.norm(self.first(x, edge_index, edge_weight)).relu()
            return self.last(h, edge_index, edge_weight)

    class Attributed(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = pyg.GATConv(12, 3, edge_dim=1)

        def forward(self, x, edge_index, edge_attr):
            return self.conv(x, edge_index, edge_attr)

    data = small_graph()
    data.edge_index = Edges.from_columns(data.edge_index, 40)[0].pairs
    weighted = data.clone()
    weighted.edge_weight = torch.rand(data.num_edges)
    ticket = teddy.find_ticket(weighted, "gcn", 0.4, 0.5, teacher=Weighted(), **TINY)
    assert ticket.info.macs.dense is not None
    data.edge_attr = torch.rand(data.num_edges, 1)
    student = Attributed()
    ticket = teddy.find_ticket(data, student, 0.4, 0.5, teacher=Own(), epochs=2)
    assert ticket.info.macs.dense is None
    with pytest.raises(
        teddy.InputError, match="teacher: it takes edge_attr and the model does not"
    ):
        teddy.find_ticket(data, "gcn", 0.4, 0.5, teacher=student, **TINY)


def test_types_may_differ():
    data = small_graph()
    ticket = teddy.find_ticket(data, "gcn", 0.4, 0.5, teacher=taught(data).double(), **TINY)
    assert ticket.logits(data).dtype == torch.float32
    student = Own().double()
    teddy.find_ticket(data, student, 0.4, 0.5, teacher=torch.zeros(40, 3), epochs=2)


def test_auto_runs_the_teacher_without_edges_but_not_logits():
    data = small_graph()
    settings = {"method": "auto", "scores": "teddy+gain", **TINY}
    ticket = teddy.find_ticket(data, "gcn", 0.4, 0.5, teacher=taught(data), **settings)
    assert set(ticket.info.config["tried"]) == {"teddy", "gain"}
    with pytest.raises(teddy.InputError, match="not logits; expected scores=teddy"):
        teddy.find_ticket(data, "gcn", 0.4, 0.5, teacher=torch.zeros(40, 3), **settings)


def test_a_search_resumes_with_the_same_teacher_only(tmp_path):
    data = small_graph()
    teacher = taught(data)
    settings = {"checkpoint": tmp_path / "run", "method": "gain", **TINY}
    ticket = teddy.find_ticket(data, "gcn", 0.4, 0.5, teacher=teacher, **settings)
    (tmp_path / "run" / "alone.safetensors").unlink()
    again = teddy.find_ticket(data, "gcn", 0.4, 0.5, teacher=teacher, **settings)
    same(state_of(ticket), state_of(again))
    other = copy.deepcopy(teacher)
    other.last.bias.data[0] += 0.5
    for wrong in (None, other, torch.zeros(40, 3)):
        with pytest.raises(teddy.InputError, match="holds a search with teacher Own"):
            teddy.find_ticket(data, "gcn", 0.4, 0.5, teacher=wrong, **settings)


def test_numbers_without_a_best_epoch_are_not_tracked():
    data = small_graph()
    ticket = teddy.find_ticket(data, "gcn", 0.4, 0.5, teacher=taught(data), **TINY)
    found = ticket_summary(ticket)
    assert None not in found.values()
    assert "dense_best_epoch" not in found


class Broken(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, x, edge_index):
        return x[:3] * self.weight


WRONG = {
    "a name": ("gcn", {}, "teacher is a str, expected a trained module, a ticket or logits"),
    "rows": (torch.zeros(39, 3), {}, r"logits are \[39, 3\] of torch.float32, expected \[40, 3\]"),
    "a vector": (torch.zeros(40), {}, r"its logits are \[40\] of"),
    "classes": (torch.zeros(40, 3, dtype=torch.long), {}, "of torch.int64, expected"),
    "few": (torch.zeros(40, 2), {}, "teacher: the model returned 2 logits, expected 3"),
    "many": (torch.zeros(40, 5), {}, "the teacher has 5 outputs and the model 3"),
    "not finite": (torch.full((40, 3), torch.nan), {}, "are not finite"),
    "features": (Own(features=7), {}, "a Own does not run on this graph, expected one for its"),
    "ours": (build_model("gcn", 5, 3), {}, "a GCN does not run on this graph, expected one for"),
    "module rows": (Broken(), {}, r"teacher: the model returned \[3, 12\], expected"),
    "lazy": (pyg.GCN(-1, 4, 2, 3), {}, "with uninitialized parameters, expected a trained"),
    "inductive": (torch.zeros(40, 3), {"inductive": True}, "teacher is a tensor, and validation"),
    "gain": (torch.zeros(40, 3), {"method": "gain"}, "runs the dense model on a graph without"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_invalid_teachers_raise_a_clear_message(case):
    teacher, settings, message = WRONG[case]
    with pytest.raises(teddy.InputError, match=message) as error:
        teddy.find_ticket(small_graph(), "gcn", 0.4, 0.5, teacher=teacher, **TINY, **settings)
    assert "\n" not in str(error.value)


def test_citeseer_with_a_pyg_module_as_teacher(citeseer):
    data = Data(**{k: citeseer[k] for k in ("edge_index", "y", "train_mask", "val_mask",
                                            "test_mask")}, x=citeseer.x.to_dense())  # fmt: skip
    teacher = taught(data, epochs=40, features=3703, outputs=6)
    with torch.no_grad():
        right = teacher.eval()(data.x, data.edge_index).argmax(dim=1) == data.y
    settings = {"epochs": 60, "hidden_channels": 16}
    ticket = teddy.find_ticket(citeseer, "gcn", 0.64, 0.64, teacher=teacher, **settings)
    expected = 100 * float(right[data.test_mask].float().mean())
    assert ticket.info.dense.test == pytest.approx(expected)
    assert ticket.evaluate(citeseer)["test"] == ticket.info.ticket.test
    assert ticket.info.ticket.test > ticket.info.dense.test - 3 > 50
