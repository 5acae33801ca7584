"""Training on batches: any loader, held against full-batch training where both must agree."""

from __future__ import annotations

import copy

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader, RandomNodeLoader
from torch_geometric.utils import subgraph

import teddy
from conftest import LAYERED, small_graph
from teddy.errors import InputError
from teddy.models import build_model
from teddy.training import FunctionLoader, Partitions, TrainConfig, seeded, train
from teddy.training.distributed import World
from teddy.training.minibatch import Statistics
from teddy.weights import count_nonzero
from training.modules import Own

CONFIG = TrainConfig(epochs=8)
TEACHER = torch.randn(40, 3, generator=torch.Generator().manual_seed(3))


def islands(nodes=40, size=10):
    """A graph without edges between its tens of nodes."""
    data = small_graph(nodes=nodes)
    island = torch.arange(nodes) // size
    data.edge_index = data.edge_index[:, island[data.edge_index[0]] == island[data.edge_index[1]]]
    return data


def of_islands(graph):
    nodes, num_nodes = graph.n_id, graph.num_nodes
    return [
        Data(n_id=part, edge_index=subgraph(part, graph.edge_index, None, True, num_nodes)[0])
        for part in nodes.split(10)
    ]


def whole(graph):
    return [graph]


def trained(data, loader, name="gin", config=CONFIG, teacher=TEACHER, **options):
    """Weights and result of a training without dropout."""
    with seeded(0):
        model = build_model(name, 12, 3, hidden_channels=8, dropout=0.0, **options)
        result = train(model, data, config, teacher=teacher, weight_sparsity=0.5, loader=loader)
    return torch.cat([p.detach().flatten() for p in model.parameters()]), result


@pytest.mark.parametrize("name", LAYERED)
def test_one_batch_of_everything_is_full_batch_training(name):
    data = small_graph()
    weights, result = trained(data, FunctionLoader(whole), name)
    expected, full = trained(data, None, name)
    torch.testing.assert_close(weights, expected, rtol=1e-3, atol=1e-5)
    torch.testing.assert_close(result.logits, full.logits, rtol=1e-3, atol=1e-4)
    assert [e.val for e in result.history] == [e.val for e in full.history]


@pytest.mark.parametrize("taught", ["all", "training"])
@pytest.mark.parametrize("divergence", ["dense-sparse", "sparse-dense"])
@pytest.mark.parametrize("teacher", [TEACHER, None])
def test_the_batches_of_a_step_add_up_to_the_loss_of_the_whole(taught, divergence, teacher):
    """Where no edge is lost, four batches together are the whole graph's step."""
    config = TrainConfig(
        epochs=8, distill_nodes=taught, divergence=divergence, temperature=2.0, distill=3.0
    )
    data = islands()
    data.train_mask[10:20] = False  # an island without training nodes
    weights, result = trained(data, FunctionLoader(of_islands, together=4), "gcn", config, teacher)
    expected, full = trained(data, None, "gcn", config, teacher)
    torch.testing.assert_close(weights, expected, rtol=1e-3, atol=1e-5)
    assert result.history[-1].loss == pytest.approx(full.history[-1].loss, rel=1e-4)


def test_a_step_a_batch_takes_one_step_for_each():
    steps = []
    data = islands()
    data.train_mask[10:20] = False
    for teacher, expected in ((TEACHER, 4), (None, 3)):  # nothing to learn from the second
        with seeded(0):
            train(
                build_model("gcn", 12, 3, hidden_channels=4),
                data,
                TrainConfig(epochs=1),
                teacher=teacher,
                after_step=lambda: steps.append(1),
                loader=FunctionLoader(of_islands),
            )
        assert len(steps) == expected
        steps.clear()


