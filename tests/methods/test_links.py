"""Tickets that predict links, end to end; and that nothing held out reaches them."""

from __future__ import annotations

import copy
import math

import pytest
import torch
from torch_geometric.data import HeteroData

import teddy
from conftest import small_graph
from teddy.data.checks import MASKS
from teddy.errors import InputError
from teddy.methods import METHODS, SparsityLevel, make_problem
from teddy.settings import Settings
from teddy.ticket import Count
from training.modules import Own

SETTINGS = {"graph_sparsity": 0.3, "weight_sparsity": 0.4, "epochs": 5, "task": "link-prediction"}
MODELS = ("gcn", "gat", "gin", "sage", "unimp", "nagphormer")


def small_links(seed: int = 0):
    return teddy.split_links(small_graph(seed, nodes=60), 0.2, 0.2, seed)


def perturbed(links, masks, seed=1):
    """Other pairs to be told apart, more of them, in these masks, and in these alone."""
    generator = torch.Generator().manual_seed(seed)
    changes = torch.stack([links[mask] for mask in masks]).any(dim=0)
    stays = {key: links[key][~changes] for key in ("edge_label", *MASKS)}
    pairs = links.edge_label_index[:, ~changes]
    taken = {tuple(sorted(pair)) for pair in links.edge_label_index.t().tolist()}
    taken |= {tuple(sorted(pair)) for pair in links.edge_index.t().tolist()}
    new = []
    while len(new) < int(changes.sum()) + 6:
        pair = tuple(sorted(torch.randint(60, (2,), generator=generator).tolist()))
        if pair[0] != pair[1] and pair not in taken:
            taken.add(pair)
            new.append(pair)
    place = torch.arange(len(new))
    changed = copy.copy(links)
    # First, so that training links have other numbers, too.
    changed.edge_label_index = torch.cat([torch.tensor(new).t(), pairs], dim=1)
    changed.edge_label = torch.cat([(place // len(masks) % 2).float(), stays["edge_label"]])
    for mask in MASKS:
        own = place % len(masks) == masks.index(mask) if mask in masks else place < 0
        changed[mask] = torch.cat([own, stays[mask]])
    return changed


def trained(links, model="gcn", method="teddy", epochs=6):
    """The loss of every epoch, logits of the training links by the dense model, the ticket."""
    seen, task = [], teddy.LinkPrediction(dimensions=6)
    settings = {"epochs": epochs, "hidden_channels": 8, "task": task}
    problem = make_problem(links, model, Settings.from_dict(settings))
    whole = problem.phases.report

    def watch(phase):
        return (*whole(phase), lambda epoch: seen.append((phase, epoch.index, epoch.loss)))

    problem.phases.report = watch
    (ticket,) = METHODS[method].tickets(problem, [SparsityLevel(0.3, 0.3)])
    return seen, problem.dense().logits[links.train_mask], ticket


def same_ticket(ticket, other):
    assert ticket.keep.equal(other.keep)
    state, others = ticket.model.state_dict(), other.model.state_dict()
    assert all(state[n].numpy().tobytes() == others[n].numpy().tobytes() for n in state)
    assert ticket.info.graph == other.info.graph


@pytest.mark.parametrize("method", ["teddy", "random", "cosine", "ugs"])
@pytest.mark.parametrize("model", ["gcn", "gat", "gin", "sage", "unimp"])
def test_nothing_that_is_held_out_reaches_a_ticket(model, method):
    """With one epoch there is none to choose by validation links: all is the training's."""
    links = small_links()
    other = perturbed(links, ["val_mask", "test_mask"])
    (losses, dense, ticket), (others, other_dense, changed) = (
        trained(data, model, method, epochs=1) for data in (links, other)
    )
    assert losses == others
    assert dense.numpy().tobytes() == other_dense.numpy().tobytes()
    same_ticket(ticket, changed)
    assert ticket.info.ticket.val != changed.info.ticket.val  # the perturbation was one


@pytest.mark.parametrize("model", MODELS)
def test_a_ticket_does_not_depend_on_the_test_links(model):
    links = small_links()
    losses, dense, ticket = trained(links, model)
    others, other_dense, changed = trained(perturbed(links, ["test_mask"]), model)
    assert losses == others
    assert len(losses) == 12
    assert dense.numpy().tobytes() == other_dense.numpy().tobytes()
    same_ticket(ticket, changed)
    assert ticket.info.ticket.val == changed.info.ticket.val
    assert ticket.info.ticket.test != changed.info.ticket.test


def test_budgets_are_of_the_training_edges_and_pruned_ones_stay_labels(citeseer):
    links = teddy.split_links(citeseer)
    ticket = teddy.find_ticket(links, "gcn", hidden_channels=8, dimensions=8, **SETTINGS)
    assert ticket.info.edges == Count(3869, 3869 - math.ceil(0.3 * 3869))
    assert ticket.info.weights == Count(3703 * 8 + 64, math.ceil(0.6 * (3703 * 8 + 64)))
    expected = teddy.prune_edges(links.edge_index, 0.3, num_nodes=citeseer.num_nodes)
    kept = ticket.apply(links)
    assert kept.edge_index.equal(links.edge_index[:, expected])
    assert kept.edge_label_index.equal(links.edge_label_index)
    assert int(kept.train_mask.sum()) == 2 * 3869
    # Really removed: logits are those of the network on the kept edges alone.
    outputs = ticket.model(links.x, kept.edge_index)
    source, target = links.edge_label_index
    torch.testing.assert_close(
        ticket.logits(links)[:, 0], (outputs[source] * outputs[target]).sum(1)
    )
    info = ticket.info
    assert (info.split, info.split_seed, info.task["metric"]) == ("85/5/10", 0, "AUC")
    assert info.config["distill_nodes"] == "training"
    assert ticket.verify(links)["test"] == info.ticket.test
    # Training must learn: training links are ranked better than at random.
    assert ticket.evaluate(links)["train"] > 60


def test_a_graph_without_links_is_split(citeseer):
    settings = {**SETTINGS, "epochs": 2, "hidden_channels": 8, "dimensions": 4}
    one = teddy.find_ticket(citeseer, "gcn", split_seed=3, **settings)
    other = teddy.find_ticket(teddy.split_links(citeseer, seed=3), "gcn", **settings)
    same_ticket(one, other)
    assert one.info == other.info
    assert one.info.split_seed == 3
    assert one.evaluate(citeseer) == other.evaluate(teddy.split_links(citeseer, seed=3))


def test_hits_are_recorded_of_both():
    links = small_links()
    ticket = teddy.find_ticket(links, "gcn", hidden_channels=8, hits_at=3, **SETTINGS)
    from teddy.tasks import hits_at

    logits = ticket.logits(links)
    assert ticket.info.links["hits_at"] == 3
    for name, part in (("val", links.val_mask), ("test", links.test_mask)):
        expected = hits_at(3, logits[part], links.edge_label[part])
        assert ticket.info.links["hits"]["ticket"][name] == expected
    assert set(ticket.info.links["hits"]["dense"]) == {"val", "test"}


def test_your_own_modules_learn_links_under_masks_too(tmp_path):
    links = small_links()
    for method in ("teddy", "random"):
        ticket = teddy.find_ticket(links, Own, method=method, **SETTINGS)
        assert ticket.logits(links).shape == (links.edge_label.numel(), 1)
    ticket.save(tmp_path / "own.ticket")
    again = teddy.Ticket.load(tmp_path / "own.ticket", Own)
    assert again.logits(links).equal(ticket.logits(links))
    masks = teddy.find_ticket(links, "gcn", hidden_channels=8, method="ugs", **SETTINGS)
    assert masks.info.edges.kept == masks.info.edges.total - math.ceil(0.3 * masks.info.edges.total)
    neurons = teddy.find_ticket(links, "gcn", hidden_channels=64, structure="neurons", **SETTINGS)
    first, last = (weight != 0 for weight in neurons.model.weights)
    assert first.any(dim=0).equal(last.any(dim=1))  # whole hidden units are gone
    assert 0 < int(first.any(dim=0).sum()) < 64


def test_weights_of_edges_are_kept():
    data = small_graph(nodes=60)
    data.edge_weight = (data.edge_index.sum(dim=0) % 5 + 1).float()
    links = teddy.split_links(data, 0.2, 0.2)
    ticket = teddy.find_ticket(links, "gcn", hidden_channels=8, weighted=True, **SETTINGS)
    assert ticket.info.graph["edge_inputs"] == ["edge_weight"]
    heavier = copy.copy(links)
    heavier.edge_weight = links.edge_weight * (links.edge_index.sum(dim=0) % 3 + 1)
    assert not ticket.logits(heavier).equal(ticket.logits(links))


def test_a_search_resumes_only_with_the_same_links(tmp_path):
    links, folder = small_links(), tmp_path / "search"
    one = teddy.find_ticket(links, "gcn", hidden_channels=8, checkpoint=folder, **SETTINGS)
    same_ticket(
        one, teddy.find_ticket(links, "gcn", hidden_channels=8, checkpoint=folder, **SETTINGS)
    )
    other = perturbed(links, ["test_mask"])
    with pytest.raises(InputError, match=r"holds a search with (data|links)"):
        teddy.find_ticket(other, "gcn", hidden_channels=8, checkpoint=folder, **SETTINGS)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"inductive": True}, "task link-prediction does not support inductive training"),
        ({"loader": "graphs"}, "needs a set of graphs, expected the task graph-class"),
        ({"directed": True}, "task link-prediction does not support directed messages"),
        ({"target": "paper"}, "does not support a HeteroData"),
        ({"class_weight": "balanced"}, "task link-prediction does not support class weights"),
        ({"method": "wd-glt"}, "task link-prediction does not support method wd-glt"),
        ({"method": "gain"}, "does not support score gain"),
        ({"model": "unimp:label_rate=0.5"}, "does not support label input"),
        ({"model": "nagphormer:batch=8"}, "links and graphs need all nodes in a step"),
        ({"dimensions": 0}, "dimensions is 0, expected a whole number from 1"),
        ({"hits_at": 0.5}, "hits_at is 0.5, expected a whole number from 1"),
        ({"split_seed": 1}, "split_seed is 1 and data have links, expected one of them"),
        ({"model": Own, "dimensions": 4}, "dimensions has no effect on your own module"),
        ({"task": "links"}, "unknown task 'links', expected one of: classification"),
    ],
)
def test_settings_that_links_lack_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        teddy.find_ticket(small_links(), **{**SETTINGS, **settings})


