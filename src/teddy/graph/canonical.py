"""Canonical order of edges, and checks of edges and their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.kernels.pattern import column_order
from teddy.tensors import as_integers, as_tensor, dtype_text, shape_text

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


def canonical_pairs(edges: Tensor, num_nodes: int) -> tuple[Tensor, Tensor, bool]:
    """Return each undirected edge once, and the edge of each column.

    Edges that are listed in both directions, sorted by either row, are recognised in linear time.

    Args:
        edges: int64 ``[2, E]``, checked: any order, direction and number of times.
        num_nodes: Number of nodes.

    Returns:
        int64 ``[2, M]``, the lower end first, sorted; int64 ``[E]``, -1 for a self-loop; and
        whether the columns are both directions of each edge, in the order of messages.

    Example:
        >>> edges = torch.tensor([[1, 0, 2, 2], [0, 1, 2, 1]])
        >>> pairs, pair_of_column, in_order = canonical_pairs(edges, 3)
        >>> pairs.tolist(), pair_of_column.tolist(), in_order
        ([[0, 1], [1, 2]], [0, 0, -1, 1], False)
    """
    no_loop = edges[0] != edges[1]
    listed = edges if bool(no_loop.all()) else edges[:, no_loop]
    found = _recognised(listed, num_nodes)
    if found is None:
        low, high = listed.amin(dim=0), listed.amax(dim=0)
        keys, pair = torch.unique(low * num_nodes + high, return_inverse=True)
        ends = torch.stack([keys // max(num_nodes, 1), keys % max(num_nodes, 1)])
        found = ends, pair, False
    pairs, pair, in_order = found
    if listed is edges:
        return pairs, pair, in_order
    pair_of_column = torch.full_like(edges[0], -1)
    pair_of_column[no_loop] = pair
    return pairs, pair_of_column, False


def _recognised(edges: Tensor, num_nodes: int) -> tuple[Tensor, Tensor, bool] | None:
    """The same without a sort, of edges that are canonical already; None of others."""
    for listed in (edges, edges.flip(0)):
        row, col = listed
        if row.numel() == 0 or not _ascends(row * num_nodes + col):
            continue
        forward = row < col
        if bool(forward.all()):
            # A copy: the tensor is the caller's.
            own = listed.clone(memory_format=torch.contiguous_format)
            return own, torch.arange(row.numel(), device=row.device), False
        pairs = listed[:, forward].contiguous()
        if 2 * pairs.size(1) == row.numel():
            messages, pair = both_directions(pairs, num_nodes)
            if torch.equal(messages, listed):
                return pairs, pair, True
    return None


def _ascends(keys: Tensor) -> bool:
    return bool((keys[:1024].diff() > 0).all()) and bool((keys[1:] > keys[:-1]).all())


def both_directions(
    pairs: Tensor, num_nodes: int, pair: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return both directions of canonical edges, sorted by source, then target, in linear time.

    Args:
        pairs: int64 ``[2, M]``, the lower end first, sorted.
        num_nodes: Number of nodes.
        pair: Edge of each message, where it is known.

    Returns:
        int64 ``[2, 2 M]``, and the edge of each, int64 ``[2 M]``.

    Example:
        >>> messages, pair = both_directions(torch.tensor([[0, 1], [2, 2]]), 3)
        >>> messages.tolist(), pair.tolist()
        ([[0, 1, 2, 2], [2, 2, 0, 1]], [0, 1, 0, 1])
    """
    if pair is not None:
        degree = torch.bincount(pairs.flatten(), minlength=num_nodes)
        source = torch.arange(num_nodes, device=pair.device).repeat_interleave(degree)
        return torch.stack([source, pairs.sum(dim=0)[pair] - source]), pair
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


# What to do with a graph that has several edges from one node to another.
_PARALLEL = "; add up parallel edges, or make each kind a relation of a HeteroData"


def check_rows(values: Mapping[str, Tensor], num_columns: int) -> None:
    """Raise unless values have a row for each column of an ``edge_index``."""
    for name, value in values.items():
        if value.size(0) != num_columns:
            raise InputError(
                f"{name} has shape {shape_text(value)}, expected {num_columns} rows, one for "
                "each column of edge_index"
            )


def value_per_message(
    name: str, value: Tensor, messages: Tensor, place: Tensor, directed: bool
) -> Tensor:
    """Return the value of each message; raise if its columns have different ones.

    Args:
        name: What the values are called.
        value: Of each column, ``[E, ...]``.
        messages: int64 ``[2, E]``.
        place: The message of each column.
        directed: Whether both directions may have different ones, for the message.

    Example:
        >>> messages, place = torch.tensor([[0], [1]]), torch.tensor([0, 0])
        >>> value_per_message("edge_weight", torch.tensor([2.0, 2.0]), messages, place, True)
        tensor([2.])
    """
    found = value.new_empty((messages.size(1), *value.shape[1:]))
    found[place] = value
    same = found[place] == value
    differs = ~(same if same.dim() == 1 else same.flatten(1).all(dim=1))
    if differs.any():
        column = int(differs.nonzero()[0])
        source, target = messages[:, place[column]].tolist()
        one, other = (_short(part[i]) for part, i in ((found, place[column]), (value, column)))
        what, hint = f"edge ({source}, {target})", "; directed=True has one for each direction"
        if source == target:
            what, hint = f"the self-loop of node {source}", ""
        elif directed or _parallel(value, place == place[column]):
            what, hint = f"the edge from {source} to {target}", _PARALLEL
        raise InputError(f"{name} of {what} is {one} and {other}, expected one value{hint}")
    return found


def _parallel(value: Tensor, listed: Tensor) -> bool:
    """Whether one direction of an edge is listed with several values.

    Args:
        value: Of each column, then of each column reversed.
        listed: bool, which of these are the edge's.
    """
    halves = zip(value.chunk(2), listed.chunk(2), strict=True)
    return any(len(part[own].unique(dim=0)) > 1 for part, own in halves)


def check_edge_values(name: str, value: object, num_columns: int, source: str = "data") -> Tensor:
    """Return ``edge_weight`` as float32 ``[E]``, ``edge_attr`` as it is, or raise.

    Example:
        >>> check_edge_values("edge_weight", torch.tensor([[1], [2]]), 2)
        tensor([1., 2.])
        >>> check_edge_values("edge_weight", torch.tensor([1.0, torch.nan]), 2)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: data: edge_weight[1] is nan, expected finite numbers
    """
    found = as_tensor(value, name, "a value for each column of edge_index", source)
    weights = name == "edge_weight"
    if weights and found.dim() == 2 and found.size(1) == 1:
        found = found.squeeze(1)
    shape = f"[{num_columns}]" if weights else f"[{num_columns}, ...]"
    if found.dim() == 0 or found.size(0) != num_columns or (weights and found.dim() != 1):
        raise InputError(f"{source}: {name} has shape {shape_text(found)}, expected {shape}")
    if found.is_complex():
        raise InputError(f"{source}: {name} is {dtype_text(found)}, expected real numbers")
    if weights:
        found = found.to(torch.float32)
    finite = found.isfinite()
    if not finite.all():
        place = tuple((~finite).nonzero()[0].tolist())
        where = ", ".join(map(str, place))
        got = found[place].item()
        raise InputError(f"{source}: {name}[{where}] is {got}, expected finite numbers")
    return found.detach()


def _short(value: Tensor) -> str:
    text = str(value.tolist())
    return text if len(text) <= 40 else f"{text[:37]}..."
