"""Memory of searches that have ended."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch

import teddy
from conftest import small_graph
from teddy.graph import Edges
from teddy.kernels.pattern import edge_pattern


def alive():
    gc.collect()
    return sum(issubclass(type(thing), torch.Tensor) for thing in gc.get_objects())


@pytest.mark.parametrize("directed", [False, True])
def test_messages_are_freed_with_their_edges(directed):
    data = small_graph()
    edges = Edges.from_edge_index(data.edge_index, 40, directed=directed)
    messages = weakref.ref(edges.edge_index)
    pattern = edge_pattern(edges.edge_index, 40)
    assert pattern.nnz == edges.edge_index.size(1)
    del edges, pattern
    gc.collect()
    assert messages() is None


@pytest.mark.parametrize("method", ["teddy", "ugs", "gain"])
def test_a_search_leaves_nothing_behind(method):
    data = small_graph()
    counts = []
    for seed in range(3):
        ticket = teddy.find_ticket(
            data, "gcn", 0.3, 0.3, method=method, seed=seed, epochs=2, hidden_channels=4
        )
        ticket.predict(data)
        del ticket
        counts.append(alive())
    assert counts[1] == counts[2]
