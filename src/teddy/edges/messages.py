"""What messages run along, apart from links that are asked for."""

from __future__ import annotations

import copy

from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import LINK_FIELDS, MASKS


def keep_messages(data: Data, columns: Tensor) -> Data:
    """The graph with some columns of its edges; links, where it has any, stay as they are.

    Args:
        data: The graph.
        columns: bool ``[E]``.

    Example:
        >>> import torch
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
