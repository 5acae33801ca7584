"""Canonical order of edges, and checks of edges and edge values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.kernels.pattern import column_order
from teddy.tensors import as_integers, as_tensor, dtype_text, shape_text

# Both ends of an edge fit into one int64 key.
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
    """Return each undirected edge once, and the edge of each column of ``edge_index``.

    An ``edge_index`` with both directions, sorted by either row, takes linear time.

    Args:
        edges: int64 ``[2, E]``, valid, in any order and direction, with duplicates.
        num_nodes: Number of nodes.

    Returns:
        int64 ``[2, M]``, the lower end first, sorted; int64 ``[E]``, -1 for a self-loop; and
        True if the columns are both directions of each edge in the order of messages.

    Example:
        >>> edges = torch.tensor([[1, 0, 2, 2], [0, 1, 2, 1]])
        >>> pairs, pair_of_column, in_order = canonical_pairs(edges, 3)
        >>> pairs.tolist(), pair_of_column.tolist(), in_order
        ([[0, 1], [1, 2]], [0, 0, -1, 1], False)
    """
    no_loop = edges[0] != edges[1]
    listed = edges if bool(no_loop.all()) else edges[:, no_loop]
    result = _linear_time_pairs(listed, num_nodes)
    if result is None:
        low, high = listed.amin(dim=0), listed.amax(dim=0)
        keys, pair = torch.unique(low * num_nodes + high, return_inverse=True)
        ends = torch.stack([keys // max(num_nodes, 1), keys % max(num_nodes, 1)])
        result = ends, pair, False
    pairs, pair, in_order = result
    if listed is edges:
        return pairs, pair, in_order
    pair_of_column = torch.full_like(edges[0], -1)
    pair_of_column[no_loop] = pair
    return pairs, pair_of_column, False


def _linear_time_pairs(edges: Tensor, num_nodes: int) -> tuple[Tensor, Tensor, bool] | None:
    """Result of :func:`canonical_pairs` for sorted edges, without a sort; None for others."""
    for listed in (edges, edges.flip(0)):
        row, col = listed
        if row.numel() == 0 or not _ascends(row * num_nodes + col):
            continue
        forward = row < col
        if bool(forward.all()):
            copy = listed.clone(memory_format=torch.contiguous_format)
            return copy, torch.arange(row.numel(), device=row.device), False
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
        pair: Edge of each message, if known.

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
    backward = number + (start - lower.cumsum(0) + lower)[source]
    forward = number + (start + lower - higher.cumsum(0) + higher)[low]
    messages = pairs.new_empty(2, 2 * pairs.size(1))
    pair = pairs.new_empty(2 * pairs.size(1))
    messages[:, backward] = torch.stack([source, back])
    messages[:, forward] = pairs
    pair[backward], pair[forward] = by_high, number
    return messages, pair


# Remedy for a graph with several edges from one node to another.
_PARALLEL = "; add up parallel edges, or make each kind a relation of a HeteroData"


def check_rows(values: Mapping[str, Tensor], num_columns: int) -> None:
    """Raise unless each tensor has a row for each column of ``edge_index``."""
    for name, value in values.items():
        if value.size(0) != num_columns:
            raise InputError(
                f"{name} has shape {shape_text(value)}, expected {num_columns} rows, one for "
                "each column of edge_index"
            )


def value_per_message(
    name: str, value: Tensor, messages: Tensor, message: Tensor, directed: bool
) -> Tensor:
    """Return the value of each message; raise if its columns have different ones.

    Args:
        name: Name of the values.
        value: Values of the columns of ``edge_index``, ``[E, ...]``.
        messages: int64 ``[2, E]``.
        message: Message of each column.
        directed: True if both directions may have different values, for the error.

    Example:
        >>> messages, message = torch.tensor([[0], [1]]), torch.tensor([0, 0])
        >>> value_per_message("edge_weight", torch.tensor([2.0, 2.0]), messages, message, True)
        tensor([2.])
    """
    values = value.new_empty((messages.size(1), *value.shape[1:]))
    values[message] = value
    same = values[message] == value
    differs = ~(same if same.dim() == 1 else same.flatten(1).all(dim=1))
    if differs.any():
        column = int(differs.nonzero()[0])
        source, target = messages[:, message[column]].tolist()
        one, other = _short(values[message[column]]), _short(value[column])
        what, hint = f"edge ({source}, {target})", "; directed=True has one for each direction"
        if source == target:
            what, hint = f"the self-loop of node {source}", ""
        elif directed or _parallel(value, message == message[column]):
            what, hint = f"the edge from {source} to {target}", _PARALLEL
        raise InputError(f"{name} of {what} is {one} and {other}, expected one value{hint}")
    return values


def _parallel(value: Tensor, listed: Tensor) -> bool:
    """Return True if one direction of an edge has several values.

    Args:
        value: Values of the columns, then of the reversed columns.
        listed: bool, True for columns of the edge.
    """
    halves = zip(value.chunk(2), listed.chunk(2), strict=True)
    return any(len(part[mask].unique(dim=0)) > 1 for part, mask in halves)


def check_edge_values(name: str, value: object, num_columns: int, source: str = "data") -> Tensor:
    """Return ``edge_weight`` as float32 ``[E]``, ``edge_attr`` unchanged, or raise.

    Example:
        >>> check_edge_values("edge_weight", torch.tensor([[1], [2]]), 2)
        tensor([1., 2.])
        >>> check_edge_values("edge_weight", torch.tensor([1.0, torch.nan]), 2)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: data: edge_weight[1] is nan, expected finite numbers
    """
    values = as_tensor(value, name, "a value for each column of edge_index", source)
    weights = name == "edge_weight"
    if weights and values.dim() == 2 and values.size(1) == 1:
        values = values.squeeze(1)
    shape = f"[{num_columns}]" if weights else f"[{num_columns}, ...]"
    if values.dim() == 0 or values.size(0) != num_columns or (weights and values.dim() != 1):
        raise InputError(f"{source}: {name} has shape {shape_text(values)}, expected {shape}")
    if values.is_complex():
        raise InputError(f"{source}: {name} is {dtype_text(values)}, expected real numbers")
    if weights:
        values = values.to(torch.float32)
    finite = values.isfinite()
    if not finite.all():
        index = tuple((~finite).nonzero()[0].tolist())
        where, got = ", ".join(map(str, index)), values[index].item()
        raise InputError(f"{source}: {name}[{where}] is {got}, expected finite numbers")
    return values.detach()


def _short(value: Tensor) -> str:
    text = str(value.tolist())
    return text if len(text) <= 40 else f"{text[:37]}..."
