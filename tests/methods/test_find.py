from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch_geometric.nn import GAT, GCN, GIN, GCNConv, GraphSAGE, SimpleConv

import teddy
from conftest import small_graph
from teddy.graph import Edges
from teddy.methods import make_problem
from teddy.methods.signals import signals_of
from teddy.models import MODELS, build_model
from teddy.prune.choose import needed_signals
from teddy.settings import Settings
from teddy.sweep import find_over_seeds
from teddy.training import TrainConfig, seeded, train
from teddy.weights import count_nonzero


class HandWritten(nn.Module):
    """One convolution and one linear layer, with biases."""

    def __init__(self, features=12, classes=3):
        super().__init__()
        self.conv, self.linear = GCNConv(features, 16), nn.Linear(16, classes)

    def forward(self, x, edge_index):
        return self.linear(self.conv(x, edge_index).relu())


OWN = {
    "GCN": lambda: GCN(12, 16, num_layers=2, out_channels=3, dropout=0.5),
    "GAT": lambda: GAT(12, 16, num_layers=2, out_channels=3, heads=4),
    "GraphSAGE": lambda: GraphSAGE(12, 16, num_layers=2, out_channels=3),
    "GIN": lambda: GIN(12, 16, num_layers=2, out_channels=3),
    "lazy": lambda: GCN(-1, 16, num_layers=2, out_channels=3),
    "hand-written": HandWritten,
}


@pytest.mark.parametrize("name", OWN)
def test_any_module_works(name):
    data = small_graph()
    torch.manual_seed(0)
    module = OWN[name]()
    ticket = teddy.find_ticket(data, module, 0.5, 0.6, epochs=30)
    weights = list(ticket.model.parameters())
    assert ticket.info.weights.total == sum(p.numel() for p in weights)
    assert ticket.info.weights.kept == count_nonzero(weights)
    matrices = [p for p in weights if p.dim() >= 2]
    total = sum(p.numel() for p in matrices)
    assert count_nonzero(matrices) == total - math.floor(0.6 * total)
    assert ticket.info.edges.kept == ticket.info.edges.total - math.ceil(
        0.5 * ticket.info.edges.total
    )
    assert ticket.predict(data).shape == (40,)
    assert ticket.info.macs.ticket[0] < ticket.info.macs.dense[0]
    assert ticket.info.dense.test > 50


def test_your_own_module_on_a_sparse_data_set(citeseer):
    ticket = teddy.find_ticket(citeseer, HandWritten(3703, 6), 0.64, 0.64, epochs=100)
    assert ticket.info.ticket.test > 60


def test_a_given_module_is_the_starting_point_and_stays_as_it_was():
    data, module = small_graph(), HandWritten()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    ticket = teddy.find_ticket(data, module, epochs=3)
    for name, value in module.state_dict().items():
        assert torch.equal(value, before[name])
    same = teddy.find_ticket(data, module, epochs=3)
    assert torch.equal(same.logits(data), ticket.logits(data))


