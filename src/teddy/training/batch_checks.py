"""Checks of what a loader gives: numbers of nodes, edges between them, values of either."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.numbers import check_count


def check_nodes(store: Any, count: int, name: str = "n_id") -> Tensor:
    """Return the numbers of a batch's nodes, or edges, in the whole graph, or raise.

    Args:
        store: The batch, or what it has of a type.
        count: Nodes, or edges, of the whole graph.
        name: ``n_id``, or ``edge_id``.
    """
    what = {"n_id": "nodes", "edge_id": "edges"}[name]
    numbers = _tensor(store, name, what)
    if numbers.dim() != 1 or not is_within(numbers, count):
        raise InputError(f"{name} of a batch isn't a list of {what} from 0 to {count - 1}")
    return numbers


def check_edges(store: Any, num_sources: int, num_targets: int) -> Tensor:
    """Return the edges of a batch, by places of its nodes, or raise."""
    edges = _tensor(store, "edge_index", "nodes")
    if edges.dim() != 2 or edges.size(0) != 2:
        raise InputError(f"edge_index of a batch has shape {list(edges.shape)}, expected [2, E]")
    for ends, count in zip(edges, (num_sources, num_targets), strict=True):
        if not is_within(ends, count):
            raise InputError(
                f"edges of a batch aren't between its nodes, expected integers from 0 to "
                f"{count - 1}"
            )
    return edges


def check_values(store: Any, name: str, count: int) -> Tensor:
    """Return values of a batch's nodes or edges, or raise unless there is one for each."""
    value: Tensor = store[name]
    if value.size(0) != count:
        raise InputError(f"{name} of a batch has {value.size(0)} rows, expected {count}")
    return value


def num_seeds(store: Any, nodes: Tensor) -> int:
    """Return how many nodes at the beginning of a batch are learned from."""
    size = store.get("batch_size")
    return nodes.numel() if size is None else check_count(int(size), "batch_size", 0)


def is_within(numbers: Tensor, end: int) -> bool:
    """Return whether all are integers from 0 to below an end.

    Example:
        >>> is_within(torch.tensor([0, 3]), 3), is_within(torch.tensor([0.0]), 3)
        (False, False)
    """
    if numbers.is_floating_point() or numbers.is_complex() or numbers.dtype == torch.bool:
        return False
    return not numbers.numel() or 0 <= int(numbers.min()) <= int(numbers.max()) < end


def _tensor(store: Any, name: str, what: str) -> Tensor:
    value = store.get(name)
    if not isinstance(value, Tensor):
        raise InputError(
            f"a batch of the loader has no {name}, expected a loader that slices whatever {what} "
            "have"
        )
    return value
