from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import teddy
from conftest import edge_lists
from prune import reference
from teddy.prune.choose import needed_signals
from teddy.prune.scores.teddy import fraction_bits, g_of_degrees

#: Of the graph alone; for the others see test_signal_scores.py.
METHODS = [name for name in teddy.prune.SCORES if not needed_signals(name)]

MATRICES = {
    "teddy": reference.teddy_matrix,
    "degree-high": lambda A: -reference.degree_matrix(A),
    "degree-low": reference.degree_matrix,
    "two-hop": lambda A: -reference.two_hop_matrix(A),
    "resistance": reference.resistance_matrix,
}


@pytest.mark.parametrize("method", MATRICES)
@given(graph=edge_lists())
def test_scores_equal_the_dense_reference(method, graph):
    edge_index, num_nodes = graph
    expected = MATRICES[method](reference.adjacency(edge_index.numpy(), num_nodes))
    scores = teddy.edge_scores(edge_index, method, num_nodes=num_nodes)
    assert scores.dtype == torch.float64
    np.testing.assert_allclose(scores, expected[edge_index[0], edge_index[1]], rtol=1e-12)


def test_scores_equal_the_dense_reference_on_a_larger_graph():
    rng = np.random.default_rng(0)
    edge_index = rng.integers(0, 300, (2, 4000))
    expected = reference.teddy_matrix(reference.adjacency(edge_index, 300))
    scores = teddy.edge_scores(torch.from_numpy(edge_index), num_nodes=300)
    np.testing.assert_allclose(scores, expected[edge_index[0], edge_index[1]], rtol=1e-12)


def test_scores_of_a_star_with_a_large_hub_do_not_overflow():
    leaves = 200_000
    edge_index = torch.stack([torch.zeros(leaves, dtype=torch.long), torch.arange(1, leaves + 1)])
    scores = teddy.edge_scores(edge_index)
    # the hub: mean of ones over its degree; a leaf: 1/sqrt(hub's degree)
    np.testing.assert_allclose(scores, 1 / leaves * leaves**-0.5, rtol=1e-10)


@given(graph=edge_lists(), seed=st.integers(0, 99))
def test_scores_do_not_depend_on_how_the_edges_are_listed(graph, seed):
    edge_index, num_nodes = graph
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(edge_index.size(1), generator=generator)
    flip = torch.rand(edge_index.size(1), generator=generator) < 0.5
    listed = torch.where(flip, edge_index.flip(0), edge_index)[:, order]
    twice = torch.cat([listed, listed.flip(0)], dim=1)
    for method in METHODS:
        scores = teddy.edge_scores(edge_index, method, num_nodes=num_nodes, seed=seed)
        again = teddy.edge_scores(twice, method, num_nodes=num_nodes, seed=seed)
        loop = listed[0] == listed[1]
        assert torch.equal(again[: order.numel()][~loop], scores[order][~loop])
        assert torch.equal(again[order.numel() :][~loop], scores[order][~loop])


@given(graph=edge_lists(), seed=st.integers(0, 99))
def test_scores_are_the_same_bits_after_relabelling(graph, seed):
    edge_index, num_nodes = graph
    relabel = torch.randperm(num_nodes, generator=torch.Generator().manual_seed(seed))
    drawn = {"random", "k-neighbor", "local-degree", "forest-fire"}
    for method in set(METHODS) - drawn:
        scores = teddy.edge_scores(edge_index, method, num_nodes=num_nodes)
        assert torch.equal(
            teddy.edge_scores(relabel[edge_index], method, num_nodes=num_nodes), scores
        )


def test_int32_edges_give_the_same_scores(citeseer):
    scores = teddy.edge_scores(citeseer.edge_index, num_nodes=citeseer.num_nodes)
    assert torch.equal(
        teddy.edge_scores(citeseer.edge_index.int(), num_nodes=citeseer.num_nodes), scores
    )


def test_random_scores_follow_the_seed(citeseer):
    first, same, other = (
        teddy.edge_scores(citeseer.edge_index, "random", seed=seed) for seed in (1, 1, 2)
    )
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


def test_the_toy_example_of_section_5():
    """One-hop degrees can't tell the triangle's edges apart, two-hop degrees can."""
    # A triangle v1, v2, v3, each with two more neighbours: of degree 2, 1 and 3 respectively.
    edges = [(1, 2), (1, 3), (2, 3)]
    edges += [(1, 4), (1, 5), (2, 6), (2, 7), (3, 8), (3, 9)]
    edges += [(4, 10), (5, 10), (8, 11), (8, 12), (9, 11), (9, 12)]
    edge_index = torch.tensor(edges).t()
    one_hop = teddy.edge_scores(edge_index, "degree-low")[:3]
    assert one_hop.unique().numel() == 1
    e12, e13, e23 = (-teddy.edge_scores(edge_index, "two-hop")[:3]).tolist()
    assert e12 < e23 < e13


@pytest.mark.parametrize(
    ("edge_index", "num_nodes", "message"),
    [
        (torch.zeros(3, 2).long(), None, r"shape \[3, 2\], expected \[2, E\]"),
        (torch.zeros(2, 2), None, "is float32, expected integers"),
        (
            torch.tensor([[0, 5], [1, 1]]),
            3,
            r"edge_index\[0, 1\] is 5, expected a node from 0 to 2",
        ),
        (torch.tensor([[0, -1], [1, 1]]), 3, r"edge_index\[0, 1\] is -1, expected a node"),
    ],
)
def test_bad_edges_raise(edge_index, num_nodes, message):
    with pytest.raises(teddy.InputError, match=message):
        teddy.edge_scores(edge_index, num_nodes=num_nodes)


def test_an_unknown_score_names_the_known_ones():
    with pytest.raises(teddy.InputError, match=r"unknown score 'tedy'.*did you mean 'teddy'"):
        teddy.edge_scores(torch.tensor([[0], [1]]), "tedy")


def test_g_is_correctly_rounded():
    """As square roots and divisions are on every other engine."""
    for highest in (1, 2, 255, 5000):
        scale = 2.0 ** fraction_bits(highest)
        expected = [math.floor(1.0 / math.sqrt(max(d, 1)) * scale) for d in range(highest + 1)]
        assert g_of_degrees(highest).tolist() == expected