def test_batches_of_seeds_learn_from_their_first_nodes():
    """As NeighborLoader's: nodes after the first batch_size are there for their features."""
    data = small_graph()

    def seeds_first(graph):
        batch = copy.copy(graph)
        order = torch.arange(39, -1, -1)
        batch.n_id = order
        batch.edge_index = 39 - graph.edge_index
        del batch.x
        batch.batch_size = 25
        return [batch]

    expected_data = copy.copy(data)
    expected_data.train_mask = data.train_mask & (torch.arange(40) >= 15)
    config = TrainConfig(epochs=8, distill_nodes="training")
    weights, _ = trained(data, FunctionLoader(seeds_first), config=config)
    expected, _ = trained(expected_data, None, config=config)
    torch.testing.assert_close(weights, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("model", ["gcn", "gat", "unimp", "own"])
@pytest.mark.parametrize("loader", ["partitions:parts=6:batch=2", RandomNodeLoader])
def test_the_same_search_gives_the_same_ticket(model, loader, sparse, tmp_path):
    data = small_graph()
    if sparse:
        data.x = data.x.to_sparse_csr()
    if loader is RandomNodeLoader:
        loader = lambda graph: RandomNodeLoader(graph, num_parts=3, shuffle=True)  # noqa: E731
    options = {} if model == "own" else {"hidden_channels": 8}
    paths = []
    for turn in range(2):
        torch.manual_seed(turn)  # of no account
        ticket = teddy.find_ticket(
            data, Own if model == "own" else model, 0.3, 0.3, epochs=4, loader=loader, **options
        )
        paths.append(tmp_path / str(turn))
        ticket.save(paths[-1])
    assert paths[0].read_bytes() == paths[1].read_bytes()
    pruned = [p for p in ticket.model.parameters() if model != "own" or p.dim() >= 2]
    assert count_nonzero(pruned) == -(-sum(p.numel() for p in pruned) * 7 // 10)
    assert ticket.evaluate(data)["test"] == pytest.approx(ticket.info.ticket.test)


def test_an_inductive_training_sees_batches_of_its_own_graph():
    data = small_graph()
    seen = []

    def look(graph):
        seen.append(graph.num_nodes)
        return [graph]

    ticket = teddy.find_ticket(
        data, "sage", 0.3, 0.3, epochs=3, hidden_channels=8, inductive=True, loader=look
    )
    assert seen == [int(data.train_mask.sum())] * 2
    assert ticket.evaluate(data)["test"] == pytest.approx(ticket.info.ticket.test)


def test_features_changed_by_a_loader_are_learned_from():
    data = small_graph()

    def blank(graph):
        batch = copy.copy(graph)
        batch.x = torch.zeros_like(graph.x)
        return [batch]

    _, result = trained(data, FunctionLoader(blank), teacher=None)
    assert {round(epoch.loss, 4) for epoch in result.history} == {
        round(torch.tensor(3.0).log().item(), 4)
    }


def test_the_epochs_that_are_validated():
    data = small_graph()
    _, result = trained(data, FunctionLoader(whole), config=TrainConfig(epochs=8, evaluate_every=3))
    assert [epoch.index for epoch in result.history] == [2, 5, 7]
    _, full = trained(data, None, config=TrainConfig(epochs=8, evaluate_every=3))
    assert [epoch.index for epoch in full.history] == [2, 5, 7]
    assert result.best.index in (2, 5, 7)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda g: [1], "the loader returned a int, expected a Data"),
        (lambda g: 5, "the loader is a int, expected an iterable for every"),
        (lambda g: iter([g]), "the loader is a list_iterator, expected an iterable"),
        (lambda g: [Data(edge_index=g.edge_index)], "a batch of the loader has no n_id"),
        (lambda g: [Data(n_id=g.n_id)], "a batch of the loader has no edge_index"),
        (
            lambda g: [Data(n_id=g.n_id + 1, edge_index=g.edge_index)],
            "is invalid, expected a list of nodes from 0",
        ),
        (lambda g: [Data(n_id=g.n_id[:3], edge_index=g.edge_index)], "are not between its nodes"),
        (lambda g: [Data(n_id=g.n_id, edge_index=g.edge_index * 1.0)], "expected integers from 0"),
        (
            lambda g: [Data(n_id=g.n_id * 1.0, edge_index=g.edge_index)],
            "is invalid, expected a list of nodes",
        ),
        (
            lambda g: [Data(n_id=g.n_id, edge_index=g.edge_index.t())],
            r"edge_index of a batch has shape \[\d+, 2\], expected \[2, E\]",
        ),
        (
            lambda g: [Data(n_id=g.n_id, edge_index=g.edge_index, x=g.x[:3])],
            "x of a batch has 3 rows, expected 40",
        ),
        (lambda g: [], "epoch 0 had 0 batches without training rows"),
    ],
)
def test_a_loader_of_other_objects_raises_a_clear_message(make, message):
    with pytest.raises(InputError, match=message):
        teddy.find_ticket(small_graph(), "gcn", epochs=1, hidden_channels=4, loader=make)


def test_a_loader_without_its_package_raises_a_clear_message():
    try:
        next(iter(NeighborLoader(small_graph(), [2], batch_size=4)))
        pytest.skip("neighbours can be sampled here")
    except ImportError:
        pass
    with pytest.raises(InputError, match=r"the loader failed, .*pyg-lib"):
        teddy.find_ticket(
            small_graph(), "gcn", epochs=1, hidden_channels=4,
            loader=lambda graph: NeighborLoader(graph, [2], batch_size=4),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "ugs"}, "does not support mini-batches"),
        ({"model": "nagphormer"}, "model nagphormer does not support mini-batches"),
        ({"model": "specformer"}, "model specformer does not support mini-batches"),
        ({"model": "unimp:label_rate=0.5"}, "does not support mini-batches"),
        (
            {"loader": 7},
            "loader is 7, expected partitions:parts=32:batch=4, neighbourhoods:batch=512, ",
        ),
    ],
)
def test_methods_that_need_the_whole_graph_refuse_loaders(arguments, message):
    settings = {"model": "gcn", "loader": Partitions(4, 2), **arguments}
    with pytest.raises(InputError, match=message):
        teddy.find_ticket(small_graph(), epochs=1, **settings)


def test_counts_among_the_statistics_are_counted_once_a_step():
    """Numbers beyond a double's precision are not rounded, and other state is unchanged."""
    module = torch.nn.BatchNorm1d(1)
    module.register_buffer("large", torch.tensor([2**62 + 1]))
    module.register_buffer("flags", torch.tensor([True]))
    module.register_buffer("phase", torch.tensor([1j]))
    statistics = Statistics(module)
    for batch in (torch.tensor([[1.0], [3.0]]), torch.tensor([[5.0], [7.0]])):
        statistics.begin()
        module(batch)
        statistics.end()
    statistics.average(World())
    assert module.num_batches_tracked == 1
    assert module.large == 2**62 + 1
    assert module.flags
    assert module.phase == 1j
