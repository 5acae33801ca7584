"""Edges go, links that are asked for stay."""

from __future__ import annotations

import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.transforms import RandomLinkSplit

import teddy
from conftest import small_graph
from teddy.data.checks import MASKS
from teddy.graph.edge_subgraph import keep_data_edges


def test_links_are_kept_if_as_many_as_edges():
    """PyG takes a tensor with a row for each edge for one of the edges."""
    links = Data(
        x=torch.eye(3), edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=3,
        edge_label_index=torch.tensor([[0, 1], [2, 2]]), edge_label=torch.tensor([1.0, 0.0]),
        **{mask: torch.tensor([True, False]) for mask in MASKS},
    )  # fmt: skip
    kept = keep_data_edges(links, torch.tensor([True, False]))
    assert kept.edge_index.tolist() == [[0], [1]]
    assert kept.edge_label.equal(links.edge_label)
    assert kept.edge_label_index.equal(links.edge_label_index)
    assert kept.train_mask.equal(links.train_mask)


def test_the_transform_prunes_messages_not_links():
    train, val, _ = RandomLinkSplit(0.2, 0.2, is_undirected=True)(small_graph(nodes=60))
    assert train.edge_label.numel() == train.num_edges  # as PyG splits, unless told otherwise
    for part in (train, val):
        sparse = teddy.SparsifyEdges(0.5)(part)
        assert sparse.num_edges < part.num_edges
        assert sparse.edge_label.equal(part.edge_label)
        assert sparse.edge_label_index.equal(part.edge_label_index)


def test_the_transform_prunes_messages_not_links_of_relations():
    data, order = HeteroData(), torch.arange(40)
    data["user"].num_nodes, data["item"].num_nodes = 40, 10
    buys = ("user", "buys", "item")
    data[buys].edge_index = torch.stack([order, order % 10])
    split = RandomLinkSplit(0.2, 0.2, edge_types=[buys], add_negative_train_samples=False)
    train, _, _ = split(data)
    assert train[buys].edge_label.numel() == train[buys].num_edges
    sparse = teddy.SparsifyEdges(0.5)(train)
    assert sparse[buys].num_edges == train[buys].num_edges // 2
    assert sparse[buys].edge_label_index.equal(train[buys].edge_label_index)
