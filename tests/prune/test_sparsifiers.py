"""k-neighbor, and what NetworKit computes: local degree and forest fire."""

from __future__ import annotations

import math
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import teddy
from conftest import edge_lists
from teddy.graph import Edges
from teddy.prune import SCORES
from teddy.prune.scores import edge_values

NETWORKIT = ["local-degree", "forest-fire"]
METHODS = ["k-neighbor", *NETWORKIT]


@pytest.fixture(scope="module")
def networkit():
    return pytest.importorskip("networkit", reason="needs NetworKit")


@pytest.fixture(scope="module", params=METHODS)
def method(request):
    if request.param in NETWORKIT:
        request.getfixturevalue("networkit")
    return request.param


def simple(edges, num_nodes):
    listed = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t()
    return Edges.from_columns(listed, num_nodes)[0]


def random_graph(num_nodes=60, num_edges=300):
    edges = np.random.default_rng(0).integers(0, num_nodes, (2, num_edges))
    return torch.from_numpy(edges)


def kept_pairs(edge_index, keep):
    return {(min(e), max(e)) for e in edge_index[:, keep].t().tolist() if e[0] != e[1]}


# What holds for each of them


@given(graph=edge_lists(), p=st.floats(0, 1), seed=st.integers(0, 99))
def test_the_budget_is_exact(method, graph, p, seed):
    edge_index, num_nodes = graph
    total = Edges.from_columns(edge_index, num_nodes)[0].num_edges
    keep = teddy.prune_edges(edge_index, p, method, num_nodes=num_nodes, seed=seed)
    assert len(kept_pairs(edge_index, keep)) == total - teddy.sparsity.num_pruned_edges(p, total)
    assert keep[edge_index[0] == edge_index[1]].all()


@given(
    graph=edge_lists(),
    p=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    seed=st.integers(0, 99),
)
def test_budgets_are_nested(method, graph, p, seed):
    edge_index, num_nodes = graph
    less, more = (
        teddy.prune_edges(edge_index, q, method, num_nodes=num_nodes, seed=seed) for q in p
    )
    assert not (more & ~less).any()


@given(graph=edge_lists(), p=st.floats(0, 1), seed=st.integers(0, 99))
def test_order_direction_and_duplicates_do_not_matter(method, graph, p, seed):
    edge_index, num_nodes = graph
    order = torch.randperm(edge_index.size(1), generator=torch.Generator().manual_seed(seed))
    listed = torch.cat([edge_index.flip(0)[:, order], edge_index], dim=1)
    scores = teddy.edge_scores(edge_index, method, num_nodes=num_nodes, seed=seed)
    assert not scores.isnan().any()
    again = teddy.edge_scores(listed, method, num_nodes=num_nodes, seed=seed)
    assert torch.equal(again, torch.cat([scores[order], scores]))
    keep = teddy.prune_edges(edge_index, p, method, num_nodes=num_nodes, seed=seed)
    keep_listed = teddy.prune_edges(listed, p, method, num_nodes=num_nodes, seed=seed)
    assert kept_pairs(listed, keep_listed) == kept_pairs(edge_index, keep)


def test_lone_nodes_do_not_matter(method):
    edge_index = random_graph()
    few, many = (teddy.edge_scores(edge_index, method, num_nodes=n, seed=3) for n in (60, 100_000))
    assert torch.equal(few, many)


def test_nodes_may_be_left_out_in_the_middle(method):
    edge_index = random_graph()
    scores = teddy.edge_scores(edge_index, method, seed=3)
    assert torch.equal(teddy.edge_scores(edge_index * 7 + 5, method, seed=3), scores)


def test_the_same_seed_gives_the_same_scores_and_another_does_not(method):
    first, same, other = (
        teddy.edge_scores(random_graph(), method, seed=seed) for seed in (1, 1, 2)
    )
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


