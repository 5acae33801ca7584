"""Steps over batches of nodes."""

from __future__ import annotations

import pytest
import torch

import teddy
from conftest import small_graph
from teddy.methods import METHODS, SparsityLevel, make_problem
from teddy.models import GCN
from teddy.models.nagphormer import NAGphormer
from teddy.settings import Settings
from teddy.tasks import CrossEntropy
from teddy.training import TrainConfig, seeded, train
from teddy.training.steps import NodeBatches

TINY = {"hidden_channels": 8, "heads": 2, "hops": 2, "positions": 0}
SHORT = Settings.from_dict({"epochs": 1, **TINY})


def model_of(data, batch, dropout=0.0):
    return NAGphormer(data.x.size(1), 3, batch=batch, dropout=dropout, **TINY)


@pytest.mark.parametrize("size", [1, 7, 40, 100])
def test_an_epoch_takes_every_node_once(size):
    batches = NodeBatches(model_of(small_graph(), size), None, 40)
    with seeded(0):
        first, second = list(batches), list(batches)
    assert max(part.numel() for part in first) <= size
    assert sorted(torch.cat(first).tolist()) == list(range(40))
    if size < 40:
        assert torch.cat(first).tolist() != torch.cat(second).tolist()


def test_without_batches_a_step_takes_the_nodes_that_the_loss_is_of():
    data = small_graph()
    nodes = data.train_mask.nonzero().flatten()
    teacher = torch.zeros(40, 3)
    for model, distill, where, expected in (
        (model_of(data, 0), 1.0, "all", None),
        (model_of(data, 0), 1.0, "training", nodes),
        (model_of(data, 0), 0.0, "all", nodes),
        (GCN(data.x.size(1), 3), 0.0, "all", None),
    ):
        config = TrainConfig(distill=distill, distill_nodes=where)
        objective = CrossEntropy(data.y, nodes, teacher, config)
        (step,) = NodeBatches(model, objective.nodes, 40)
        assert (step is None) if expected is None else torch.equal(step, expected)
        logits = torch.randn(40, 3)
        if step is not None:
            assert objective.for_nodes(step)(logits[step]) == pytest.approx(
                float(objective(logits))
            )


@pytest.mark.parametrize("with_teacher", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_one_batch_of_all_nodes_is_the_whole_training(sparse, with_teacher):
    data = small_graph()
    data.x = data.x.to_sparse_csr() if sparse else data.x + 0.01
    teacher = torch.randn(40, 3, generator=torch.Generator().manual_seed(1))
    results = []
    for batch in (0, 40):
        with seeded(0):
            model = model_of(data, batch)
            results.append(
                train(model, data, TrainConfig(epochs=5, lr=0.01),
                      teacher=teacher if with_teacher else None, weight_sparsity=0.3)
            )  # fmt: skip
    losses = [[epoch.loss for epoch in result.history] for result in results]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    torch.testing.assert_close(results[0].logits, results[1].logits, rtol=1e-3, atol=1e-4)


def test_losses_of_batches_add_up():
    data = small_graph()
    generator = torch.Generator().manual_seed(1)
    logits, teacher = (torch.randn(40, 3, generator=generator) for _ in range(2))
    train_nodes = data.train_mask.nonzero().flatten()
    config = TrainConfig(distill=2.0)
    halves = torch.arange(40).split(20)
    for chosen, weight in ((None, None), (teacher, 20)):
        whole = CrossEntropy(data.y, train_nodes, chosen, config)
        total = 0.0
        for nodes in halves:
            own = whole.for_nodes(nodes)
            count = int(data.train_mask[nodes].sum())
            plain = CrossEntropy(data.y[nodes], own.train, None, config)(logits[nodes])
            total += float(plain) * count / train_nodes.numel()
            if weight:
                total += float(own(logits[nodes]) - plain) * weight / 40
        assert total == pytest.approx(float(whole(logits)), rel=1e-5)


def test_a_ticket_trained_in_batches(tmp_path):
    data = small_graph(nodes=90)
    ticket = teddy.find_ticket(
        data, "nagphormer:batch=16:hops=2:heads=2", 0.3, 0.5, epochs=30, hidden_channels=8, lr=0.01
    )
    assert ticket.info.weights.kept == -(-ticket.info.weights.total // 2)
    assert ticket.info.model["options"]["batch"] == 16
    assert ticket.info.ticket.test > 60
    ticket.save(tmp_path / "t.ticket")
    assert torch.equal(teddy.Ticket.load(tmp_path / "t.ticket").logits(data), ticket.logits(data))


def test_masks_are_not_learned_in_batches():
    problem = make_problem(small_graph(), "nagphormer:batch=8", SHORT)
    with pytest.raises(teddy.InputError, match="expected batch=0"):
        next(METHODS["teddy"].tickets(problem, [SparsityLevel(0.1, 0.1)], weights="masks"))
    whole = make_problem(small_graph(), "nagphormer", SHORT)
    next(METHODS["teddy"].tickets(whole, [SparsityLevel(0.1, 0.1)], weights="masks"))
    other = make_problem(small_graph(), "nagphormer", SHORT)
    with pytest.raises(teddy.InputError, match="does not support learning of edge masks"):
        next(METHODS["ugs"].tickets(other, [SparsityLevel(0.1, 0.1)]))
