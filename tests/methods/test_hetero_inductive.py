"""Inductive training on heterogeneous graphs: held-out nodes of the target are unseen."""

from __future__ import annotations

import copy

import pytest
import torch
import torch_geometric.transforms as T
from hypothesis import example, given
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.data import HeteroData

import teddy
from hetero_graphs import CITES, REV, WRITES, hetero_graphs, hetero_module, library
from teddy.graph import relation_edges
from teddy.prune import choose_edges
from teddy.tasks.target_nodes import target_edges

SETTINGS = {
    "graph_sparsity": 0.5, "weight_sparsity": 0.5, "target": "paper", "inductive": True,
}  # fmt: skip


def trained(
    data: HeteroData, epochs: int = 4, **settings
) -> tuple[list[tuple[str, float]], teddy.Ticket]:
    """The losses of all epochs, by phase, and the ticket."""
    losses: list[tuple[str, float]] = []

    def note(phase, epoch, done) -> None:
        losses.append((phase, epoch.loss))

    module = hetero_module(library())
    given = {**SETTINGS, "epochs": epochs, "progress": note, **settings}
    return losses, teddy.find_ticket(data, module, **given)


def changed(data: HeteroData, held_out: Tensor) -> HeteroData:
    """Other features, labels and edges of some papers; all else is the same."""
    data = copy.deepcopy(data)
    generator = torch.Generator().manual_seed(7)
    data["paper"].x[held_out] = torch.rand(int(held_out.sum()), 6, generator=generator)
    data["paper"].y[held_out] = (data["paper"].y[held_out] + 1) % 3
    some = held_out.nonzero().flatten()
    for kind, papers in ((WRITES, 1), (REV, 0), (CITES, 0), (CITES, 1)):
        index = data[kind].edge_index
        within = ~held_out[index[papers]]
        if kind == CITES:
            within = ~held_out[index].any(dim=0)
        lost = int((~within).sum())
        new = index[:, ~within].clone()
        new[papers] = some[torch.randint(len(some), (lost,), generator=generator)]
        data[kind].edge_index = torch.cat([index[:, within], new], dim=1)
    return data


def same_network(one: teddy.Ticket, other: teddy.Ticket) -> None:
    for (name, a), (_, b) in zip(
        one.model.named_parameters(), other.model.named_parameters(), strict=True
    ):
        assert torch.equal(a, b), name
    assert torch.equal(one.keep, other.keep)
    assert one.info.graph == other.info.graph
    assert one.info.hetero == other.info.hetero


def only_a_self_loop():
    """A graph without an undirected edge."""
    data = HeteroData(a={"num_nodes": 1}, b={"num_nodes": 1})
    data["a", "t", "a"].edge_index = torch.tensor([[0], [0]])
    data["a", "r", "b"].edge_index = torch.empty(2, 0, dtype=torch.long)
    return data


@given(hetero_graphs(), st.integers(0, 1000))
@example(only_a_self_loop(), 0)
def test_an_induced_graph_is_the_subgraph_of_pyg(data, seed):
    generator = torch.Generator().manual_seed(seed)
    nodes = torch.rand(data["a"].num_nodes, generator=generator) < 0.6
    whole = target_edges(data, "a")
    part, within = whole.induced(nodes)
    pairing = whole.groups.relations
    reference = target_edges(data.subgraph({"a": nodes}), "a", pairing=pairing)
    assert dict(part.groups.types) == dict(reference.groups.types)
    assert torch.equal(part.groups.first, reference.groups.first)
    assert torch.equal(part.groups.node, reference.groups.node)
    for kind, messages in part.messages_by_type.items():
        assert torch.equal(messages.index, reference.messages_by_type[kind].index)
        assert torch.equal(messages.pair, reference.messages_by_type[kind].pair)
    assert torch.equal(part.pairs, reference.pairs)
    assert int(within.sum()) == part.num_edges
    keep = torch.rand(part.num_edges, generator=generator) < 0.5
    for kind, index in part.fields(keep)["edge_index"].edge_index_dict.items():
        expected = reference.fields(keep)["edge_index"].edge_index_dict[kind]
        assert torch.equal(index, expected)


def test_training_sees_the_training_papers_and_all_others():
    data = library()
    _, ticket = trained(data)
    assert ticket.info.hetero["nodes"] == {"author": 30, "paper": 20, "venue": 6}
    part = data.subgraph({"paper": data["paper"].train_mask})
    graph, _ = relation_edges(part)
    parts = ticket.info.hetero["relations"]
    assert [p["edge_types"][0][1] for p in parts] == ["writes", "at", "cites"]
    assert [p["total"] for p in parts] == graph.num_in_group.tolist()
    assert torch.equal(ticket.keep, choose_edges(graph, 0.5))
    assert ticket.info.inductive["nodes"] == 96


@pytest.mark.parametrize("relations", ["each", "all"])
@pytest.mark.parametrize("method", ["teddy", "random"])
def test_nothing_of_a_held_out_paper_reaches_a_ticket(method, relations):
    """With one epoch there is none to choose by validation: all comes from training."""
    data = library()
    settings = {"epochs": 1, "method": method, "budget": relations}
    losses, ticket = trained(data, **settings)
    other_losses, other = trained(changed(data, ~data["paper"].train_mask), **settings)
    assert losses == other_losses
    same_network(ticket, other)


