from __future__ import annotations

import re
from types import SimpleNamespace

import networkx as nx
import numpy as np
import psutil
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from conftest import edge_lists
from teddy.errors import InputError
from teddy.graph.edges import Edges
from teddy_paper.energy_changes import energy_changes, laplacian_energy


def direct_energy(pairs: np.ndarray, num_nodes: int, isolated_energy: int = 1) -> float:
    """The energy as it is defined, by the eigenvalues of the dense Laplacian."""
    A = np.zeros((num_nodes, num_nodes))
    A[pairs[0], pairs[1]] = A[pairs[1], pairs[0]] = 1
    degree = A.sum(axis=1)
    scale = np.divide(1, np.sqrt(degree), out=np.zeros(num_nodes), where=degree > 0)
    identity = np.diag(np.where(degree > 0, 1.0, 1.0 - isolated_energy))
    L = identity - scale[:, None] * A * scale
    return float(np.abs(np.linalg.eigvalsh(L) - 1).sum())


def direct_changes(pairs: np.ndarray, num_nodes: int, isolated_energy: int = 1) -> np.ndarray:
    whole = direct_energy(pairs, num_nodes, isolated_energy)
    without = [np.delete(pairs, edge, axis=1) for edge in range(pairs.shape[1])]
    return np.array([direct_energy(p, num_nodes, isolated_energy) - whole for p in without])


def tensor_of(graph: nx.Graph) -> torch.Tensor:
    return torch.tensor(list(graph.edges), dtype=torch.long).reshape(-1, 2).t()


# Without an edge: the path falls into shorter paths of energy 2 (two or three nodes), the triangle
# becomes a path, the star loses a leaf, the square becomes a path of four nodes and of energy 3.
@pytest.mark.parametrize(
    ("graph", "energy", "delta"),
    [
        (nx.path_graph(2), 2.0, [0.0]),
        (nx.path_graph(3), 2.0, [1.0, 1.0]),
        (nx.path_graph(4), 3.0, [0.0, 1.0, 0.0]),
        (nx.complete_graph(3), 2.0, [0.0, 0.0, 0.0]),
        (nx.star_graph(5), 2.0, [1.0] * 5),
        (nx.cycle_graph(4), 2.0, [1.0] * 4),
    ],
)
def test_known_spectra(graph, energy, delta):
    edge_index = tensor_of(graph)
    assert laplacian_energy(edge_index) == pytest.approx(energy, abs=1e-12)
    changes = energy_changes(edge_index)
    torch.testing.assert_close(
        changes.delta, torch.tensor(delta, dtype=torch.float64), rtol=0, atol=changes.error
    )


def test_isolated_nodes_count_one_or_nothing():
    edge = torch.tensor([[0], [1]])
    assert laplacian_energy(edge, 5) == pytest.approx(5)
    assert laplacian_energy(edge, 5, isolated_energy=0) == pytest.approx(2)
    changes = energy_changes(edge, 5, isolated_energy=0)
    assert changes.isolated_ends.tolist() == [2]
    assert changes.delta.item() == pytest.approx(-2, abs=changes.error)
    assert energy_changes(edge, 5).delta.item() == pytest.approx(0, abs=changes.error)


def assert_equals_direct(edge_index, num_nodes, isolated_energy=1):
    pairs = Edges.from_columns(edge_index, num_nodes)[0].pairs
    changes = energy_changes(edge_index, num_nodes, isolated_energy=isolated_energy)
    assert torch.equal(changes.pairs, pairs)
    assert changes.error < 1e-10
    expected = direct_changes(pairs.numpy(), num_nodes, isolated_energy)
    np.testing.assert_allclose(changes.delta.numpy(), expected, rtol=0, atol=changes.error)
    np.testing.assert_allclose(
        laplacian_energy(edge_index, num_nodes, isolated_energy=isolated_energy),
        direct_energy(pairs.numpy(), num_nodes, isolated_energy),
        atol=1e-11,
    )
    # One eigenvalue crosses any point between -1 and 1 at most.
    nuclear = changes.delta - isolated_energy * changes.isolated_ends
    assert (nuclear.abs() <= 2 + changes.error).all()


@given(graph=edge_lists(), isolated_energy=st.sampled_from([0, 1]))
def test_any_graph_equals_direct(graph, isolated_energy):
    assert_equals_direct(*graph, isolated_energy)


@given(seed=st.integers(0, 2**16), nodes=st.integers(2, 24))
def test_trees_equal_direct(seed, nodes):
    assert_equals_direct(tensor_of(nx.random_labeled_tree(nodes, seed=seed)), nodes)


@given(seed=st.integers(0, 2**16), left=st.integers(1, 9), right=st.integers(1, 9))
def test_bipartite_graphs_equal_direct(seed, left, right):
    graph = nx.bipartite.random_graph(left, right, 0.4, seed=seed)
    assert_equals_direct(tensor_of(graph), left + right)


