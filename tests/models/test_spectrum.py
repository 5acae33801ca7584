"""Eigenpairs against numpy.linalg.eigh of the dense Laplacian."""

from __future__ import annotations

import tracemalloc
from collections import namedtuple
from itertools import combinations

import numpy as np
import psutil
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import teddy
from conftest import edge_lists
from models.graphs import GRAPHS, cube, grid, laplacian, path, pattern, random_edges, shifted
from teddy.kernels.pattern import edge_pattern
from teddy.models import spectrum as module
from teddy.models import subspace
from teddy.models.spectrum import positions, spectrum, spectrum_bytes

Memory = namedtuple("Memory", "available")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("TEDDY_CACHE", str(tmp_path))
    monkeypatch.delenv("TEDDY_CACHE_GIB", raising=False)
    return tmp_path / "tensors"


def check_pairs(found, L, tolerance=2e-6):
    values, vectors = found.values.double().numpy(), found.vectors.double().numpy()
    assert found.values.dtype == found.vectors.dtype == torch.float32
    assert (np.diff(values) >= 0).all()
    np.testing.assert_allclose(L @ vectors, vectors * values, atol=tolerance)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(values.size), atol=tolerance)
    size = np.abs(vectors)
    if values.size:
        first = (size >= size.max(axis=0) * (1 - 1e-5)).argmax(axis=0)
        assert (vectors[first, np.arange(values.size)] > 0).all()


def check_whole(graph):
    found, L = spectrum(graph, cache=False), laplacian(graph)
    expected = np.linalg.eigvalsh(L)
    np.testing.assert_allclose(found.values, expected, atol=1e-6)
    check_pairs(found, L)
    vectors = found.vectors.double().numpy()
    np.testing.assert_allclose(vectors * found.values.double().numpy() @ vectors.T, L, atol=1e-5)
    assert int((found.values == 0).sum()) == int((expected < 1e-9).sum())


@pytest.mark.parametrize("name", GRAPHS)
def test_the_whole_spectrum_is_numpys(name):
    check_whole(pattern(*GRAPHS[name]))


@given(edge_lists())
def test_the_whole_spectrum_of_any_graph(graph):
    check_whole(edge_pattern(*graph))


def test_a_component_too_large_to_be_stacked():
    check_whole(pattern([*random_edges(2, 200, 400), *shifted(path(70), 200)], 280))