@pytest.mark.parametrize(("edges", "num_nodes"), [([], 0), ([], 3)])
def test_no_edges(method, edges, num_nodes):
    graph = simple(edges, num_nodes)
    scores = SCORES[method](graph, seed=0)
    assert scores.dtype == torch.float64
    assert scores.shape == (0,)


def test_a_single_edge_among_lone_nodes(method):
    graph = simple([(7, 2)], 9)
    score = SCORES[method](graph, seed=0)
    assert score.shape == (1,)
    assert -1 <= score.item() <= 1


def test_a_self_loop_is_never_pruned_so_its_score_is_infinite(method):
    scores = teddy.edge_scores(torch.tensor([[0, 1, 1, 3], [1, 1, 2, 3]]), method)
    assert scores.isinf().tolist() == [False, True, False, True]
    only_loops = teddy.edge_scores(torch.tensor([[4], [4]]), method)
    assert only_loops.tolist() == [math.inf]


def test_citeseer_at_the_twentieth_simulation(method, citeseer):
    keep = teddy.prune_edges(citeseer.edge_index, 0.6415, method, num_nodes=citeseer.num_nodes)
    assert int(keep.sum()) == 2 * (4552 - math.ceil(0.6415 * 4552)) == 2 * 1631
    keep = teddy.prune_edges(citeseer.edge_index, 0.64, method, num_nodes=citeseer.num_nodes)
    assert int(keep.sum()) == 2 * (4552 - math.ceil(0.64 * 4552)) == 2 * 1638


# k-neighbor


def test_k_neighbor_by_hand(monkeypatch):
    """A triangle 0, 1, 2 with a tail 3 at 2, all draws written out."""
    draws = [
        [0.2, 0.1, 0.5, 0.3],  # of the lower ends of (0, 1), (0, 2), (1, 2), (2, 3)
        [0.9, 0.6, 0.8, 0.7],  # of their higher ends
        [0.25, 0.5, 0.75, 0.125],
    ]

    class Written:
        def random(self, shape):
            assert shape == (3, 4)
            return np.array(draws)

    monkeypatch.setattr(np.random, "Generator", lambda bits: Written())
    graph = simple([(0, 1), (0, 2), (1, 2), (2, 3)], 4)
    # 0: (0, 2) before (0, 1). 1: (1, 2), (0, 1). 2: (2, 3), (0, 2), (1, 2). 3: (2, 3).
    # Better rank: (0, 1) second at both ends; the others first at one.
    expected = [-2 + 0.25, -1 + 0.5, -1 + 0.75, -1 + 0.125]
    assert SCORES["k-neighbor"](graph, seed=0).tolist() == expected


@given(graph=edge_lists(), k=st.integers(1, 6), seed=st.integers(0, 99))
def test_every_node_keeps_k_edges_or_all(graph, k, seed):
    graph, _ = Edges.from_columns(*graph)
    scores = SCORES["k-neighbor"](graph, seed=seed)
    pruned = int((scores < -k).sum())
    sparsity = pruned / max(graph.num_edges, 1)
    keep = teddy.prune_edges(
        graph.pairs, sparsity, "k-neighbor", num_nodes=graph.num_nodes, seed=seed
    )
    assert int((~keep).sum()) == pruned
    left = torch.bincount(graph.pairs[:, keep].flatten(), minlength=graph.num_nodes)
    assert (left >= graph.degree.clamp(max=k)).all()
    # and no more than what the nodes chose
    assert int(keep.sum()) <= int(graph.degree.clamp(max=k).sum())


@given(graph=edge_lists(), seed=st.integers(0, 99))
def test_ranks_are_possible(graph, seed):
    graph, _ = Edges.from_columns(*graph)
    rank = -SCORES["k-neighbor"](graph, seed=seed).floor()
    low, high = graph.degree[graph.pairs]
    assert ((rank >= 1) & (rank <= torch.minimum(low, high))).all()
    # at most as many edges of a rank as nodes with at least that many edges
    for r in range(1, graph.num_nodes):
        assert int((rank == r).sum()) <= int((graph.degree >= r).sum())