@given(seed=st.integers(0, 2**16), leaves=st.lists(st.integers(0, 5), max_size=8))
def test_twins_and_leaves_equal_direct(seed, leaves):
    graph = nx.gnp_random_graph(6, 0.5, seed=seed)
    graph.add_edges_from((hub, 6 + k) for k, hub in enumerate(leaves))
    twin = 6 + len(leaves)
    graph.add_edges_from([(neighbour, twin) for neighbour in graph[0]])
    assert_equals_direct(tensor_of(graph), twin + 1)


def test_eigenvalue_zero_that_an_edge_shares_and_loses_to_another():
    # Near t = 0 one factor of the determinant here goes as t, the other as 1 / t.
    for seed in range(0, 400, 4):
        graph = nx.gnp_random_graph(12, 0.35, seed=seed)
        assert_equals_direct(tensor_of(graph), 12)


@given(graph=edge_lists(), seed=st.integers(0, 2**16))
def test_names_of_nodes_do_not_matter(graph, seed):
    edge_index, num_nodes = graph
    new_name = torch.randperm(num_nodes, generator=torch.Generator().manual_seed(seed))
    changes = energy_changes(edge_index, num_nodes)
    edges = new_name[changes.pairs]
    renamed = energy_changes(new_name[edge_index], num_nodes, edges.flip(0))
    torch.testing.assert_close(renamed.delta, changes.delta, rtol=0, atol=2 * changes.error)
    assert torch.equal(renamed.edge_degree, changes.edge_degree)
    assert torch.equal(renamed.isolated_ends, changes.isolated_ends)
    assert torch.equal(renamed.pairs, edges.sort(dim=0).values)


@pytest.mark.slow
def test_citeseer_equals_direct(citeseer):
    graph, _ = Edges.from_columns(citeseer.edge_index, citeseer.num_nodes)
    calls = []
    changes = energy_changes(
        graph.pairs, graph.num_nodes, progress=lambda done, wanted: calls.append((done, wanted))
    )
    assert calls[-1] == (4552, 4552)
    assert calls == sorted(calls)
    pairs = graph.pairs.numpy()
    component = component_of_nodes(pairs, graph.num_nodes)
    of_edge = component[pairs[0]]
    large = np.bincount(component).argmax()
    sample = np.random.default_rng(0).permutation(pairs.shape[1])
    small = [edge for edge in sample if of_edge[edge] != large][:40]
    pendant = [edge for edge in sample if of_edge[edge] == large and changes.isolated_ends[edge]][
        :1
    ]
    whole = {}
    inner = [edge for edge in sample if of_edge[edge] == large and not changes.isolated_ends[edge]][
        :1
    ]
    for edge in [*small, *pendant, *inner]:
        nodes = np.flatnonzero(component == of_edge[edge])
        here = of_edge == of_edge[edge]
        local = np.searchsorted(nodes, pairs[:, here])
        without = np.searchsorted(nodes, np.delete(pairs, edge, 1)[:, np.delete(here, edge)])
        if of_edge[edge] not in whole:
            whole[of_edge[edge]] = direct_energy(local, nodes.size)
        expected = direct_energy(without, nodes.size) - whole[of_edge[edge]]
        assert changes.delta[edge].item() == pytest.approx(expected, abs=changes.error)


def component_of_nodes(pairs: np.ndarray, num_nodes: int) -> np.ndarray:
    matrix = coo_array((np.ones(pairs.shape[1]), tuple(pairs)), shape=(num_nodes, num_nodes))
    return connected_components(matrix, directed=False)[1]


def test_no_edges():
    nothing = torch.empty(2, 0, dtype=torch.long)
    assert laplacian_energy(nothing, 3) == 3
    assert laplacian_energy(nothing, 0) == 0
    assert energy_changes(nothing, 3).delta.shape == (0,)
    assert energy_changes(torch.tensor([[0], [1]]), 2, nothing).delta.shape == (0,)


def test_wrong_arguments():
    path = torch.tensor([[0, 1], [1, 2]])
    with pytest.raises(InputError, match=re.escape("edges holds (0, 2), expected edges of")):
        energy_changes(path, edges=torch.tensor([[1, 2], [0, 0]]))
    with pytest.raises(InputError, match="isolated_energy is 2, expected 0 or 1"):
        laplacian_energy(path, isolated_energy=2)


def test_memory_is_checked_first(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=10 * 2**20))
    path = tensor_of(nx.path_graph(2000))
    for function in (laplacian_energy, energy_changes):
        with pytest.raises(InputError, match=r"2000 distinct neighbourhoods needs 0\.\d GiB"):
            function(path)
