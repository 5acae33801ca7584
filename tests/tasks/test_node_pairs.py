from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from teddy.errors import InputError
from teddy.tasks.node_pairs import draw_no_edges, pair_keys, pairs_of


def test_numbers_of_pairs_count_them_without_a_gap():
    every = [(low, high) for high in range(40) for low in range(high)]
    pairs = torch.tensor(every).t()
    assert pair_keys(pairs).tolist() == list(range(len(every)))
    assert pair_keys(pairs.flip(0)).tolist() == list(range(len(every)))
    assert pairs_of(np.arange(len(every))).equal(pairs)


@given(st.integers(0, 90_000_000), st.integers(0, 90_000_000))
def test_pairs_of_large_graphs_come_back(one, other):
    low, high = sorted((one, other + (one == other)))
    pair = torch.tensor([[low], [high]])
    assert pairs_of(pair_keys(pair)).equal(pair)


@given(st.integers(0, 10_000))
def test_drawn_pairs_are_different_and_without_an_edge(seed):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 30))
    total = nodes * (nodes - 1) // 2
    edges = rng.permutation(total)[: int(rng.integers(0, total + 1))]
    count = int(rng.integers(0, total - edges.size + 1))
    drawn = draw_no_edges(edges, nodes, count, (seed,))
    assert drawn.size == count == np.unique(drawn).size
    assert not np.isin(drawn, edges).any()
    assert ((drawn >= 0) & (drawn < total)).all()
    assert np.array_equal(drawn, draw_no_edges(edges[::-1], nodes, count, (seed,)))


def test_all_pairs_without_an_edge_can_be_drawn_and_no_more():
    edges = np.array([0, 3, 4])
    assert sorted(draw_no_edges(edges, 4, 3, (0,))) == [1, 2, 5]
    with pytest.raises(InputError, match="3 pairs of nodes have no edge, expected at least 4"):
        draw_no_edges(edges, 4, 4, (0,))


def test_every_pair_is_as_likely():
    """Both ways of drawing: of few pairs, and of many more than are asked for."""
    edges = np.array([1, 5, 9, 10, 30])
    free = np.setdiff1d(np.arange(45), edges)
    for count in (2, 20):
        seen = np.zeros(45)
        for seed in range(3000):
            seen[draw_no_edges(edges, 10, count, (seed,))] += 1
        expected = 3000 * count / free.size
        assert (seen[edges] == 0).all()
        # Within five standard deviations of a count.
        assert (np.abs(seen[free] - expected) < 5 * np.sqrt(expected)).all()


def test_other_seeds_draw_other_pairs():
    drawn = {tuple(draw_no_edges(np.array([0]), 200, 5, (seed,))) for seed in range(20)}
    assert len(drawn) == 20
