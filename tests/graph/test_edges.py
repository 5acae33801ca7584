"""Each message once, with one value."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.utils import remove_self_loops, to_undirected

from conftest import edge_lists
from teddy.errors import InputError
from teddy.graph import Edges
from teddy.graph.canonical import check_edge_values


def messages(*arguments, **named):
    """Index and values of the messages."""
    found = Edges.from_edge_index(*arguments, **named).messages
    return found.index, dict(found.values)


@given(graph=edge_lists())
def test_messages_of_an_undirected_graph_are_both_directions(graph):
    edge_index, num_nodes = graph
    index, values = messages(edge_index, num_nodes)
    assert torch.equal(index, to_undirected(remove_self_loops(edge_index)[0], num_nodes=num_nodes))
    assert values == {}


@given(graph=edge_lists(), directed=st.booleans(), seed=st.integers(0, 99))
def test_values_follow_edges_in_any_order(graph, directed, seed):
    edge_index, num_nodes = graph
    generator = torch.Generator().manual_seed(seed)
    table = torch.rand(num_nodes, num_nodes, 2, generator=generator)
    table = table if directed else table + table.transpose(0, 1)
    values = {"edge_attr": table[edge_index[0], edge_index[1]]}
    index, found = messages(edge_index, num_nodes, values, directed)
    assert torch.equal(found["edge_attr"], table[index[0], index[1]])
    listed = {(int(s), int(t)) for s, t in edge_index.t() if s != t}
    expected = listed if directed else listed | {(t, s) for s, t in listed}
    assert [tuple(message) for message in index.t().tolist()] == sorted(expected)
    order = torch.randperm(edge_index.size(1), generator=generator)
    shuffled = {"edge_attr": values["edge_attr"][order]}
    again, same = messages(edge_index[:, order], num_nodes, shuffled, directed)
    assert torch.equal(again, index)
    assert torch.equal(same["edge_attr"], found["edge_attr"])


def test_an_edge_with_two_weights_raises():
    edges, weights = torch.tensor([[0, 1], [1, 0]]), {"edge_weight": torch.tensor([1.0, 2.0])}
    with pytest.raises(InputError, match=r"edge_weight of edge \(., .\) is .* directed=True"):
        messages(edges, 2, weights)
    index, values = messages(edges, 2, weights, directed=True)
    assert values["edge_weight"].tolist() == [1.0, 2.0]
    assert index.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(InputError, match=r"of the edge from 0 to 1 is .*, expected one value; add"):
        messages(torch.tensor([[0, 0], [1, 1]]), 2, weights, directed=True)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("edge_weight", [1.0], "edge_weight is a list, expected a tensor"),
        ("edge_weight", torch.ones(3), r"edge_weight has shape \[3\], expected \[2\]"),
        ("edge_weight", torch.ones(2, 2), r"edge_weight has shape \[2, 2\], expected \[2\]"),
        ("edge_weight", torch.ones(2).cfloat(), "edge_weight is complex64, expected real"),
        ("edge_attr", torch.ones(3, 4), r"edge_attr has shape \[3, 4\], expected \[2, ...\]"),
        ("edge_attr", torch.tensor([[1.0], [torch.inf]]), r"edge_attr\[1, 0\] is inf"),
    ],
)
def test_bad_values_raise(name, value, message):
    with pytest.raises(InputError, match=message):
        check_edge_values(name, value, 2)
