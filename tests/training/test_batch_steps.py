"""Steps of mini-batches of every kind of problem, compared with full batches and sums by hand."""

from __future__ import annotations

from functools import partial

import pytest
import torch
import torch.nn.functional as F

from teddy.training import FunctionLoader, as_loader
from teddy.training.seeding import derived_seed, seeded_items
from training.batch_kinds import (
    KINDS,
    PARTS,
    divergence,
    fresh,
    joined,
    links,
    same_gradients,
    sampled,
    steps,
    tens,
    without_venues,
)


@pytest.mark.parametrize("teach", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_one_batch_of_everything_is_full_batch_training(kind, teach):
    expected, full, _, _ = steps(kind, None, teach)
    for loader in KINDS[kind][3]:
        if isinstance(loader, str):
            loader = ":".join([*loader.split(":"), "together=1"])
        gradients, result, _, _ = steps(kind, loader, teach)
        assert len(gradients) == len(expected) == 3
        for found, other in zip(gradients, expected, strict=True):
            same_gradients(found, other)
        losses = [[epoch.loss for epoch in r.history] for r in (result, full)]
        assert losses[0] == pytest.approx(losses[1], rel=1e-4)
        torch.testing.assert_close(result.logits, full.logits, rtol=1e-3, atol=1e-4)
        assert [e.val for e in result.history] == pytest.approx([e.val for e in full.history])


@pytest.mark.parametrize("loader", ["graphs:batch=5:together=5", partial(joined, size=5)])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.startswith("graphs")])
def test_all_batches_of_graphs_together_are_a_full_batch(kind, loader):
    """No edge joins two graphs, so that nothing is lost."""
    if not isinstance(loader, str):
        loader = FunctionLoader(loader, together=5)
    expected, full, _, _ = steps(kind, None)
    gradients, result, _, _ = steps(kind, loader)
    for found, other in zip(gradients, expected, strict=True):
        same_gradients(found, other)
    assert result.history[-1].loss == pytest.approx(full.history[-1].loss, rel=1e-4)


@pytest.mark.parametrize("kind", ["weights gcn", "directed sage", "directed own", "attributes"])
def test_a_step_of_nodes_is_the_sum_over_its_batches(kind):
    data = KINDS[kind][0]()
    (found,), result, model, graph = steps(kind, FunctionLoader(tens, together=4), epochs=1)
    model = fresh(kind)
    teacher = torch.randn(40, 3, generator=torch.Generator().manual_seed(2))
    trains, loss = graph.train_mask, 0.0
    names = [n for n in ("edge_weight", "edge_attr", "time", "pos", "u") if n in data]
    for nodes in torch.arange(40).split(10):
        inside = ((graph.edge_index // 10) == nodes[0] // 10).all(dim=0)
        values = {
            n: graph[n] if n == "u" else graph[n][nodes].float() if n == "pos" else graph[n][inside]
            for n in names
        }
        z = model(graph.x[nodes], graph.edge_index[:, inside] - nodes[0], **values)
        own = trains[nodes]
        loss = loss + F.cross_entropy(z[own], graph.y[nodes][own], reduction="sum") / trains.sum()
        loss = loss + 10 / 40 * divergence(z, teacher[nodes])
    assert result.history[0].loss == pytest.approx(loss.item(), rel=1e-5)
    same_gradients(found, torch.autograd.grad(loss, list(model.parameters())))


def test_a_step_of_links_is_over_those_with_both_ends_in_a_batch():
    data, kind = links(), "links gcn"
    (found,), result, _, graph = steps(kind, FunctionLoader(tens, together=6), epochs=1)
    model, pairs = fresh(kind), data.edge_label_index
    teacher = torch.randn(pairs.size(1), 1, generator=torch.Generator().manual_seed(2))
    within = (pairs[0] // 10 == pairs[1] // 10) & graph.train_mask
    assert 0 < int(within.sum()) < int(graph.train_mask.sum())
    loss = 0.0
    for nodes in torch.arange(60).split(10):
        inside = ((graph.edge_index // 10) == nodes[0] // 10).all(dim=0)
        z = model(graph.x[nodes], graph.edge_index[:, inside] - nodes[0])
        own = within & (pairs[0] // 10 == nodes[0] // 10)
        source, target = z[pairs[:, own] - nodes[0]]
        logit, dense = (source * target).sum(dim=1), teacher[own, 0]
        y, q = data.edge_label[own].float(), dense.sigmoid()
        loss = loss + F.binary_cross_entropy_with_logits(logit, y, reduction="sum") / within.sum()
        kl = q * (q.log() - F.logsigmoid(logit)) + (1 - q) * ((1 - q).log() - F.logsigmoid(-logit))
        loss = loss + 10 / within.sum() * kl.sum()
    assert result.history[0].loss == pytest.approx(loss.item(), rel=1e-5)
    same_gradients(found, torch.autograd.grad(loss, list(model.parameters())))


def test_partitions_learn_from_the_training_links_within_a_batch():
    """Four parts, two of them in each batch, as the seed draws them."""
    kind = "links gcn"
    (found,), result, _, graph = steps(kind, PARTS, epochs=1, teach=False)
    batches = seeded_items(as_loader(PARTS).load(graph), derived_seed(0, 0, "batches"))
    seen = [batch.rows for batch in batches]
    model, pairs, y = fresh(kind), links().edge_label_index, links().edge_label.float()
    logits, labels = [], []
    for nodes in seen:
        inside = torch.isin(graph.edge_index, nodes).all(dim=0)
        z = model(graph.x, graph.edge_index[:, inside])  # others have no edges with these
        own = torch.isin(pairs, nodes).all(dim=0) & graph.train_mask
        logits.append((z[pairs[0, own]] * z[pairs[1, own]]).sum(dim=1))
        labels.append(y[own])
    assert sorted(torch.cat(seen).tolist()) == list(range(60))
    loss = F.binary_cross_entropy_with_logits(torch.cat(logits), torch.cat(labels))
    assert result.history[0].loss == pytest.approx(loss.item(), rel=1e-5)
    same_gradients(found, torch.autograd.grad(loss, list(model.parameters())))


def test_a_step_of_a_heterogeneous_graph_learns_from_the_first_targets_of_its_batches():
    kind, data = "hetero weights", without_venues()
    (found,), result, _, graph = steps(
        kind, FunctionLoader(sampled, together=6), epochs=1, data=data
    )
    model, around = fresh(kind), graph.edge_index
    teacher = torch.randn(60, 3, generator=torch.Generator().manual_seed(2))
    trains, loss = graph.train_mask, 0.0
    for number in range(6):
        papers = torch.arange(10 * number, 10 * number + 10)
        inside = {"paper": torch.zeros(60, dtype=torch.bool), "author": torch.arange(30) > 4}
        inside["paper"][papers], inside["paper"][(papers[-1] + 1 + torch.arange(25)) % 60] = 1, 1
        edges, weights = {}, {}
        for name, index in around.edge_index_dict.items():
            both = inside[name[0]][index[0]] & inside[name[2]][index[1]]
            edges[name], weights[name] = index[:, both], around.of_edges["edge_weight"][name][both]
        z = model({"paper": graph.x, **around.x_dict}, edges, weights)[papers]
        own = trains[papers]
        loss = loss + F.cross_entropy(z[own], graph.y[papers][own], reduction="sum") / trains.sum()
        loss = loss + 10 / 60 * divergence(z, teacher[papers])
    assert result.history[0].loss == pytest.approx(loss.item(), rel=1e-5)
    expected = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
    same_gradients(found, expected)
