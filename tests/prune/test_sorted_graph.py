"""The linear path gives what the path through a sort gives, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import teddy
from teddy.graph import Edges
from teddy.graph.messages import keep_columns
from teddy.kernels import jit
from teddy.kernels import selection as kernels
from teddy.prune import SCORES, SortedGraph, choose_edges
from teddy.prune.scores.score import node_score
from teddy.prune.select import index_digests, lowest_edges

METHODS = [name for name in SCORES if SCORES[name].join is not None]
pytestmark = pytest.mark.skipif(jit.numba is None, reason="needs numba")


def sorted_list(num_nodes, num_pairs, seed, loops=0, by_column=False):
    generator = np.random.default_rng(seed)
    ends = generator.integers(0, num_nodes, (2, num_pairs))
    pairs = {(min(a, b), max(a, b)) for a, b in ends.T.tolist() if a != b}
    own = {(v, v) for v in generator.integers(0, num_nodes, loops).tolist()}
    both = sorted(pairs | {(b, a) for a, b in pairs} | own)
    edges = torch.tensor(both, dtype=torch.long).reshape(-1, 2).t().contiguous()
    return edges.flip(0).contiguous() if by_column else edges


def by_sorting(edge_index, num_nodes, sparsity, method):
    graph, pair_of_column = Edges.from_columns(edge_index, num_nodes)
    return keep_columns(choose_edges(graph, sparsity, method), pair_of_column)


@given(
    num_nodes=st.integers(2, 30),
    num_pairs=st.integers(1, 60),
    seed=st.integers(0, 999),
    loops=st.integers(0, 4),
    by_column=st.booleans(),
    p=st.floats(0, 1),
    method=st.sampled_from(METHODS),
    dtype=st.sampled_from([torch.int32, torch.int64]),
)
def test_both_paths_agree(num_nodes, num_pairs, seed, loops, by_column, p, method, dtype):
    edges = sorted_list(num_nodes, num_pairs, seed, loops, by_column).to(dtype)
    graph = SortedGraph.from_edge_index(edges, num_nodes)
    if edges.numel() == 0:
        assert graph is None
        return
    simple, pair_of_column = Edges.from_columns(edges, num_nodes)
    assert graph.num_edges == simple.num_edges
    assert torch.equal(graph.degree, simple.degree)
    table = torch.arange(simple.num_nodes + 1) ** 2
    assert torch.equal(graph.sum_over_neighbours(table), simple.sum_over_neighbours(table))
    expected = SCORES[method](simple)
    no_loop = pair_of_column >= 0
    assert torch.equal(graph.scores(SCORES[method])[no_loop], expected[pair_of_column[no_loop]])
    keep = teddy.prune_edges(edges, p, method, num_nodes=num_nodes)
    assert torch.equal(keep, by_sorting(edges, num_nodes, p, method))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("method", METHODS)
def test_many_edges_hubs_and_threads(method, threads):
    edges = sorted_list(3000, 40_000, 0, loops=20)
    hub = torch.arange(1, 3000)  # a degree that a byte can't hold
    star = torch.stack([torch.zeros_like(hub), hub])
    simple, _ = Edges.from_columns(torch.cat([edges, star], dim=1), 3000)
    edges = simple.edge_index
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert SortedGraph.from_edge_index(edges, 3000).degree.max() > kernels.MANY
        for p in (0.05, 0.64, 0.999):
            keep = teddy.prune_edges(edges, p, method, num_nodes=3000)
            assert torch.equal(keep, by_sorting(edges, 3000, p, method))
    finally:
        torch.set_num_threads(before)


def test_equal_scores():
    ring = torch.arange(5000)
    simple, _ = Edges.from_columns(torch.stack([ring, (ring + 1) % 5000]), 5000)
    edges = simple.edge_index
    for p in (0.3, 1.0):
        keep = teddy.prune_edges(edges, p, num_nodes=5000)
        assert torch.equal(keep, by_sorting(edges, 5000, p, "teddy"))


@pytest.mark.parametrize(
    "edges",
    [
        [[0, 1], [1, 2]],  # one direction
        [[0, 0, 1, 1], [1, 1, 0, 0]],  # twice
        [[2, 0, 1, 1], [1, 1, 0, 2]],  # in no order
        [[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 1]],  # (2, 3) and (3, 1)
        [[0, 1], [-1, 0]],
    ],
)
def test_other_lists_are_not_recognised(edges):
    assert SortedGraph.from_edge_index(torch.tensor(edges)) is None


def test_an_edge_index_that_is_unsorted_far_behind_its_start():
    edges = sorted_list(3000, 20_000, 1)
    wrong = edges.clone()
    wrong[:, [-5000, -4000]] = edges[:, [-4000, -5000]]
    assert SortedGraph.from_edge_index(edges, 3000) is not None
    assert SortedGraph.from_edge_index(wrong, 3000) is None
    asymmetric = edges[:, torch.arange(edges.size(1)) != 7777]
    assert SortedGraph.from_edge_index(asymmetric.contiguous(), 3000) is None
    keep = teddy.prune_edges(wrong, 0.5, num_nodes=3000)
    assert torch.equal(keep, by_sorting(wrong, 3000, 0.5, "teddy"))


def test_a_node_that_is_none_is_an_error_on_this_path_too():
    with pytest.raises(teddy.InputError, match="node"):
        teddy.prune_edges(torch.tensor([[0, 5], [5, 0]]), 0.5, num_nodes=3)


def test_without_numba_the_other_path_is_taken(monkeypatch):
    edges = sorted_list(50, 100, 2)
    keep = teddy.prune_edges(edges, 0.5, num_nodes=50)
    monkeypatch.setattr(jit, "numba", None)
    assert SortedGraph.from_edge_index(edges, 50) is None
    assert torch.equal(keep, teddy.prune_edges(edges, 0.5, num_nodes=50))


@pytest.mark.parametrize("bad", [1 << 32, -(1 << 33)])
@pytest.mark.parametrize("place", [4000, -1])
def test_a_row_that_is_no_node_far_behind_the_first_glance(place, bad):
    path = torch.arange(2999)
    edges = Edges.from_columns(torch.stack([path, path + 1]), 3000)[0].edge_index
    edges[0, place] += bad
    with pytest.raises(teddy.InputError, match="node"):
        teddy.prune_edges(edges, 0.5, num_nodes=3000)


ODD_SCORES = {
    "zeros": node_score(lambda graph: (graph.degree - 1).clamp(min=0).double(), torch.mul),
    "single precision": node_score(lambda graph: graph.degree.float() ** 1.7, torch.mul),
    "negative": node_score(lambda graph: 3.0 - graph.degree.double(), torch.mul),
    "huge": node_score(lambda graph: 1e200 * graph.degree.double(), torch.add),
}


@pytest.mark.parametrize("score", ODD_SCORES.values(), ids=ODD_SCORES)
def test_scores_that_codes_cannot_order(score):
    edges = sorted_list(400, 500, 5)
    graph = SortedGraph.from_edge_index(edges, 400)
    simple, pair_of_column = Edges.from_columns(edges, 400)
    scores = score(simple)
    for k in (1, 100, 300):
        expected = ~lowest_edges(scores, k, index_digests(simple.pairs))
        assert torch.equal(graph.keep(score, k), keep_columns(expected, pair_of_column))


def test_a_score_that_is_not_finite_raises():
    graph = SortedGraph.from_edge_index(sorted_list(40, 50, 5), 40)
    with pytest.raises(teddy.InputError, match="not finite"):
        graph.keep(node_score(lambda graph: graph.degree / 0.0 - 1e9, torch.add), 3)