def test_nothing_of_a_held_out_paper_reaches_an_epoch():
    data = library()
    losses, other = (
        [loss for phase, loss in trained(graph)[0] if phase == "dense"]
        for graph in (data, changed(data, ~data["paper"].train_mask))
    )
    assert len(losses) == 4
    assert losses == other
    transductive = trained(data, inductive=False)[0]
    assert transductive != trained(changed(data, ~data["paper"].train_mask), inductive=False)[0]


def test_a_ticket_does_not_depend_on_the_test_papers():
    data = library()
    losses, ticket = trained(data)
    other_losses, other = trained(changed(data, data["paper"].test_mask))
    assert losses == other_losses
    same_network(ticket, other)


def test_a_reverse_by_its_edges_is_found_in_the_training_graph_alone():
    """Without rev_ in its name, a relation is a reverse by its edges: held-out ones don't count."""
    data = library()
    data["paper", "by", "author"].edge_index = data[REV].edge_index
    del data[REV]
    module = hetero_module(data)
    ticket = teddy.find_ticket(data, module, epochs=1, **SETTINGS)
    other = copy.deepcopy(data)
    held_out = int((~data["paper"].train_mask).nonzero()[0])
    index = other["paper", "by", "author"].edge_index
    other["paper", "by", "author"].edge_index = index[:, index[0] != held_out]
    same = teddy.find_ticket(other, module, epochs=1, **SETTINGS)
    same_network(ticket, same)
    assert len(ticket.info.hetero["relations"][0]["edge_types"]) == 2
    for graph, found in ((data, ticket), (other, same)):
        assert found.verify(graph, tolerance=1e-9)["test"] == found.info.ticket.test


@pytest.mark.parametrize("rule", ["scored", "training", "none"])
@pytest.mark.parametrize("relations", ["each", "all"])
def test_the_whole_graph_is_pruned_by_the_rule(rule, relations, tmp_path):
    data = library()
    _, ticket = trained(data, inference=rule, budget=relations)
    sparse = ticket.apply(data)
    simple = T.RemoveDuplicatedEdges()(copy.copy(data))
    count = {kind: simple[kind].num_edges for kind in data.edge_types}
    if rule == "none":
        assert all(sparse[kind].num_edges == count[kind] for kind in data.edge_types)
    elif rule == "scored":
        keep = teddy.prune_edges(data, 0.5, budget=relations)
        for kind in data.edge_types:
            expected = data[kind].edge_index[:, keep[kind]].unique(dim=1)
            assert torch.equal(sparse[kind].edge_index, expected)
    else:
        train = data["paper"].train_mask
        index, kept = simple[WRITES].edge_index, sparse[WRITES].edge_index
        assert int((~train[kept[1]]).sum()) == int((~train[index[1]]).sum())
        assert int(train[kept[1]].sum()) < int(train[index[1]].sum())
    assert ticket.verify(data, tolerance=1e-9)["test"] == ticket.info.ticket.test
    x_dict = {name: data[name].x for name in sorted(data.node_types)}
    expected = ticket.model(x_dict, sparse.edge_index_dict)["paper"]
    torch.testing.assert_close(ticket.logits(data), expected)
    assert torch.equal(ticket.logits(sparse), ticket.logits(data))
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", model=hetero_module(data))
    assert torch.equal(again.logits(data), ticket.logits(data))
    assert again.info == ticket.info


def test_a_ticket_takes_other_graphs_and_prunes_them_once():
    _, ticket = trained(library())
    larger = library(seed=3, papers=90)
    keep = teddy.prune_edges(larger, 0.5)
    sparse = ticket.apply(larger)
    for kind in larger.edge_types:
        expected = larger[kind].edge_index[:, keep[kind]].unique(dim=1)
        assert torch.equal(sparse[kind].edge_index, expected)
    assert ticket.predict(larger).shape == (90,)
    assert torch.equal(ticket.logits(sparse), ticket.logits(larger))
    sparse[WRITES].edge_index = sparse[WRITES].edge_index[:, 1:]
    with pytest.raises(teddy.InputError, match="data was pruned by another ticket, or has changed"):
        ticket.logits(sparse)


def test_the_rule_training_takes_the_graph_of_its_training_papers_only():
    data = library()
    _, ticket = trained(data, inference="training")
    with pytest.raises(teddy.InputError, match="got another graph with edges"):
        ticket.logits(library(seed=3, papers=90))
    bare = copy.deepcopy(data)
    del bare["paper"].train_mask
    with pytest.raises(teddy.InputError, match="data have no train_mask, expected one"):
        ticket.logits(bare)


def test_other_relations_are_refused():
    data = library()
    _, ticket = trained(data)
    del data[REV]
    with pytest.raises(teddy.InputError, match=r"got another graph with 30 author.* relations"):
        ticket.logits(data)


def test_edge_weights_grow_along():
    data = library()
    for kind in (WRITES, CITES, ("paper", "at", "venue")):
        data[kind].edge_weight = torch.rand(data[kind].num_edges) + 0.5
    data = T.RemoveDuplicatedEdges()(data)
    edges = target_edges(data, "paper", names=["edge_weight"])
    nodes = data["paper"].train_mask
    part, _ = edges.induced(nodes)
    around = part.fields()["edge_index"]
    expected = target_edges(
        data.subgraph({"paper": nodes}), "paper", names=["edge_weight"]
    ).fields()["edge_index"]
    for kind in (WRITES, CITES):
        assert torch.equal(
            around.of_edges["edge_weight"][kind], expected.of_edges["edge_weight"][kind]
        )