def test_a_function_makes_a_module_for_each_seed():
    data = small_graph()
    first, again, other = (
        teddy.find_ticket(data, HandWritten, seed=seed, epochs=3).logits(data) for seed in (0, 0, 1)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("name", MODELS)
def test_a_ticket_is_algorithm_1_step_by_step(name):
    data, config = small_graph(), TrainConfig(epochs=8, distill=3.0)
    ticket = teddy.find_ticket(
        data, name, 0.4, 0.7, seed=3, epochs=8, distill=3.0, hidden_channels=8
    )

    with seeded(3):
        dense = train(build_model(name, 12, 3, hidden_channels=8), data, config)
    sparse_data = teddy.SparsifyEdges(0.4)(data)
    with seeded(3):
        model = build_model(name, 12, 3, hidden_channels=8)
        sparse = train(model, sparse_data, config, teacher=dense.logits, weight_sparsity=0.7)

    assert ticket.info.dense.test == dense.test
    assert ticket.info.ticket.test == sparse.test
    assert torch.equal(ticket.logits(data), sparse.logits)
    graph, _ = Edges.from_columns(data.edge_index, 40)
    kept, _ = Edges.from_columns(sparse_data.edge_index, 40)
    assert torch.equal(graph.pairs[:, ticket.keep], kept.pairs)


def test_settings_reach_the_training():
    data = small_graph()
    settings = {"epochs": 6, "distill": 2.0, "lr": 0.05, "weight_decay": 0.01, "temperature": 3.0,
                "divergence": "sparse-dense", "patience": 4}  # fmt: skip
    ticket = teddy.find_ticket(data, "gcn", 0.4, 0.7, hidden_channels=8, **settings)
    config = TrainConfig(**settings)
    with seeded(0):
        dense = train(build_model("gcn", 12, 3, hidden_channels=8), data, config)
    with seeded(0):
        model = build_model("gcn", 12, 3, hidden_channels=8)
        sparse_data = teddy.SparsifyEdges(0.4)(data)
        sparse = train(model, sparse_data, config, teacher=dense.logits, weight_sparsity=0.7)
    assert torch.equal(ticket.logits(data), sparse.logits)
    assert ticket.info.dense.last_test == dense.last_test
    assert ticket.info.ticket.last_test == sparse.last_test
    assert ticket.info.ticket.best_epoch == sparse.best.index


@pytest.mark.parametrize("score", teddy.prune.SCORES)
def test_the_score_and_its_seed_choose_the_edges(score):
    data = small_graph()
    ticket = teddy.find_ticket(data, "gcn", 0.5, seed=2, method=score, epochs=1, hidden_channels=4)
    needs = needed_signals(score)
    seen = signals_of(
        make_problem(data, "gcn", Settings.from_dict({"hidden_channels": 4, "epochs": 1}), 2), needs
    )
    for name in needs:
        data[name] = getattr(seen, name)
    expected = teddy.SparsifyEdges(0.5, score, seed=2)(data)
    kept = Edges.from_columns(ticket.apply(data).edge_index, 40)[0]
    assert torch.equal(kept.pairs, Edges.from_columns(expected.edge_index, 40)[0].pairs)


def test_frozen_parameters_stay_and_do_not_count():
    module = HandWritten()
    module.linear.weight.requires_grad_(False)
    frozen = module.linear.weight.clone()
    ticket = teddy.find_ticket(small_graph(), module, 0.5, 0.9, epochs=3)
    assert torch.equal(ticket.model.linear.weight, frozen)
    assert ticket.info.weights.total == 12 * 16 + 16 + 3


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_a_module_of_another_type_works(dtype):
    ticket = teddy.find_ticket(small_graph(), HandWritten().to(dtype), 0.5, 0.5, epochs=3)
    assert ticket.logits(small_graph()).dtype == dtype


@pytest.mark.slow
def test_the_published_result_on_citeseer(citeseer):
    """Table 1 of the paper: 68.10 dense, 71.16 at 64% of edges and of weights."""
    study = find_over_seeds(
        citeseer, seeds=range(5), model="gin", graph_sparsity=0.6415, weight_sparsity=0.6415
    )
    result = study.to_dict()
    assert abs(result["dense"]["test_mean"] - 68.10) <= 1.5
    assert result["ticket"]["test_mean"] >= 69.5
    assert result["edges"] == {"total": 4552, "kept": 4552 - math.ceil(0.6415 * 4552)}
    assert result["weights"]["kept"] == 1902082 - math.floor(0.6415 * 1902082)


def test_sparsity_zero_is_the_dense_problem():
    data = small_graph()
    ticket = teddy.find_ticket(data, "gin", 0.0, 0.0, epochs=5, hidden_channels=8, distill=0.0)
    assert ticket.info.edges.kept == ticket.info.edges.total
    assert ticket.info.ticket == ticket.info.dense


def test_sparsity_one_leaves_nothing():
    data = small_graph()
    ticket = teddy.find_ticket(data, "gcn", 1.0, 1.0, epochs=2, hidden_channels=8)
    assert (ticket.info.edges.kept, ticket.info.weights.kept) == (0, 0)
    assert (ticket.logits(data) == 0).all()


def test_the_data_of_the_caller_stay_as_they_were():
    data = small_graph()
    before = data.clone()
    teddy.find_ticket(data, "gcn", epochs=2, hidden_channels=8)
    assert data.keys() == before.keys()
    for key in data.keys():  # noqa: SIM118 - a Data isn't a dict
        assert torch.equal(data[key], before[key])


@pytest.mark.parametrize("name", MODELS)
def test_the_same_seed_gives_the_same_bytes(name, citeseer, tmp_path):
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        for run in ("a", "b"):
            ticket = teddy.find_ticket(citeseer, name, epochs=5, hidden_channels=32)
            ticket.save(tmp_path / run)
    finally:
        torch.set_num_threads(threads)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_progress_sees_every_epoch_of_both_phases():
    seen = []
    teddy.find_ticket(
        small_graph(), "gcn", epochs=3, hidden_channels=8,
        progress=lambda phase, epoch, done: seen.append((phase, epoch.index, round(6 * done))),
    )  # fmt: skip
    assert seen == [("dense", i, i + 1) for i in range(3)] + [
        ("sparse", i, i + 4) for i in range(3)
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"graph_sparsity": -0.1}, r"graph_sparsity must be in \[0, 1\], got -0.1"),
        ({"weight_sparsity": 1.5}, r"weight_sparsity must be in \[0, 1\], got 1.5"),
        ({"model": "gnn"}, "unknown model 'gnn'"),
        ({"method": "tedy"}, "unknown method 'tedy'"),
        ({"weights": "tedy"}, "weights is 'tedy', expected one of: projection, masks"),
        ({"device": "tpu"}, "device is 'tpu', expected one that works here"),
        ({"heads": 2}, "gin has no option 'heads'"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 1.5}, "seed is 1.5"),
        ({"lr": "fast"}, "lr is 'fast'"),
        ({"hidden_channels": 2.5}, "hidden_channels is 2.5"),
        ({"model": lambda: None}, "model is a NoneType"),
        ({"model": SimpleConv()}, "has no trainable parameters"),
        ({"model": HandWritten(classes=2)}, "returned 2 logits, expected 3"),
        ({"data": "citeseer"}, "is a str, expected a torch_geometric.data.Data"),
        (
            {"model": HandWritten(), "hidden_channels": 2},
            "option 'hidden_channels' has no effect on your own module",
        ),
    ],
)
def test_bad_arguments_are_refused_before_any_training(arguments, message):
    def fail(phase, epoch):
        raise AssertionError("trained")

    with pytest.raises(teddy.InputError, match=message):
        teddy.find_ticket(**({"data": small_graph(), "progress": fail} | arguments))


def test_bad_data_raise_a_clear_message():
    data = small_graph()
    data.x[3, 4] = torch.nan
    with pytest.raises(teddy.InputError, match=r"x\[3, 4\] is nan"):
        teddy.find_ticket(data)
