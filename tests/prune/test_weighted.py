"""Scores of weighted degrees."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

import teddy
from conftest import edge_lists
from teddy.graph import Edges
from teddy.graph.weighted_graph import WeightedGraph

METHODS = ("teddy", "degree-high", "degree-low", "two-hop")


def scores_of(A, method):
    """The equations of the docstrings with a dense matrix of weights."""
    degree = A.sum(axis=1)
    safe = np.where(degree > 0, degree, 1)
    if method == "teddy":
        g = np.where(degree > 0, 1 / np.sqrt(safe), 0)
        value = A @ g / safe / safe
        return np.outer(value, value)
    value = A @ degree / safe if method == "two-hop" else degree
    sign = 1 if method == "degree-low" else -1
    return sign * (value[:, None] + value[None, :]) / 2


@st.composite
def weighted(draw):
    edge_index, num_nodes = draw(edge_lists())
    seed = draw(st.integers(0, 999))
    span = draw(st.sampled_from([0.0, 1.0, 8.0]))
    rng = np.random.default_rng(seed)
    table = np.exp(rng.uniform(-span, span, (num_nodes, num_nodes)))
    table = (table + table.T) / 2
    return edge_index, num_nodes, torch.from_numpy(table)


@pytest.mark.parametrize("method", METHODS)
@given(graph=weighted())
def test_scores_equal_the_dense_reference(method, graph):
    edge_index, num_nodes, table = graph
    A = np.zeros((num_nodes, num_nodes))
    for i, j in edge_index.t().tolist():
        if i != j:
            A[i, j] = A[j, i] = table[i, j]
    weights = table[edge_index[0], edge_index[1]]
    scores = teddy.edge_scores(edge_index, method, num_nodes=num_nodes, edge_weight=weights)
    expected = scores_of(A, method)[edge_index[0], edge_index[1]]
    # Sums are in integers, whose unit is a share of the largest.
    unit = 1e-13 * np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=unit)


@pytest.mark.parametrize("method", METHODS)
@given(graph=edge_lists(), sparsity=st.floats(0, 1), unit=st.sampled_from([1, 1.0]))
def test_weights_of_one_give_the_very_same_scores_and_edges(method, graph, sparsity, unit):
    edge_index, num_nodes = graph
    ones = torch.full((edge_index.size(1),), unit)
    plain = teddy.edge_scores(edge_index, method, num_nodes=num_nodes)
    assert torch.equal(
        teddy.edge_scores(edge_index, method, num_nodes=num_nodes, edge_weight=ones), plain
    )
    keep = teddy.prune_edges(edge_index, sparsity, method, num_nodes=num_nodes)
    assert torch.equal(
        teddy.prune_edges(edge_index, sparsity, method, num_nodes=num_nodes, edge_weight=ones), keep
    )


def test_weights_of_one_on_a_real_graph(citeseer):
    ones = torch.ones(citeseer.num_edges)
    for method in METHODS:
        plain = teddy.edge_scores(citeseer.edge_index, method, num_nodes=citeseer.num_nodes)
        again = teddy.edge_scores(
            citeseer.edge_index, method, num_nodes=citeseer.num_nodes, seed=0, edge_weight=ones
        )
        assert torch.equal(again, plain)


@given(graph=weighted(), seed=st.integers(0, 99))
def test_scores_do_not_depend_on_how_edges_are_listed_or_numbered(graph, seed):
    edge_index, num_nodes, table = graph
    generator = torch.Generator().manual_seed(seed)
    weights = table[edge_index[0], edge_index[1]]
    order = torch.randperm(edge_index.size(1), generator=generator)
    flip = torch.rand(edge_index.size(1), generator=generator) < 0.5
    relabel = torch.randperm(num_nodes, generator=generator)
    listed = relabel[torch.where(flip, edge_index.flip(0), edge_index)[:, order]]
    for method in METHODS:
        scores = teddy.edge_scores(edge_index, method, num_nodes=num_nodes, edge_weight=weights)
        again = teddy.edge_scores(listed, method, num_nodes=num_nodes, edge_weight=weights[order])
        assert torch.equal(again, scores[order])


@given(graph=weighted(), low=st.floats(0, 1), high=st.floats(0, 1))
def test_budgets_are_exact_and_nested(graph, low, high):
    edge_index, num_nodes, table = graph
    low, high = sorted((low, high))
    simple, _ = Edges.from_columns(edge_index, num_nodes)
    weights = table[edge_index[0], edge_index[1]]
    kept = [
        teddy.prune_edges(edge_index, p, num_nodes=num_nodes, edge_weight=weights)
        for p in (low, high)
    ]
    assert not (kept[1] & ~kept[0]).any()
    for p, keep in zip((low, high), kept, strict=True):
        plain = teddy.prune_edges(edge_index, p, num_nodes=num_nodes)
        left = [Edges.from_columns(edge_index[:, k], num_nodes)[0].num_edges for k in (keep, plain)]
        assert left[0] == left[1] <= simple.num_edges


def test_heavy_and_light_edges_do_not_overflow_or_vanish():
    leaves = 50_000
    edges = torch.stack([torch.zeros(leaves, dtype=torch.long), torch.arange(1, leaves + 1)])
    for weight in (1e-30, 3.3, 1e30):
        scores = teddy.edge_scores(
            edges, edge_weight=torch.full((leaves,), weight, dtype=torch.float64)
        )
        hub = leaves * weight
        expected = (weight**-0.5 / hub) * (hub**-0.5 / weight)
        np.testing.assert_allclose(scores, expected, rtol=1e-9)
    graph = WeightedGraph(Edges(3, torch.tensor([[0, 1], [1, 2]])), torch.tensor([1e30, 1e-30]))
    assert (graph.degree > 0).all()


def test_an_edge_has_the_mean_of_its_columns():
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 2]])
    weights = torch.tensor([1.0, 3.0, 5.0, -7.0])  # that of a self-loop doesn't matter
    mean = torch.tensor([2.0, 2.0, 5.0, 1.0])
    assert torch.equal(
        teddy.edge_scores(edges, edge_weight=weights), teddy.edge_scores(edges, edge_weight=mean)
    )
    found = Edges.from_edge_index(edges, 3, {"edge_weight": weights}, directed=True)
    assert found.weights.tolist() == [2.0, 5.0]


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf"), 1e-31])
def test_bad_weights_raise(bad):
    edges = torch.tensor([[0, 2, 1], [1, 2, 2]])
    with pytest.raises(teddy.InputError, match=r"edge_weight\[2\] is .*, expected a number from 1"):
        teddy.prune_edges(edges, 0.5, edge_weight=torch.tensor([1.0, bad, bad]))
    with pytest.raises(teddy.InputError, match=r"edge_weight has shape \[2\], expected \[3\]"):
        teddy.prune_edges(edges, 0.5, edge_weight=torch.ones(2))


def test_the_transform_takes_weights():
    edges = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 3]])
    data = Data(edge_index=edges, edge_weight=torch.tensor([9.0, 1.0, 1.0, 1.0]), num_nodes=4)
    transform = teddy.SparsifyEdges(0.25, weighted=True)
    assert repr(transform) == "SparsifyEdges(sparsity=0.25, score='teddy', weighted=True)"
    assert transform(data).edge_weight.tolist() == [1.0, 1.0, 1.0]  # the heavy one goes
    assert teddy.SparsifyEdges(0.25)(data).edge_weight.tolist() != [1.0, 1.0, 1.0]
    with pytest.raises(teddy.InputError, match="score random does not support weighted degrees"):
        teddy.SparsifyEdges(0.5, "random", weighted=True)
    with pytest.raises(
        teddy.InputError, match="weighted=True needs edge_weight, the Data has none"
    ):
        transform(Data(edge_index=edges, num_nodes=4))


@given(graph=weighted(), directed=st.booleans(), seed=st.integers(0, 99))
def test_messages_of_kept_edges_and_of_induced_subgraphs(graph, directed, seed):
    edge_index, num_nodes, table = graph
    generator = torch.Generator().manual_seed(seed)
    values = {"edge_weight": table[edge_index[0], edge_index[1]]}
    edges = Edges.from_edge_index(edge_index, num_nodes, values, directed)
    index, pair = edges.messages.index, edges.messages.pair
    assert torch.equal(edges.pairs[:, pair], index.sort(dim=0).values)
    keep = torch.rand(edges.num_edges, generator=generator) < 0.5
    fields = edges.fields(keep)
    assert torch.equal(fields["edge_index"], index[:, keep[pair]])
    source, target = fields["edge_index"]
    assert torch.equal(fields["edge_weight"], table[source, target])
    if not directed:
        assert torch.equal(
            fields["edge_index"], Edges(num_nodes, edges.pairs).fields(keep)["edge_index"]
        )
    nodes = torch.rand(num_nodes, generator=generator) < 0.6
    part, within = edges.induced(nodes)
    number = nodes.nonzero().flatten()
    assert torch.equal(number[part.pairs], edges.pairs[:, within])
    assert torch.equal(
        part.messages.values["edge_weight"],
        table[number[part.edge_index[0]], number[part.edge_index[1]]],
    )
    assert part.edge_index.size(1) == int((nodes[index[0]] & nodes[index[1]]).sum())
