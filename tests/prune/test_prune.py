from __future__ import annotations

import hashlib
import itertools
import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import teddy
from conftest import edge_lists
from teddy.graph import Edges
from teddy.prune.choose import needed_signals

#: Of the graph alone; for the others see test_signal_scores.py.
METHODS = [name for name in teddy.prune.SCORES if not needed_signals(name)]


def kept_pairs(edge_index, keep):
    return {(min(e), max(e)) for e in edge_index[:, keep].t().tolist() if e[0] != e[1]}


def all_pairs(edge_index):
    return kept_pairs(edge_index, torch.ones(edge_index.size(1), dtype=torch.bool))


@given(graph=edge_lists(), p=st.floats(0, 1), method=st.sampled_from(METHODS))
def test_the_budget_is_exact(graph, p, method):
    edge_index, num_nodes = graph
    keep = teddy.prune_edges(edge_index, p, method, num_nodes=num_nodes)
    total = len(all_pairs(edge_index))
    product = Fraction(p) * total
    nearest = round(product)
    # within rounding error of a whole number, the whole number is meant
    expected = nearest if abs(product - nearest) <= product * Fraction(1e-12) else product
    assert len(kept_pairs(edge_index, keep)) == total - math.ceil(expected)


@given(graph=edge_lists(), p=st.floats(0, 1), method=st.sampled_from(METHODS))
def test_pairs_are_pruned_together_and_self_loops_are_kept(graph, p, method):
    edge_index, num_nodes = graph
    keep = teddy.prune_edges(edge_index, p, method, num_nodes=num_nodes)
    kept = kept_pairs(edge_index, keep)
    for (i, j), stays in zip(edge_index.t().tolist(), keep.tolist(), strict=True):
        assert stays == (i == j or (min(i, j), max(i, j)) in kept)


@given(
    graph=edge_lists(),
    p=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    method=st.sampled_from(METHODS),
)
def test_budgets_are_nested(graph, p, method):
    edge_index, num_nodes = graph
    less, more = (teddy.prune_edges(edge_index, share, method, num_nodes=num_nodes) for share in p)
    assert not (more & ~less).any()


@given(graph=edge_lists(), p=st.floats(0, 1), method=st.sampled_from(METHODS))
def test_the_lowest_scores_are_removed(graph, p, method):
    edge_index, num_nodes = graph
    scores = teddy.edge_scores(edge_index, method, num_nodes=num_nodes)
    keep = teddy.prune_edges(edge_index, p, method, num_nodes=num_nodes)
    loop = edge_index[0] == edge_index[1]
    kept, gone = scores[keep & ~loop], scores[~keep]
    if kept.numel() and gone.numel():
        assert kept.min() >= gone.max()


@given(graph=edge_lists(), p=st.floats(0, 1), seed=st.integers(0, 99))
def test_the_choice_does_not_depend_on_how_the_edges_are_listed(graph, p, seed):
    edge_index, num_nodes = graph
    order = torch.randperm(edge_index.size(1), generator=torch.Generator().manual_seed(seed))
    both = torch.cat([edge_index.flip(0)[:, order], edge_index], dim=1)
    for method in METHODS:
        keep = teddy.prune_edges(edge_index, p, method, num_nodes=num_nodes)
        again = teddy.prune_edges(both, p, method, num_nodes=num_nodes)
        assert kept_pairs(both, again) == kept_pairs(edge_index, keep)


def test_ties_follow_the_md5_of_the_pair():
    # a complete graph: every edge has the same score
    edges = list(itertools.combinations(range(8), 2))
    edge_index = torch.tensor(edges).t()
    order = sorted(edges, key=lambda e: hashlib.md5(f"{e[0]}-{e[1]}".encode()).hexdigest())
    for p in (0.1, 0.5, 0.9):
        keep = teddy.prune_edges(edge_index, p)
        gone = set(edges) - kept_pairs(edge_index, keep)
        assert gone == set(order[: math.ceil(p * len(edges))])
    assert order != sorted(edges)


@pytest.mark.parametrize(
    ("edges", "p", "kept"),
    [
        ([], 0.5, []),
        ([(0, 1)], 0.0, [(0, 1)]),
        ([(0, 1)], 0.01, []),
        ([(0, 1), (1, 0), (0, 1)], 1.0, []),
        ([(0, 1), (1, 2), (2, 3)], 0.3, [(0, 1), (2, 3)]),
        ([(0, 0)], 1.0, []),
    ],
)
def test_tiny_graphs_by_hand(edges, p, kept):
    edge_index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()
    assert kept_pairs(edge_index, teddy.prune_edges(edge_index, p, num_nodes=5)) == set(kept)


def test_citeseer_at_the_twentieth_simulation(citeseer):
    keep = teddy.prune_edges(citeseer.edge_index, 0.6415, num_nodes=citeseer.num_nodes)
    assert int(keep.sum()) == 2 * (4552 - math.ceil(0.6415 * 4552)) == 2 * 1631


@pytest.mark.parametrize("p", [-0.1, 1.5, float("nan")])
def test_a_sparsity_out_of_range_raises(p):
    with pytest.raises(teddy.InputError, match=r"must be in \[0, 1\]"):
        teddy.prune_edges(torch.tensor([[0], [1]]), p)


def test_the_simple_graph_of_no_nodes_is_empty():
    graph, columns = Edges.from_columns(torch.empty(2, 0, dtype=torch.long))
    assert (graph.num_nodes, graph.num_edges, columns.numel()) == (0, 0, 0)


@pytest.mark.parametrize(
    ("edges", "num_nodes", "message"),
    [
        ([[0, 1], [1, 0]], None, r"graphs\[0\] is a list, expected a Data .*must be a tensor"),
        (torch.tensor([[0, 1], [1, 0]]), "5", "num_nodes is '5', expected a whole number"),
        (torch.tensor([[0, 1], [1, 0]]), 2.5, "num_nodes is 2.5, expected a whole number"),
    ],
)
def test_an_invalid_graph_raises(edges, num_nodes, message):
    with pytest.raises(teddy.InputError, match=message):
        teddy.edge_scores(edges, num_nodes=num_nodes)
    with pytest.raises(teddy.InputError, match=message):
        teddy.prune_edges(edges, 0.5, num_nodes=num_nodes)
