"""What messages run along, apart from links that are asked for."""

from __future__ import annotations

import copy

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import LINK_FIELDS, MASKS


def keep_messages(data: Data, columns: Tensor) -> Data:
    """The graph with some columns of its edges; links, where it has any, stay as they are.

    Args:
        data: The graph.
        columns: bool ``[E]``; or int64, the numbers of the columns in their new order.

    Example:
        >>> links = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=3,
        ...     edge_label_index=torch.tensor([[1], [2]]), edge_label=torch.tensor([1.0]))
        >>> keep_messages(links, torch.tensor([False]))
        Data(edge_index=[2, 0], num_nodes=3, edge_label_index=[2, 1], edge_label=[1])
    """
    if LINK_FIELDS[0] not in data:
        return data.edge_subgraph(columns)
    # PyG takes what has a row for each edge by chance for the edges' own.
    bare = copy.copy(data)
    own = {key: data[key] for key in (*LINK_FIELDS, *MASKS, "y") if key in data}
    for key in own:
        del bare[key]
    kept = bare.edge_subgraph(columns)
    for key, value in own.items():
        kept[key] = value
    return kept


def listed_columns(edge_index: Tensor, arcs: Tensor) -> Tensor:
    """The column that lists each arc, int64 ``[A]``: what belongs to the column is the arc's.

    The first column that lists it; of an arc that is listed the other way round only, the first
    that lists its reverse.

    Args:
        edge_index: Integer ``[2, E]``, as it came.
        arcs: int64 ``[2, A]``, all of them listed, in either direction.

    Example:
        >>> listed = torch.tensor([[2, 0, 0], [1, 1, 1]])
        >>> listed_columns(listed, torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])).tolist()
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