def test_each_edge_of_a_node_is_as_likely_to_be_its_first():
    """Of two stars joined at their hubs, the joining edge is seldom a first choice."""
    leaves = [(0, v) for v in range(2, 6)] + [(1, v) for v in range(6, 10)]
    graph = simple([(0, 1), *leaves], 10)
    first = [SCORES["k-neighbor"](graph, seed=seed)[0] >= -1 for seed in range(2000)]
    # each hub has five edges
    assert abs(np.mean(first) - (1 - 0.8**2)) < 4 * math.sqrt(0.36 * 0.64 / 2000)


def test_ranks_stay_distinct_if_a_draw_is_close_to_one(monkeypatch):
    class AlmostOne:
        def random(self, shape):
            draws = np.arange(np.prod(shape), dtype=float).reshape(shape)  # distinct ranks
            draws[2] = 1 - 2.0**-53
            return draws

    monkeypatch.setattr(np.random, "Generator", lambda bits: AlmostOne())
    num_nodes = 80
    graph = simple([(i, j) for i in range(num_nodes) for j in range(i)], num_nodes)
    scores = SCORES["k-neighbor"](graph, seed=0)
    assert (scores < scores.floor() + 1).all()
    assert scores.floor().unique().numel() == scores.unique().numel() > 10


# Local degree


def local_degree_bounds(graph):
    """The lowest and the highest score of each edge, however neighbours of one degree are ordered.

    A node of degree d keeps the neighbour at place r while r <= d^a, from a = log(r) / log(d) on.
    """
    neighbours = [set() for _ in range(graph.num_nodes)]
    for i, j in graph.pairs.t().tolist():
        neighbours[i].add(j)
        neighbours[j].add(i)
    degree = np.array([len(near) for near in neighbours])

    def kept_by(i, j):
        others = degree[list(neighbours[i])]
        places = np.array([(others >= degree[j]).sum(), (others > degree[j]).sum() + 1])
        return 1 - np.log(places) / np.log(degree[i]) if degree[i] > 1 else np.ones(2)

    pairs = graph.pairs.t().tolist()
    bounds = [np.maximum(kept_by(i, j), kept_by(j, i)) for i, j in pairs]
    return np.array(bounds).reshape(-1, 2).T


def check_local_degree(graph, seed):
    scores = SCORES["local-degree"](graph, seed=seed).numpy()
    low, high = local_degree_bounds(graph)
    assert (low - 1e-12 <= scores).all()
    assert (scores <= high + 1e-12).all()
    for alpha in (0, 0.2, 0.5, 0.8, 1):
        keep = scores >= 1 - alpha - 1e-12
        left = torch.bincount(graph.pairs[:, keep].flatten(), minlength=graph.num_nodes)
        degree = graph.degree.double()
        chosen = (degree**alpha + 1e-9).floor() * (degree > 0)
        assert (left >= chosen).all()  # every node keeps what it chose
        assert keep.sum() <= chosen.sum()  # and nothing stays that nobody chose


@given(graph=edge_lists(), seed=st.integers(0, 99))
def test_local_degree_equals_its_definition(networkit, graph, seed):
    check_local_degree(Edges.from_columns(*graph)[0], seed)


def test_local_degree_on_citeseer(networkit, citeseer):
    check_local_degree(Edges.from_columns(citeseer.edge_index, citeseer.num_nodes)[0], 0)


