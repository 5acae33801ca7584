"""A server whose graph has changed answers as one that is built anew."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_geometric.nn import SAGEConv

from serving.test_answers import MODELS, close, graph, masked_model
from teddy.errors import InputError
from teddy.graph import Edges
from teddy.serving import Server

PAIRS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=6)
SOME = st.lists(st.integers(0, 60), min_size=1, max_size=4, unique=True)
CHANGE = st.one_of(
    st.tuples(st.just("edges"), PAIRS),
    st.tuples(st.just("remove"), PAIRS),
    st.tuples(st.just("nodes"), st.integers(1, 9)),
    st.tuples(st.just("features"), SOME),
)


class Reference:
    """The same graph as plain Python sets, from which a new server is built."""

    def __init__(self, edges, x, keep, weight):
        pairs = edges.pairs.t().tolist()
        kept = keep.tolist()
        self.x = x.clone()
        self.pruned = {tuple(pair) for pair, stays in zip(pairs, kept, strict=True) if not stays}
        weights = weight.tolist() if weight is not None else [None] * len(pairs)
        self.edges = {
            tuple(pair): value
            for pair, stays, value in zip(pairs, kept, weights, strict=True)
            if stays
        }

    def messages(self):
        pairs = sorted(self.edges)
        index = torch.tensor(pairs, dtype=torch.long).view(-1, 2).t()
        both = torch.cat([index, index.flip(0)], dim=1)
        values = {}
        if pairs and self.edges[pairs[0]] is not None:
            weight = torch.tensor([self.edges[pair] for pair in pairs])
            values = {"edge_weight": torch.cat([weight, weight])}
        return both, values

    def server(self, model):
        index, values = self.messages()
        return Server(model, self.x, index, values)


def apply(server, reference, change, seed):
    kind, what = change
    generator = torch.Generator().manual_seed(seed)
    count = reference.x.size(0)
    weighted = "edge_weight" in server.graph.values
    if kind == "nodes":
        x = torch.rand(what, reference.x.size(1), generator=generator)
        numbers = server.add_nodes(x)
        assert numbers.tolist() == list(range(count, count + what))
        reference.x = torch.cat([reference.x, x])
    elif kind == "features":
        nodes = [node % count for node in what]
        nodes = list(dict.fromkeys(nodes))
        x = torch.rand(len(nodes), reference.x.size(1), generator=generator)
        server.set_features(nodes, x)
        reference.x[nodes] = x
    elif what:
        edges = torch.tensor(what).t() % count
        pairs = [tuple(sorted(pair)) for pair in edges.t().tolist()]
        if kind == "remove":
            gone = {pair for pair in pairs if pair in reference.edges}
            assert server.remove_edges(edges) == len(gone)
            for pair in gone:
                del reference.edges[pair]
        else:
            weight = torch.rand(edges.size(1), generator=generator)
            first = {}
            for pair, value in zip(pairs, weight.tolist(), strict=True):
                first.setdefault(pair, value)
            # An edge that is listed twice has the same weight both times.
            weight = torch.tensor([first[pair] for pair in pairs])
            new = {
                pair: value
                for pair, value in first.items()
                if pair not in reference.edges
                and pair not in reference.pruned
                and pair[0] != pair[1]
            }
            values = {"edge_weight": weight} if weighted else {}
            assert server.add_edges(edges, **values) == len(new)
            reference.edges |= {p: (v if weighted else None) for p, v in new.items()}


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    changes=st.lists(CHANGE, min_size=1, max_size=12),
    sparse=st.booleans(),
    weighted=st.booleans(),
)
def test_the_next_answer_is_that_of_a_new_server(name, seed, changes, sparse, weighted):
    edges, x, weight = graph(seed, sparse=sparse)
    keep = torch.rand(edges.num_edges, generator=torch.Generator().manual_seed(seed)) > 0.4
    weighted = weighted and name != "nagphormer"
    weight = weight.abs() + 0.1 if weighted else None
    model = masked_model(name, seed)
    reference = Reference(edges, x, keep, weight)
    index, values = reference.messages()
    server = Server(model, x, index, values, removed=edges.pairs[:, ~keep])
    if weighted and "edge_weight" not in server.graph.values:
        return  # no edge was kept
    for number, change in enumerate(changes):
        apply(server, reference, change, seed + number)
        new = reference.server(model)
        nodes = torch.arange(0, reference.x.size(0), 3)
        close(server.logits(nodes), new.logits(nodes))
        assert server.gathered(nodes) == new.gathered(nodes)
    index, values = reference.messages()
    with torch.no_grad():
        close(
            server.logits(torch.arange(reference.x.size(0))),
            model(reference.x, index, **values),
        )


def test_a_row_that_grows_many_times_stays_right():
    model, x = masked_model("gin", 3, share=0.0), torch.rand(300, 6)
    empty = torch.zeros(2, 0, dtype=torch.long)
    server = Server(model, x, empty)
    for node in range(1, 300):
        server.add_edges(torch.tensor([[0], [node]]))
    star = torch.stack([torch.zeros(299, dtype=torch.long), torch.arange(1, 300)])
    both = torch.cat([star, star.flip(0)], dim=1)
    close(server.logits([0, 5]), Server(model, x, both).logits([0, 5]))
    assert server.graph.rows.arrays[2].size < 8 * 2 * 299  # room, but bounded


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("sparse", [False, True])
def test_nodes_that_are_not_in_the_graph(name, sparse):
    edges, x, _ = graph(21, sparse=sparse)
    model, new = masked_model(name, 4), torch.rand(2, 6)
    server, other = (Server(model, x, edges.edge_index) for _ in range(2))
    link = torch.tensor([[40, 40, 41, 3], [3, 40, 40, 41]])
    before = server.logits(torch.arange(40))
    for _ in range(3):
        found = server.logits_of_new(new, link)
    assert server.num_nodes == 40
    close(server.logits(torch.arange(40)), before)
    other.add_nodes(new)
    other.add_edges(link)
    close(found, other.logits([40, 41]))
    with pytest.raises(InputError, match="edge_index has 42"):
        server.logits_of_new(new, torch.tensor([[42], [0]]))
    close(server.logits(torch.arange(40)), before)


def test_directed_edges_carry_messages_one_way():
    model, x = masked_model("gcn", 3, share=0.0), torch.rand(3, 6)
    server = Server(model, x, torch.tensor([[0], [1]]), directed=True)
    assert server.add_edges(torch.tensor([[1, 2], [2, 1]])) == 2
    assert server.remove_edges(torch.tensor([[2], [1]])) == 1
    close(
        server.logits([0, 1, 2]),
        Server(model, x, torch.tensor([[0, 1], [1, 2]])).logits([0, 1, 2]),
    )


class Attributed(nn.Module):
    def __init__(self):
        super().__init__()
        self.edge, self.conv = nn.Linear(2, 1), SAGEConv(6, 3)

    def forward(self, x, edge_index, edge_attr):
        gate = self.edge(edge_attr).sigmoid()
        total = x.new_zeros(x.size(0), 6).index_add(0, edge_index[1], gate * x[edge_index[0]])
        return self.conv(x, edge_index) + total[:, :3]


def test_attributes_of_new_edges_reach_your_own_module():
    edges, x, _ = graph(11)
    attributes = torch.rand(edges.num_edges, 2)
    keep = torch.arange(edges.num_edges) % 5 != 0
    late = keep & (torch.arange(edges.num_edges) % 7 == 0)
    early = keep & ~late
    model = Attributed().eval()

    def messages(chosen):
        index, pair = edges.subset(chosen).edge_index, edges.subset(chosen).messages.pair
        return index, {"edge_attr": attributes[chosen][pair]}

    index, values = messages(early)
    server = Server(model, x, index, values, removed=edges.pairs[:, ~keep])
    added = server.add_edges(edges.pairs[:, late | ~keep], edge_attr=attributes[late | ~keep])
    assert added == int(late.sum())
    index, values = messages(keep)
    with torch.no_grad():
        close(server.logits(torch.arange(40)), model(x, index, **values))
    with pytest.raises(InputError, match="edges came with no values, expected edge_attr"):
        server.add_edges(edges.pairs[:, :1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.add_edges(torch.tensor([[0], [99]])), "edge_index has 99, expected"),
        (lambda s: s.add_edges(torch.tensor([0, 1])), r"expected integers \[2, P\]"),
        (lambda s: s.add_nodes(torch.rand(2, 5)), r"x has shape \[2, 5\], expected \[B, 6\]"),
        (lambda s: s.add_nodes(torch.full((1, 6), torch.nan)), "not finite"),
        (lambda s: s.set_features([1], torch.rand(2, 6)), "x has 2 rows, expected 1"),
        (lambda s: s.set_features([77], torch.rand(1, 6)), "nodes has 77"),
        (lambda s: s.add_edges(torch.tensor([[0], [1]]), edge_weight=torch.ones(1)), "no values"),
    ],
)
def test_a_wrong_change_raises_a_clear_message_and_changes_nothing(change, message):
    edges, x, _ = graph(9)
    server = Server(masked_model("gcn", 1), x, edges.edge_index)
    before = server.logits(torch.arange(40))
    with pytest.raises(InputError, match=message):
        change(server)
    assert torch.equal(server.logits(torch.arange(40)), before)
    assert isinstance(Edges.from_edge_index(edges.edge_index), Edges)