def test_other_data_are_refused():
    for data, message in ((HeteroData(), "does not support a HeteroData"), ("a", "is a str")):
        with pytest.raises(InputError, match=message):
            teddy.find_ticket(data, **SETTINGS)
    with pytest.raises(InputError, match="data: no y, expected an integer label for each node"):
        teddy.find_ticket(small_links())


def test_outputs_of_links_are_not_drawn_to_zero():
    # With a penalty GCN's outputs vanish, while AUC, which takes an order only, looks fine.
    links = teddy.split_links(teddy.load_dataset("citeseer"))
    settings = {**SETTINGS, "hidden_channels": 32, "epochs": 60}
    ticket = teddy.find_ticket(links, "gcn", **settings)
    assert ticket.info.config["weight_decay"] == 0
    chances = ticket.logits(links)[links.test_mask].sigmoid()
    assert chances.max() > 0.9
    assert chances.std() > 0.05
    drawn = teddy.find_ticket(links, "gcn", **settings, weight_decay=5e-3)
    assert drawn.info.config["weight_decay"] == 5e-3
    assert (drawn.logits(links)[links.test_mask].sigmoid() - 0.5).abs().max() < 0.01


def test_gin_has_a_separate_learning_rate_for_links():
    def rate(model, **settings):
        ticket = teddy.find_ticket(
            small_links(), model, epochs=2, task="link-prediction", **settings
        )
        return ticket.info.config["lr"]

    assert (
        rate("gin:hidden_channels=4"),
        rate("gcn:hidden_channels=4"),
        rate("gin:hidden_channels=4", lr=0.1),
    ) == (
        0.003,
        0.01,
        0.1,
    )
