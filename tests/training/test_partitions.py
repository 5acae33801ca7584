"""Partitions by METIS: every node once, every edge within a batch, drawn anew from a seed."""

from __future__ import annotations

import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.utils import subgraph

import teddy
from conftest import edge_lists, small_graph
from teddy.errors import InputError
from teddy.training import Partitions, as_loader, seeded
from teddy.training.partitions import PartitionedGraph, metis


def epoch(batches, seed=0):
    with seeded(seed):
        return list(batches)


def graph_of(edge_index, num_nodes):
    """A graph whose values are the numbers of nodes and edges."""
    node = torch.arange(num_nodes)
    return Data(
        x=node.view(-1, 1),
        edge_index=edge_index,
        edge_weight=edge_index[0] * num_nodes + edge_index[1],
        pos=node,
        input_levels={"edge_weight": "edges", "pos": "nodes"},
    )


@given(edge_lists(), st.integers(1, 12))
def test_every_node_is_in_exactly_one_part(graph, parts):
    edge_index, num_nodes = graph
    parts = min(parts, num_nodes)
    part = metis(edge_index, num_nodes, parts)
    assert part.shape == (num_nodes,)
    assert int(part.min()) >= 0
    assert int(part.max()) < parts
    assert torch.equal(part, metis(edge_index.flip(0), num_nodes, parts))


@given(edge_lists(), st.data())
def test_a_batch_has_all_edges_between_its_nodes_and_no_other(graph, data):
    edge_index, num_nodes = graph
    part = torch.tensor([data.draw(st.integers(0, 3)) for _ in range(num_nodes)])
    size = data.draw(st.integers(1, 4))
    batches = epoch(PartitionedGraph(graph_of(edge_index, num_nodes), part, size))
    assert sorted(torch.cat([batch.rows for batch in batches]).tolist()) == list(range(num_nodes))
    for batch in batches:
        assert len(part[batch.rows].unique()) <= size
        graph = batch.graph()
        assert graph.x.flatten().equal(batch.rows)
        assert graph.pos.flatten().equal(batch.rows)
        ends = batch.rows[graph.edge_index]
        assert graph.edge_weight.equal(ends[0] * num_nodes + ends[1])
        expected, _ = subgraph(batch.rows, edge_index, num_nodes=num_nodes)
        assert sorted(map(tuple, ends.t().tolist())) == sorted(map(tuple, expected.t().tolist()))


def test_parts_of_a_real_graph_are_balanced_and_cut_few_edges(citeseer):
    part = metis(citeseer.edge_index, citeseer.num_nodes, 32)
    sizes = torch.bincount(part)
    assert sizes.numel() == 32
    assert int(sizes.max()) <= 1.1 * citeseer.num_nodes / 32
    across = (part[citeseer.edge_index[0]] != part[citeseer.edge_index[1]]).float().mean()
    assert float(across) < 0.1  # drawn at random it would be 0.97


def test_each_epoch_is_drawn_again_and_a_seed_repeats_them(citeseer):
    batches = Partitions(parts=8, batch=2).load(citeseer)
    one, again, other = epoch(batches), epoch(batches), epoch(batches, 1)
    assert all(torch.equal(a.rows, b.rows) for a, b in zip(one, again, strict=True))
    assert not all(a.rows.equal(b.rows) for a, b in zip(one, other, strict=True))


def test_without_pymetis_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(InputError, match=r"partitions need pymetis: pip install 'teddy-glt\[metis"):
        teddy.find_ticket(small_graph(), "gcn", epochs=1, loader="partitions:parts=4")


def test_a_large_graphs_parts_are_kept(monkeypatch):
    monkeypatch.setattr("teddy.training.partitions._KEEP_FROM", 1)
    edge_index = small_graph().edge_index
    first = metis(edge_index, 40, 4)
    monkeypatch.setattr("pymetis.part_graph", None)
    assert torch.equal(metis(edge_index, 40, 4), first)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("metis", "unknown loader 'metis', expected one of: partitions, neighbourhoods, graphs"),
        ("partitions:size=3", "partitions has no option 'size', expected one of: parts, batch"),
        ("partitions:parts=two", "option 'parts' of partitions is 'two', expected a whole number"),
        ("partitions:parts=0", "parts is 0, expected a whole number from 1"),
        ("partitions:together=0", "together is 0, expected a whole number from 1"),
        ("partitions:parts=2:batch=3", "batch is 3, expected at most the 2 parts"),
        ("partitions:parts=41", "parts is 41, expected at most the 40 nodes"),
    ],
)
def test_a_wrong_spec_raises_a_clear_message(word, message):
    with pytest.raises(InputError, match=message):
        teddy.find_ticket(small_graph(), "gcn", epochs=1, loader=word)


def test_words_and_objects_are_the_same():
    loader = Partitions(parts=6, batch=2, together=3)
    assert as_loader(str(loader)) == loader
    assert as_loader(loader) is loader
