import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from teddy.errors import InputError
from teddy.graph import Edges

pairs = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30)


def both(edge_index, num_nodes):
    return Edges.from_edge_index(edge_index, num_nodes).edge_index


def columns(edges):
    return torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).t()


@given(pairs)
def test_against_a_set_of_pairs(edges):
    expected = sorted({pair for a, b in edges if a != b for pair in ((a, b), (b, a))})
    assert torch.equal(both(columns(edges), 8), columns(expected))


@given(pairs, st.randoms(use_true_random=False))
def test_order_direction_duplicates_and_loops_do_not_matter(edges, random):
    messy = [pair[:: random.choice([1, -1])] for pair in edges * 2] + [(3, 3)]
    random.shuffle(messy)
    simple = both(columns(edges), 8)
    assert torch.equal(both(columns(messy), 8), simple)
    assert torch.equal(both(simple, 8), simple)


def test_int32_becomes_int64():
    assert both(torch.tensor([[1], [0]], dtype=torch.int32), 2).dtype == torch.int64


def test_node_out_of_range():
    with pytest.raises(InputError, match=r"edge_index\[1, 1\] is 5, expected a node from 0 to 2"):
        both(torch.tensor([[0, 1], [1, 5]]), 3)