def test_local_degree_by_hand(networkit):
    edges = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 5), (1, 6), (2, 7)]
    graph = simple(edges, 8)
    assert graph.degree.tolist() == [4, 5, 3, 2, 1, 1, 1, 1]
    scores = SCORES["local-degree"](graph, seed=0)
    # 0 ranks 1, 2, 3, 4; 1 ranks 0, 2, 3, then its leaves; 2 ranks 1, 0, 7; 3 ranks 1, 0.
    at_0_second, at_2_second = 1 - math.log(2) / math.log(4), 1 - math.log(2) / math.log(3)
    at_0_third, at_3_second = 1 - math.log(3) / math.log(4), 0
    expected = [1, max(at_0_second, at_2_second), max(at_0_third, at_3_second), 1, 1, 1, 1, 1, 1]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_neighbours_of_one_degree_are_not_ordered_by_their_ids(networkit):
    num_nodes = 12
    complete = simple([(i, j) for i in range(num_nodes) for j in range(i)], num_nodes)
    score = SCORES["local-degree"]
    mean = sum(score(complete, seed=seed) for seed in range(300)) / 300
    of_node = torch.zeros(num_nodes).double()
    for ends in complete.pairs:
        of_node.index_add_(0, ends, mean / (num_nodes - 1))
    assert (of_node - of_node.mean()).abs().max() < 0.02


# Forest fire


def test_forest_fire_counts_burnt_edges(networkit):
    graph, _ = Edges.from_columns(random_graph(), 60)
    scores = SCORES["forest-fire"](graph, seed=5)
    assert scores.max() == 1
    assert scores.min() >= 0
    # whole numbers over the highest: some number of burns makes all scores whole
    counts = next(
        top * scores
        for top in range(1, 1000)
        if torch.allclose(top * scores, (top * scores).round(), atol=1e-9)
        and (top * scores).sum() >= 5 * graph.num_edges - 1e-6
    )
    # the last fire may burn on
    assert 5 * graph.num_edges <= counts.sum().round() <= 5 * graph.num_edges + graph.num_nodes


def test_forest_fires_in_several_python_threads_do_not_mix(networkit):
    edge_index = random_graph(300, 4000)

    def burn(seed):
        return teddy.edge_scores(edge_index, "forest-fire", seed=seed)

    expected = [burn(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for scores, alone in zip(pool.map(burn, range(4)), expected, strict=True):
            assert torch.equal(scores, alone)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_unsupported_by_networkit_raises(seed):
    with pytest.raises(teddy.InputError, match=f"seed is {seed}, expected a whole number"):
        teddy.edge_scores(random_graph(), "forest-fire", seed=seed)


# NetworKit


def test_edge_ids_are_places_in_the_canonical_order(networkit):
    graph, _ = Edges.from_columns(random_graph() * 3, 200)
    other = edge_values.networkit_graph(networkit, graph)
    nodes = graph.pairs.unique().tolist()
    assert (other.numberOfNodes(), other.numberOfEdges()) == (len(nodes), graph.num_edges)
    for place, (i, j) in enumerate(graph.pairs.t().tolist()):
        assert other.edgeId(nodes.index(i), nodes.index(j)) == place


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", NETWORKIT)
def test_networkit_scores_do_not_depend_on_threads_and_set_them_back(networkit, name, threads):
    expected = teddy.edge_scores(random_graph(), name, seed=7)
    before = networkit.getMaxNumberOfThreads()
    networkit.setNumberOfThreads(threads)
    try:
        networkit.setSeed(99, True)
        scores = teddy.edge_scores(random_graph(), name, seed=7)
        assert networkit.getMaxNumberOfThreads() == threads
    finally:
        networkit.setNumberOfThreads(before)
    assert torch.equal(scores, expected)


@pytest.mark.parametrize("name", NETWORKIT)
def test_without_networkit_the_message_names_the_package(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "networkit", None)  # the import fails
    with pytest.raises(teddy.InputError) as caught:
        teddy.prune_edges(torch.tensor([[0, 1], [1, 2]]), 0.5, name)
    expected = f"edge score '{name}' needs NetworKit: pip install 'teddy-glt[networkit]'"
    assert str(caught.value) == expected
