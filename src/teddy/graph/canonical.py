"""The canonical order of edges: the one place where an ``edge_index`` is sorted."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.kernels.pattern import column_order
from teddy.tensors import as_integers, as_tensor, shape_text

# Both ends of an edge are packed into one int64 key.
_MAX_NODES = 3_037_000_499


def check_edges(
    edges: Any, num_nodes: int, source: str = "data", name: str = "edge_index"
) -> Tensor:
    """Return edges as int64, or raise unless they are ``[2, E]`` within ``num_nodes``."""
    edge_index = as_tensor(edges, name, "an integer tensor of shape [2, E]", source)
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise InputError(f"{source}: {name} has shape {shape_text(edge_index)}, expected [2, E]")
    edge_index = as_integers(edge_index, name, source)
    if edge_index.numel() == 0:
        return edge_index
    lowest, highest = (int(end) for end in edge_index.aminmax())
    if lowest < 0 or highest >= num_nodes:
        outside = (edge_index < 0) | (edge_index >= num_nodes)
        end, column = outside.nonzero()[0].tolist()
        raise InputError(
            f"{source}: {name}[{end}, {column}] is {int(edge_index[end, column])}, "
            f"expected a node from 0 to {num_nodes - 1}"
        )
    return edge_index


def check_edge_index(edge_index: Tensor, num_nodes: int | None = None) -> tuple[Tensor, int]:
    """Return the edges as int64 and the number of nodes, or raise if they can't be edges."""
    if not isinstance(num_nodes, int | None):
        raise InputError(f"num_nodes is {num_nodes!r}, expected a whole number")
    edges = check_edges(edge_index, _MAX_NODES if num_nodes is None else num_nodes)
    if num_nodes is None:
        num_nodes = int(edges.max()) + 1 if edges.numel() else 0
    if num_nodes > _MAX_NODES:
        raise InputError(f"num_nodes is {num_nodes}, expected at most {_MAX_NODES}")
    return edges, num_nodes


def canonical_pairs(edges: Tensor, num_nodes: int) -> tuple[Tensor, Tensor]:
    """Return each undirected edge once, and the edge of each column.

    Edges that are listed in both directions, sorted by either row, are recognised in linear time.

    Args:
        edges: int64 ``[2, E]``, checked: any order, direction and number of times.
        num_nodes: Number of nodes.

    Returns:
        int64 ``[2, M]``, the lower end first, sorted; and int64 ``[E]``, -1 for a self-loop.

    Example:
        >>> pairs, pair_of_column = canonical_pairs(torch.tensor([[1, 0, 2, 2], [0, 1, 2, 1]]), 3)
        >>> pairs.tolist(), pair_of_column.tolist()
        ([[0, 1], [1, 2]], [0, 0, -1, 1])
    """
    no_loop = edges[0] != edges[1]
    listed = edges if bool(no_loop.all()) else edges[:, no_loop]
    found = _recognised(listed, num_nodes)
    if found is None:
        low, high = listed.amin(dim=0), listed.amax(dim=0)
        keys, pair = torch.unique(low * num_nodes + high, return_inverse=True)
        found = torch.stack([keys // max(num_nodes, 1), keys % max(num_nodes, 1)]), pair
    pairs, pair = found
    if listed is edges:
        return pairs, pair
    pair_of_column = torch.full_like(edges[0], -1)
    pair_of_column[no_loop] = pair
    return pairs, pair_of_column


def _recognised(edges: Tensor, num_nodes: int) -> tuple[Tensor, Tensor] | None:
    """The same without a sort, of edges that are canonical already; None of others."""
    for listed in (edges, edges.flip(0)):
        row, col = listed
        if row.numel() == 0 or not _ascends(row * num_nodes + col):
            continue
        forward = row < col
        if bool(forward.all()):
            # A copy: the tensor is the caller's.
            return listed.clone(memory_format=torch.contiguous_format), torch.arange(
                row.numel(), device=row.device
            )
        pairs = listed[:, forward].contiguous()
        if 2 * pairs.size(1) == row.numel():
            messages, pair = both_directions(pairs, num_nodes)
            if torch.equal(messages, listed):
                return pairs, pair
    return None


def _ascends(keys: Tensor) -> bool:
    return bool((keys[:1024].diff() > 0).all()) and bool((keys[1:] > keys[:-1]).all())


def both_directions(pairs: Tensor, num_nodes: int) -> tuple[Tensor, Tensor]:
    """Return both directions of canonical edges, sorted by source, then target, in linear time.

    Args:
        pairs: int64 ``[2, M]``, the lower end first, sorted.
        num_nodes: Number of nodes.

    Returns:
        int64 ``[2, 2 M]``, and the edge of each, int64 ``[2 M]``.

    Example:
        >>> messages, pair = both_directions(torch.tensor([[0, 1], [2, 2]]), 3)
        >>> messages.tolist(), pair.tolist()
        ([[0, 1, 2, 2], [2, 2, 0, 1]], [0, 1, 0, 1])
    """
    low, high = pairs
    # A node's lower neighbours come first, then its higher ones.
    lower, higher = (torch.bincount(ends, minlength=num_nodes) for ends in (high, low))
    crow = torch.cat([higher.new_zeros(1), higher.cumsum(0)])
    by_high = column_order(crow, high, (num_nodes, num_nodes))
    start = (lower + higher).cumsum(0) - lower - higher
    number = torch.arange(pairs.size(1), device=pairs.device)
    back, source = low[by_high], high[by_high]
    place_back = number + (start - lower.cumsum(0) + lower)[source]
    place = number + (start + lower - higher.cumsum(0) + higher)[low]
    messages = pairs.new_empty(2, 2 * pairs.size(1))
    pair = pairs.new_empty(2 * pairs.size(1))
    messages[:, place_back] = torch.stack([source, back])
    messages[:, place] = pairs
    pair[place_back], pair[place] = by_high, number
    return messages, pair
