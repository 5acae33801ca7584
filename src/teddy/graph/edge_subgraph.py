"""Subgraphs of PyG data: some columns of ``edge_index``, with their edge attributes."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.utils import select

from teddy.graph.groups import EdgeType

#: PyG's names for links: their ends, and their labels.
LINK_FIELDS = ("edge_label_index", "edge_label")
#: Fields with a row for each node, link or graph, never for each column of ``edge_index``.
_NOT_EDGE_FIELDS = (*LINK_FIELDS, "train_mask", "val_mask", "test_mask", "y")


def keep_edges(data: Any, keep: Any) -> Any:
    """Return any graph with the kept columns of ``edge_index`` and their attributes.

    Args:
        data: A ``Data``, ``HeteroData`` or ``Batch``, or a list of ``Data``.
        keep: bool ``[E]``; a dictionary by relation for a ``HeteroData``, a list for a list.
    """
    if isinstance(data, HeteroData):
        return keep_hetero_edges(data, keep)
    if isinstance(data, Batch):
        return keep_batch_edges(data, keep)
    if isinstance(data, Data):
        return keep_data_edges(data, keep)
    return [keep_data_edges(graph, mask) for graph, mask in zip(data, keep, strict=True)]


def keep_data_edges(data: Data, columns: Tensor) -> Data:
    """Return a graph with some columns of ``edge_index``; its links do not change.

    Args:
        data: The graph.
        columns: bool ``[E]``; or int64, indices of the columns in their new order.

    Example:
        >>> links = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=3,
        ...     edge_label_index=torch.tensor([[1], [2]]), edge_label=torch.tensor([1.0]))
        >>> keep_data_edges(links, torch.tensor([False]))
        Data(edge_index=[2, 0], num_nodes=3, edge_label_index=[2, 1], edge_label=[1])
    """
    if LINK_FIELDS[0] not in data:
        return data.edge_subgraph(columns)
    # PyG guesses edge attributes by their size, which other fields can have by coincidence.
    bare = copy.copy(data)
    others = {key: data[key] for key in _NOT_EDGE_FIELDS if key in data}
    for key in others:
        del bare[key]
    kept = bare.edge_subgraph(columns)
    for key, value in others.items():
        kept[key] = value
    return kept


def keep_batch_edges(batch: Batch, keep: Tensor) -> Batch:
    """Return a batch with some columns of ``edge_index`` and their attributes, and all nodes.

    ``to_data_list`` works on it unless a transform has changed the edges since the batch was made;
    then PyG raises an error.

    Args:
        batch: The batch.
        keep: bool ``[E]``; or int64, indices of the columns in their new order, sorted by graph.
    """
    if not _has_original_edges(batch):
        sparse = batch.edge_subgraph(keep)
        if hasattr(sparse, "_slice_dict"):
            del sparse._slice_dict  # no longer right for to_data_list
        return sparse
    sparse, before = copy.copy(batch), batch._slice_dict["edge_index"]
    sparse._slice_dict = dict(batch._slice_dict)
    graph = batch.batch[batch.edge_index[0][keep]].cpu()
    ends = torch.bincount(graph, minlength=batch.num_graphs).cumsum(0)
    slices = torch.cat([torch.zeros(1, dtype=torch.long), ends])
    # A cycle that is listed once has as many nodes as columns: then, as in PyG, the name decides.
    others = (torch.arange(batch.num_graphs + 1), batch.ptr.cpu())
    for key, key_slices in batch._slice_dict.items():
        by_node = "edge" not in key and any(torch.equal(key_slices, other) for other in others)
        if by_node or not torch.equal(key_slices, before):
            continue
        sparse[key] = select(batch[key], keep, dim=batch.__cat_dim__(key, batch[key]))
        sparse._slice_dict[key] = slices
    return sparse


def _has_original_edges(batch: Batch) -> bool:
    """Return True if the columns are still sorted by graph, as when the batch was made."""
    if not hasattr(batch, "_slice_dict"):
        return False
    slices = batch._slice_dict["edge_index"]
    if int(slices[-1]) != batch.edge_index.size(1):
        return False
    graph = torch.arange(batch.num_graphs).repeat_interleave(slices.diff())
    return torch.equal(batch.batch[batch.edge_index[0]].cpu(), graph)


def keep_hetero_edges(data: HeteroData, keep: Mapping[EdgeType, Tensor]) -> HeteroData:
    """Return a graph with some columns of each relation, by mask or index, and their attributes.

    All nodes and all links to predict are kept.
    """
    sparse = copy.copy(data)
    for kind, columns in keep.items():
        store = sparse[kind]  # of the copy: PyG caches the answers of is_edge_attr in the store
        names = [name for name in store if store.is_edge_attr(name) and name not in LINK_FIELDS]
        for name in names:
            dim = sparse.__cat_dim__(name, store[name], store)
            store[name] = select(store[name], columns, dim=dim)
    return sparse


def column_of_message(edge_index: Tensor, messages: Tensor) -> Tensor:
    """Column of ``edge_index`` that lists each message, int64 ``[A]``.

    The first such column; for a message that is listed in reverse only, the first such reverse.

    Args:
        edge_index: Integer ``[2, E]``.
        messages: int64 ``[2, A]``, all of them listed, in either direction.

    Example:
        >>> listed = torch.tensor([[2, 0, 0], [1, 1, 1]])
        >>> column_of_message(listed, torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])).tolist()
        [1, 1, 0, 0]
    """
    if not messages.numel():
        return messages[0]
    width = int(edge_index.max()) + 1
    keys, order = torch.sort(edge_index[0].long() * width + edge_index[1], stable=True)
    last = keys.numel() - 1
    wanted = messages[0] * width + messages[1]
    forward = torch.searchsorted(keys, wanted).clamp(max=last)
    reverse = torch.searchsorted(keys, messages[1] * width + messages[0]).clamp(max=last)
    return order[torch.where(keys[forward] == wanted, forward, reverse)]
