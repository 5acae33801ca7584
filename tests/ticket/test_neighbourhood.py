"""The surroundings of a node."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import teddy
from conftest import edge_lists
from teddy.graph import Edges
from teddy.ticket.inspection import find_node, neighbourhood, neighbours


def distances(graph, node, hops):
    """Breadth first, one node at a time."""
    found = {node: 0}
    for hop in range(1, hops + 1):
        for a, b in graph.pairs.t().tolist():
            for near, far in ((a, b), (b, a)):
                if found.get(near) == hop - 1:
                    found.setdefault(far, hop)
    return found


@given(graph=edge_lists(), hops=st.integers(1, 2), most=st.integers(1, 12), data=st.data())
def test_it_contains_the_reachable_nodes(graph, hops, most, data):
    simple, _ = Edges.from_columns(*graph)
    kept_flags = st.lists(st.booleans(), min_size=simple.num_edges, max_size=simple.num_edges)
    keep = torch.tensor(data.draw(kept_flags), dtype=torch.bool)
    node = data.draw(st.integers(0, simple.num_nodes - 1))
    found = neighbourhood(simple, keep, node, hops, most)
    near = distances(simple, node, hops)
    assert found.nodes[0] == node
    assert len(found.nodes) == len(set(found.nodes)) == min(most, len(near))
    assert found.left_out == len(near) - len(found.nodes)
    assert found.hops == [near[n] for n in found.nodes] == sorted(found.hops)
    kept, removed = neighbours(simple, keep, node)  # all of them, however few are shown
    assert {*kept, *removed} == {n for n, hop in near.items() if hop == 1}
    assert (len(kept), len(kept) + len(removed)) == (found.degree_after, found.degree)
    is_kept = dict(zip(map(tuple, simple.pairs.t().tolist()), keep.tolist(), strict=True))
    shown = {pair: stays for pair, stays in is_kept.items() if set(pair) <= set(found.nodes)}
    listed = {
        tuple(sorted((found.nodes[a], found.nodes[b]))): stays
        for (a, b), stays in zip(found.edges, found.kept, strict=True)
    }
    assert listed == shown
    assert len(found.edges) == len(shown)
    for place, parent in enumerate(found.parents[1:], 1):
        assert found.hops[parent] == found.hops[place] - 1
        assert (min(parent, place), max(parent, place)) in found.edges
    assert found.degree == sum(node in pair for pair in is_kept)
    assert found.degree_after == sum(node in pair and stays for pair, stays in is_kept.items())


def test_nodes_that_an_edge_still_leads_to_come_first():
    star = Edges(7, torch.tensor([[0, 0, 0, 0, 4, 4], [1, 2, 3, 4, 5, 6]]))
    keep = torch.tensor([False, False, True, False, True, True])
    assert neighbourhood(star, keep, 0, hops=1).nodes == [0, 3, 4, 1, 2]  # 4: of higher degree
    few = neighbourhood(star, keep, 0, hops=2, most=3)
    assert (few.nodes, few.left_out) == ([0, 3, 4], 4)


def test_wrong_nodes_and_hops_raise_a_clear_message():
    path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
    keep = torch.ones(2, dtype=torch.bool)
    with pytest.raises(teddy.InputError, match="node is 3, expected one from 0 to 2"):
        neighbourhood(path, keep, 3)
    with pytest.raises(teddy.InputError, match="hops is 3, expected 1 or 2"):
        neighbourhood(path, keep, 0, hops=3)
    with pytest.raises(teddy.InputError, match="node is 'cid', expected an id of the graph"):
        find_node("cid", ["ann", "bob"])
    assert find_node("2", range(3)) == 2
