"""The simple undirected graph that an ``edge_index`` stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch_geometric.utils import remove_self_loops, to_undirected

from teddy.data.checks import check_edges

if TYPE_CHECKING:
    from torch import Tensor


def normalise_edges(edge_index: Tensor, num_nodes: int) -> Tensor:
    """Return the simple graph: both directions, no duplicates, no self-loops, sorted.

    Args:
        edge_index: Integer ``[2, E]``; each edge once or more, in either direction.
        num_nodes: Number of nodes.

    Returns:
        int64 ``[2, 2M]``, sorted by source, then by target.

    Example:
        >>> import torch
        >>> normalise_edges(torch.tensor([[2, 1, 1, 0], [0, 2, 2, 0]]), num_nodes=3)
        tensor([[0, 1, 2, 2],
                [2, 2, 0, 1]])
    """
    edge_index = check_edges(edge_index, num_nodes)
    simple: Tensor = to_undirected(remove_self_loops(edge_index)[0], num_nodes=num_nodes)
    return simple