def check_part(graph, count):
    """The rule of the docstring, from NumPy's eigenvalues."""
    found, L, N = spectrum(graph, count, cache=False), laplacian(graph), graph.shape[0]
    expected = np.linalg.eigvalsh(L)
    components = int((expected < 1e-9).sum())
    lone = int((graph.crow.diff() == 0).sum())
    above = min(N - components, count - min(components - lone, count // 2))
    assert found.vectors.shape == (N, count)
    assert int((found.values == 0).sum()) == count - above
    smallest = expected[components : components + above]
    np.testing.assert_allclose(found.values[count - above :], smallest, atol=1e-6)
    check_pairs(found, L)


@pytest.mark.parametrize("dense", [25, 600])
@pytest.mark.parametrize("count", [1, 2, 7, 19])
@pytest.mark.parametrize("name", GRAPHS)
def test_a_part_is_the_lower_end(name, count, dense, monkeypatch):
    monkeypatch.setattr(module, "_DENSE", dense)
    graph = pattern(*GRAPHS[name])
    if count < graph.shape[0]:
        check_part(graph, count)


@pytest.mark.parametrize(
    ("edges", "num_nodes", "count"),
    [
        (cube(10), 1024, 60),  # the cut is within an eigenvalue that comes 45 times
        (grid(30), 900, 60),
        (path(1000), 1000, 20),
        ([(0, i) for i in range(1, 1000)], 1000, 30),
        (list(combinations(range(700), 2)), 700, 10),
        ([*random_edges(3, 800, 1000), *shifted(path(700), 800)], 1510, 40),
        (random_edges(4, 900, 3000), 900, 224),  # the widest block
    ],
)
def test_a_part_of_a_large_component_has_every_copy(edges, num_nodes, count):
    check_part(pattern(edges, num_nodes), count)


def test_lone_nodes_take_no_place_of_others():
    graph = pattern([(0, 1), (2, 3), (3, 4)], 50)
    part = spectrum(graph, 4)
    assert part.values.tolist() == pytest.approx([0, 0, 1, 2])
    assert part.vectors[5:].abs().sum() == 0
    part = spectrum(graph, 3)
    assert part.values.tolist() == pytest.approx([0, 1, 2])
    assert (part.vectors[2:5, 0] > 0).all()  # the larger component's
    assert spectrum(graph, 1).values.tolist() == pytest.approx([1])
    assert spectrum(graph, 8).vectors.shape == (50, 8)  # three pairs above 0, two kernels, lone


@pytest.mark.parametrize("count", [0, 5, 6, 10**6])
def test_as_many_as_nodes_or_more_are_all(count):
    graph = pattern(path(5), 5)
    assert torch.equal(spectrum(graph, count).vectors, spectrum(graph).vectors)


@pytest.mark.parametrize("name", GRAPHS)
def test_positions_are_the_first_eigenvectors_above_zero(name):
    graph = pattern(*GRAPHS[name])
    whole = spectrum(graph)
    above = whole.vectors[:, whole.values > 0]
    for count in (0, 3, 200):
        found = positions(graph, count)
        assert found.shape == (graph.shape[0], count)
        assert found.dtype == torch.float32
        assert torch.equal(found[:, : above.size(1)], above[:, :count])
        assert not found[:, above.size(1) :].any()


def test_positions_of_a_large_component():
    graph = pattern(path(900), 903)
    expected = np.linalg.eigvalsh(laplacian(graph))[4:10]
    found = positions(graph, 6).double().numpy()
    np.testing.assert_allclose(found.T @ laplacian(graph) @ found, np.diag(expected), atol=1e-6)
    assert not found[900:].any()


@pytest.mark.parametrize("count", [0, 30])
def test_the_same_graph_has_the_same_spectrum_however_it_is_listed(count):
    edges = torch.tensor(random_edges(5, 700, 1500)).t()
    edges = edges[:, edges[0] != edges[1]]
    listed = (edges, edges.flip(0), torch.cat([edges, edges.flip(0), edges], dim=1))
    loops = torch.cat([edges, torch.arange(700).expand(2, 700)], dim=1)
    found = [spectrum(edge_pattern(e, 700), count, cache=False) for e in (*listed, loops)]
    for other in found[1:]:
        assert torch.equal(other.values, found[0].values)
        assert torch.equal(other.vectors, found[0].vectors)


@given(edge_lists(), st.randoms())
def test_another_numbering_has_the_same_eigenvalues(graph, random):
    edge_index, num_nodes = graph
    order = torch.tensor(random.sample(range(num_nodes), num_nodes))
    values = [spectrum(edge_pattern(e, num_nodes)).values for e in (edge_index, order[edge_index])]
    torch.testing.assert_close(values[0], values[1], atol=1e-6, rtol=0)


BIG = (random_edges(6, 600, 900), 600)


@pytest.mark.parametrize("find", [lambda g: spectrum(g, 12).vectors, lambda g: positions(g, 12)])
def test_it_is_computed_once(find, place, monkeypatch):
    graph = pattern(*BIG)
    first = find(graph)
    monkeypatch.setattr(module, "_decomposed", None)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Memory(0))
    assert torch.equal(find(graph), first)
    assert len(list(place.iterdir())) == 1


def test_other_graphs_and_counts_are_kept_apart(place):
    edges, num_nodes = BIG
    for graph in (pattern(edges, num_nodes), pattern(edges, 601), pattern(edges[1:], num_nodes)):
        spectrum(graph, 3)
        spectrum(graph, 4)
        positions(graph, 3)
    assert len(list(place.iterdir())) == 9


def test_small_graphs_and_the_unwilling_are_not_kept(place):
    spectrum(pattern(path(499), 499), 3)
    spectrum(pattern(*BIG), 3, cache=False)
    positions(pattern(*BIG), 3, cache=False)
    assert not place.exists()


@pytest.mark.parametrize("damage", [lambda c: c[:-9], lambda c: c[:-1] + bytes([c[-1] ^ 1])])
def test_a_damaged_file_is_computed_again_and_overwritten(damage, place):
    graph = pattern(*BIG)
    expected = spectrum(graph, 12).vectors
    (file,) = place.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert torch.equal(spectrum(graph, 12).vectors, expected)
    assert file.read_bytes() == whole


def test_more_memory_than_there_is_is_refused_before_it_is_taken(monkeypatch):
    graph = pattern(path(3000), 3000)
    need = spectrum_bytes(graph)
    assert need == (24 + 4 + 4) * 3000**2
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Memory(need))
    monkeypatch.setattr(module, "_assembled", lambda *_: pytest.fail("taken"))
    with pytest.raises(pytest.fail.Exception, match="taken"):
        spectrum(graph)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Memory(0.1 * 2**30))
    with pytest.raises(teddy.InputError) as refusal:
        spectrum(graph)
    assert str(refusal.value) == (
        "the spectrum of 3000 nodes needs 0.3 GiB of memory, 0.1 GiB are free; "
        "expected fewer nodes, or a part of it, such as eigenvalues=375"
    )
    assert spectrum_bytes(graph, 375) < 0.1 * 2**30 < spectrum_bytes(graph, 750)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Memory(1000))
    with pytest.raises(teddy.InputError, match=r"0\.0 GiB are free; expected fewer nodes$"):
        positions(graph, 10)


@pytest.mark.parametrize("count", [0, 100])
def test_the_stated_memory_is_enough(count):
    graph = pattern(random_edges(7, 1200, 6000), 1200)
    spectrum(graph, 3, cache=False)  # what is imported
    tracemalloc.start()
    try:
        spectrum(graph, count, cache=False)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    said = spectrum_bytes(graph, count)
    assert 0.5 * said < peak < said + 2**20  # and the sparse graph


@pytest.mark.parametrize("count", [-1, True, 1.5])
def test_a_wrong_count_raises_a_clear_message(count):
    with pytest.raises(teddy.InputError, match=f"eigenvalues is {count}, expected a whole number"):
        spectrum(pattern(path(3), 3), count)
    with pytest.raises(teddy.InputError, match=f"positions is {count}, expected a whole number"):
        positions(pattern(path(3), 3), count)


def test_no_convergence_raises_a_clear_message(monkeypatch):
    monkeypatch.setattr(subspace, "_SWEEPS", 1)
    with pytest.raises(teddy.InputError, match="the 9 smallest eigenvalues of 700 nodes did not"):
        spectrum(pattern(path(700), 700), 9)
