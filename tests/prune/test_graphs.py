"""Several graphs at once, held against one after the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch_geometric.transforms as T
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader

import teddy
from graph_sets import drawn_graphs
from teddy.errors import InputError
from teddy.graph import Edges
from teddy.prune import Signals
from teddy.prune.choose import choose_edges, keep_highest, score_edges
from teddy.prune.graph_edges import graph_edges
from teddy.prune.prune import prune_edges
from teddy.prune.select import index_digests, lowest_edges, lowest_of_groups
from teddy.sparsity import num_pruned_edges

SCORES = ("teddy", "degree-high", "degree-low", "two-hop")
sparsities = st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.64, 0.9, 1.0]) | st.floats(0, 1)


def simple(graph):
    return Edges.from_columns(graph.edge_index, graph.num_nodes)[0]


@pytest.mark.parametrize("method", SCORES)
@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=25)
def test_a_graph_has_its_own_scores_in_a_union(method, seed, hub):
    graphs = drawn_graphs(seed) + drawn_graphs(seed + 1, most=2, hub=hub)
    union = graph_edges(Batch.from_data_list(graphs)).edges
    alone = [score_edges(simple(g), method) for g in graphs]
    assert torch.equal(score_edges(union, method), torch.cat(alone))


@pytest.mark.parametrize("method", SCORES)
@given(st.integers(0, 10_000), sparsities)
@settings(max_examples=25)
def test_each_graph_is_pruned_as_if_separate(method, seed, sparsity):
    graphs = drawn_graphs(seed)
    expected = [
        g.edge_attr[prune_edges(g.edge_index, sparsity, method, num_nodes=g.num_nodes)]
        for g in graphs
    ]
    listed = teddy.SparsifyEdges(sparsity, method)(graphs)
    batch = teddy.SparsifyEdges(sparsity, method)(Batch.from_data_list(graphs))
    transformed = teddy.SparsifyEdges(sparsity, method)(Batch.from_data_list(graphs))
    for found in (listed, batch.to_data_list(), transformed.to_data_list()):
        assert len(found) == len(graphs)
        for graph, pruned, own in zip(graphs, found, expected, strict=True):
            assert torch.equal(pruned.edge_attr, own)
            assert torch.equal(pruned.edge_index, graph.edge_index[:, own])
            assert pruned.num_nodes == graph.num_nodes


@pytest.mark.parametrize("method", ["teddy", "random", "k-neighbor", "resistance"])
@pytest.mark.parametrize("budget", ["each", "all"])
@given(st.integers(0, 10_000), sparsities, sparsities)
@settings(max_examples=20)
def test_budgets_are_exact_and_nested(method, budget, seed, one, other):
    graphs = drawn_graphs(seed)
    union = graph_edges(Batch.from_data_list(graphs), budget=budget).edges
    counts = [simple(g).num_edges for g in graphs]
    assert union.num_in_group.tolist() == counts
    less, more = (choose_edges(union, p, method, 3) for p in sorted([one, other]))
    assert not (more & ~less).any()
    for sparsity, keep in ((min(one, other), less), (max(one, other), more)):
        gone = [int((~own).sum()) for own in keep.split(counts)]
        expected = [num_pruned_edges(sparsity, count) for count in counts]
        if budget == "each":
            assert gone == expected
        else:
            assert sum(gone) == num_pruned_edges(sparsity, sum(counts))


@given(st.integers(0, 10_000), sparsities)
def test_all_together_are_one_graph(seed, sparsity):
    batch = Batch.from_data_list(drawn_graphs(seed))
    keep = prune_edges(batch.edge_index, sparsity, num_nodes=batch.num_nodes)
    pruned = teddy.SparsifyEdges(sparsity, budget="all")(batch)
    assert torch.equal(pruned.edge_index, batch.edge_index[:, keep])


@given(st.integers(0, 10_000))
def test_groups_are_chosen_from_as_one_by_one(seed):
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randint(0, 6, (5,), generator=generator)
    budgets = (torch.rand(5, generator=generator) * (sizes + 1)).long()
    count = int(sizes.sum())
    scores = torch.randint(0, 3, (count,), generator=generator).double()  # many are equal
    pairs = torch.randint(0, 4, (2, count), generator=generator)
    pairs[1] += 4
    group = torch.arange(5).repeat_interleave(sizes)
    # Equal pairs of a group would have no order.
    pairs[1] = torch.cat([torch.arange(n) for n in sizes.tolist()]) + 4 if count else pairs[1]
    expected = [
        lowest_edges(scores[group == g], int(budgets[g]), index_digests(pairs[:, group == g]))
        for g in range(5)
    ]
    assert torch.equal(
        lowest_of_groups(scores, group, budgets, index_digests(pairs)), torch.cat(expected)
    )


def test_attributes_of_edges_graphs_and_nodes_are_kept():
    graphs = [
        Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0], [1]]), y=torch.tensor([1]),
             edge_attr=torch.ones(1, 2)),
        Data(x=torch.zeros(2, 1), edge_index=torch.tensor([[1], [0]]), y=torch.tensor([0]),
             edge_attr=torch.zeros(1, 2)),
    ]  # fmt: skip
    (batch,) = DataLoader(graphs, batch_size=2)
    batch.train_mask = torch.tensor([True, False])
    pruned = teddy.SparsifyEdges(1.0)(batch)
    assert (pruned.num_graphs, pruned.num_edges) == (2, 0)
    assert pruned.y.tolist() == [1, 0]
    assert torch.equal(pruned.x, batch.x)
    assert [g.edge_attr.shape for g in pruned.to_data_list()] == [torch.Size([0, 2])] * 2
    assert batch.num_edges == 2  # the caller's stays as it is
    whole = teddy.SparsifyEdges(0.0)(batch)
    assert whole.to_data_list()[1].edge_index.tolist() == [[1], [0]]


def test_a_score_of_features_sees_them():
    graphs = [
        Data(x=torch.rand(6, 3), edge_index=torch.randint(0, 6, (2, 12)), num_nodes=6)
        for _ in range(4)
    ]
    expected = [prune_edges(g.edge_index, 0.5, "cosine", num_nodes=6, x=g.x) for g in graphs]
    sparse = [Data(**{**g.to_dict(), "x": g.x.to_sparse_csr()}) for g in graphs]
    for some in (graphs, sparse):
        found = teddy.SparsifyEdges(0.5, "cosine")(some)
        for graph, pruned, keep in zip(graphs, found, expected, strict=True):
            assert torch.equal(pruned.edge_index, graph.edge_index[:, keep])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([Data(num_nodes=1)], 0.5), r"^graphs\[0\] is a Data, expected a Data with an edge_index"),
        ((["path"], 0.5), r"^graphs\[0\] is a str, expected"),
        ((None, 0.5), "^got a NoneType, expected an edge_index"),
        ((Data(num_nodes=1), 0.5), "^Data has no edge_index, expected one"),
        (([], 1.5), r"sparsity must be in \[0, 1\], got 1.5"),
        (([], 0.5), None),
        (([Data(edge_index=torch.tensor([[0], [3]]), num_nodes=2)], 0.5), r"^graphs\[0\]: edge_in"),
        (([Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2)], 1.5), r"sparsity must be in"),
        (
            ([Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2)], 0.5, "gain"),
            "gain needs .* does not support",
        ),
    ],
)
def test_unsupported_arguments_raise(arguments, message):
    if message is None:
        assert teddy.prune_edges(*arguments) == []
        return
    with pytest.raises(InputError, match=message):
        teddy.prune_edges(*arguments)


def test_node_fields_are_kept_if_as_many_as_columns():
    """Rings that are listed once, each edge in one direction."""
    rings = [
        Data(
            x=torch.rand(n, 2),
            edge_index=torch.stack([torch.arange(n), (torch.arange(n) + 1) % n]),
            edge_attr=torch.arange(n),
            mass=torch.rand(n),
        )
        for n in (3, 5, 4)
    ]
    for graphs in (rings, rings[:1]):
        pruned = teddy.SparsifyEdges(0.5)(Batch.from_data_list(graphs)).to_data_list()
        for found, own in zip(pruned, graphs, strict=True):
            keep = prune_edges(own.edge_index, 0.5)
            assert torch.equal(found.edge_index, own.edge_index[:, keep])
            assert torch.equal(found.edge_attr, own.edge_attr[keep])
            assert torch.equal(found.x, own.x)
            assert torch.equal(found.mass, own.mass)


@pytest.mark.parametrize("method", [*SCORES, "random", "k-neighbor", "resistance", "cosine"])
@given(st.integers(0, 10_000), sparsities)
@settings(max_examples=15)
def test_separate_draws_prune_each_graph_as_if_separate(method, seed, sparsity):
    batch = Batch.from_data_list(drawn_graphs(seed))
    x = torch.rand(batch.num_nodes, 3, generator=torch.Generator().manual_seed(seed))
    listed = graph_edges(batch)
    union, edge_of_column = listed.edges, listed.pair_of_column
    alone = replace(union, groups=replace(union.groups, separate_draws=True))
    keep = choose_edges(alone, sparsity, method, 3, signals=Signals(x))
    columns = torch.cat([keep, torch.tensor([True])])[edge_of_column]
    expected, first = [], 0
    for graph in batch.to_data_list():
        own = {"x": x[first : first + graph.num_nodes]} if method == "cosine" else {}
        size = graph.num_nodes
        expected.append(
            prune_edges(graph.edge_index, sparsity, method, num_nodes=size, seed=3, **own)
        )
        first += size
    assert torch.equal(columns, torch.cat(expected))


@pytest.mark.parametrize("change", [T.ToUndirected(), T.AddSelfLoops(), T.RemoveDuplicatedEdges()])
def test_a_batch_that_a_transform_has_changed(change):
    """Its edges are pruned; what PyG would take it apart into was wrong before, and is refused."""
    twice = torch.tensor([[0, 0, 1, 2, 3], [1, 1, 2, 3, 4]])
    graphs = [Data(edge_index=twice, num_nodes=5, x=torch.ones(5, 1)) for _ in range(3)]
    batch = change(Batch.from_data_list(graphs))
    (alone,) = {teddy.SparsifyEdges(0.5)(change(graph)).num_edges for graph in graphs}
    sparse = teddy.SparsifyEdges(0.5)(batch)
    assert sparse.num_edges == 3 * alone
    assert sparse.batch.equal(batch.batch)
    with pytest.raises(RuntimeError, match="Cannot reconstruct"):
        sparse.to_data_list()


def test_feature_scores_equal_those_of_separate_graphs():
    star = torch.stack([torch.zeros(90, dtype=torch.long), torch.arange(1, 91)])
    path = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
    rng = np.random.default_rng(0)
    graphs = [
        Data(edge_index=edges, num_nodes=nodes, x=torch.from_numpy(rng.random((nodes, 3))).float())
        for edges, nodes in ((path, 5), (star, 91), (path, 5))
    ]
    batch = Batch.from_data_list(graphs)
    union = graph_edges(batch).edges
    alone = [
        teddy.edge_scores(g.edge_index, "cosine", num_nodes=g.num_nodes, x=g.x) for g in graphs
    ]
    assert score_edges(union, "cosine", signals=Signals(batch.x)).equal(torch.cat(alone))


def test_features_of_other_widths_matter_to_scores_that_look_at_them():
    graphs = [Data(x=torch.rand(2, f), edge_index=torch.tensor([[0], [1]])) for f in (3, 4)]
    assert [graph.num_edges for graph in teddy.SparsifyEdges(0.5)(graphs)] == [0, 0]
    with pytest.raises(
        InputError, match=r"graphs\[1\]: x has 4 columns, expected 3 as in graphs\[0\]"
    ):
        teddy.SparsifyEdges(0.5, "cosine")(graphs)


@given(st.integers(0, 10_000), sparsities, sparsities)
@settings(max_examples=25)
def test_the_lowest_values_of_each_graph_are_removed(seed, lower, higher):
    """Any values, such as magnitudes of masks: by (value, md5), nested, exact in each graph."""
    graphs = drawn_graphs(seed)
    batch = Batch.from_data_list(graphs)
    union = graph_edges(batch).edges
    generator = torch.Generator().manual_seed(seed)
    values = torch.randint(4, (union.num_edges,), generator=generator).double()  # ties
    keep = keep_highest(union, values, lower)
    alone = [
        ~lowest_edges(own, num_pruned_edges(lower, own.numel()), index_digests(simple(g).pairs))
        for g, own in zip(graphs, values.split(union.num_in_group.tolist()), strict=True)
    ]
    assert torch.equal(keep, torch.cat(alone))
    total = num_pruned_edges(lower, values.numel())
    assert (
        int((~keep_highest(graph_edges(batch, budget="all").edges, values, lower)).sum()) == total
    )
    # A later round: removed edges come first, with any other values.
    lower, higher = sorted([lower, higher])
    for budget in ("each", "all"):
        union = graph_edges(batch, budget=budget).edges
        before = keep_highest(union, values, lower)
        later = keep_highest(union, values.neg().masked_fill(~before, -torch.inf), higher)
        assert not (later & ~before).any()
        gone = int(union.num_pruned(higher).sum())
        assert int((~later).sum()) == gone
