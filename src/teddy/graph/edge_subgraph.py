"""PyG data with some columns of their ``edge_index``, and what belongs to these."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.utils import select

from teddy.graph.groups import EdgeType

#: Names of PyG for links: their ends, and whether there is an edge.
LINK_FIELDS = ("edge_label_index", "edge_label")
#: Names of fields that have a row for each node, link or graph, never for each column.
_NEVER_COLUMNS = (*LINK_FIELDS, "train_mask", "val_mask", "test_mask", "y")


def keep_edges(data: Any, keep: Any) -> Any:
    """Return any graph with some columns of its edges, and what belongs to them.

    Args:
        data: A ``Data``, ``HeteroData`` or ``Batch``, or a list of ``Data``.
        keep: bool ``[E]``; by relation for a ``HeteroData``, a list for a list.
    """
    if isinstance(data, HeteroData):
        return keep_hetero_edges(data, keep)
    if isinstance(data, Batch):
        return keep_batch_edges(data, keep)
    if isinstance(data, Data):
        return keep_data_edges(data, keep)
    return [keep_data_edges(graph, own) for graph, own in zip(data, keep, strict=True)]


def keep_data_edges(data: Data, columns: Tensor) -> Data:
    """The graph with some columns of its edges; links, where it has any, stay as they are.

    Args:
        data: The graph.
        columns: bool ``[E]``; or int64, the numbers of the columns in their new order.

    Example:
        >>> links = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=3,
        ...     edge_label_index=torch.tensor([[1], [2]]), edge_label=torch.tensor([1.0]))
        >>> keep_data_edges(links, torch.tensor([False]))
        Data(edge_index=[2, 0], num_nodes=3, edge_label_index=[2, 1], edge_label=[1])
    """
    if LINK_FIELDS[0] not in data:
        return data.edge_subgraph(columns)
    # PyG takes what has a row for each edge by chance for the edges' own.
    bare = copy.copy(data)
    own = {key: data[key] for key in _NEVER_COLUMNS if key in data}
    for key in own:
        del bare[key]
    kept = bare.edge_subgraph(columns)
    for key, value in own.items():
        kept[key] = value
    return kept


def keep_batch_edges(batch: Batch, keep: Tensor) -> Batch:
    """A batch with some columns of its ``edge_index``, and what belongs to them; all nodes stay.

    It can be taken apart again (``to_data_list``) if the edges are those that it was made of; if a
    transform has changed them since, PyG says that it can't.

    Args:
        batch: The batch.
        keep: bool ``[E]``; or int64, the numbers of the columns in their new order, those of one
            graph after the other.
    """
    if not _as_it_was_made(batch):
        sparse = batch.edge_subgraph(keep)
        if hasattr(sparse, "_slice_dict"):
            del sparse._slice_dict  # what it would be taken apart into is wrong
        return sparse
    sparse, before = copy.copy(batch), batch._slice_dict["edge_index"]
    sparse._slice_dict = dict(batch._slice_dict)
    graph = batch.batch[batch.edge_index[0][keep]].cpu()
    ends = torch.bincount(graph, minlength=batch.num_graphs).cumsum(0)
    stays = torch.cat([torch.zeros(1, dtype=torch.long), ends])
    # A ring that is listed once has as many nodes as columns: then, as in PyG, the name tells.
    others = (torch.arange(batch.num_graphs + 1), batch.ptr.cpu())
    for key, places in batch._slice_dict.items():
        by_chance = "edge" not in key and any(torch.equal(places, other) for other in others)
        if by_chance or not torch.equal(places, before):
            continue
        sparse[key] = select(batch[key], keep, dim=batch.__cat_dim__(key, batch[key]))
        sparse._slice_dict[key] = stays
    return sparse


def _as_it_was_made(batch: Batch) -> bool:
    """Whether its columns are still those of one graph after the other."""
    if not hasattr(batch, "_slice_dict"):
        return False
    slices = batch._slice_dict["edge_index"]
    if int(slices[-1]) != batch.edge_index.size(1):
        return False
    graph = torch.arange(batch.num_graphs).repeat_interleave(slices.diff())
    return torch.equal(batch.batch[batch.edge_index[0]].cpu(), graph)


def keep_hetero_edges(data: HeteroData, keep: Mapping[EdgeType, Tensor]) -> HeteroData:
    """The graph with some columns of each relation, by mask or number, and what belongs to them.

    All nodes stay, and all links to predict.
    """
    sparse = copy.copy(data)
    for kind, stays in keep.items():
        store = sparse[kind]  # the copy is asked: PyG notes in a store what it is asked for
        own = [name for name in store if store.is_edge_attr(name) and name not in LINK_FIELDS]
        for name in own:
            dim = sparse.__cat_dim__(name, store[name], store)
            store[name] = select(store[name], stays, dim=dim)
    return sparse


def column_of_message(edge_index: Tensor, arcs: Tensor) -> Tensor:
    """The column that lists each arc, int64 ``[A]``: what belongs to the column is the arc's.

    The first column that lists it; of an arc that is listed the other way round only, the first
    that lists its reverse.

    Args:
        edge_index: Integer ``[2, E]``, as it came.
        arcs: int64 ``[2, A]``, all of them listed, in either direction.

    Example:
        >>> listed = torch.tensor([[2, 0, 0], [1, 1, 1]])
        >>> column_of_message(listed, torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])).tolist()
        [1, 1, 0, 0]
    """
    if not arcs.numel():
        return arcs[0]
    width = int(edge_index.max()) + 1
    keys, order = torch.sort(edge_index[0].long() * width + edge_index[1], stable=True)
    last = keys.numel() - 1
    wanted = arcs[0] * width + arcs[1]
    place = torch.searchsorted(keys, wanted).clamp(max=last)
    reverse = torch.searchsorted(keys, arcs[1] * width + arcs[0]).clamp(max=last)
    return order[torch.where(keys[place] == wanted, place, reverse)]
