"""Checks of what a server is asked and given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from teddy.errors import InputError
from teddy.serving.graph import ServedGraph

Array = NDArray[Any]
#: Numbers of nodes.
Nodes: TypeAlias = Tensor | Sequence[int] | Array


def as_nodes(nodes: Nodes, graph: ServedGraph) -> Array:
    """Return numbers of nodes as int64 ``[B]``, or raise."""
    queries = np.asarray(nodes.cpu() if isinstance(nodes, Tensor) else nodes)
    if queries.size and (queries.dtype.kind not in "iu" or queries.ndim != 1):
        raise InputError(
            f"nodes are {queries.dtype} of shape {list(queries.shape)}, expected integers [B]"
        )
    queries = queries.reshape(-1).astype(np.int64)
    graph.check_nodes(queries)
    return queries


def as_edges(edge_index: Tensor, graph: ServedGraph) -> Array:
    """Return the ends of edges as integers ``[2, P]``, or raise."""
    edges = edge_index.cpu().numpy()
    if edges.ndim != 2 or edges.shape[0] != 2 or edges.dtype.kind not in "iu":
        raise InputError(
            f"edge_index is {edges.dtype} of shape {list(edges.shape)}, expected integers [2, P]"
        )
    graph.check_nodes(edges.ravel(), "edge_index")
    return edges


def check_values(values: Mapping[str, Tensor], count: int, graph: ServedGraph) -> None:
    """Raise unless edges come with the values that the network takes, one for each edge."""
    expected, got = sorted(graph.values), sorted(values)
    if expected != got:
        raise InputError(
            f"edges came with {', '.join(got) or 'no values'}, "
            f"expected {', '.join(expected) or 'no values'}, as the network takes"
        )
    for name, value in values.items():
        if value.size(0) != count:
            raise InputError(f"{name} has {value.size(0)} rows, expected {count}")


def as_new_features(x: Tensor, width: tuple[int, ...]) -> Tensor:
    """Return the features of some nodes, dense, or raise.

    Args:
        x: The features ``[B, F]``.
        width: Shape of a row.
    """
    x = x.detach().cpu()
    x = x.to_dense() if x.layout != torch.strided else x
    if x.dim() != 1 + len(width) or tuple(x.shape[1:]) != width:
        expected = ", ".join(["B", *map(str, width)])
        raise InputError(f"x has shape {list(x.shape)}, expected [{expected}]")
    if x.is_floating_point() and not bool(torch.isfinite(x).all()):
        raise InputError("x has values that are not finite, expected numbers")
    return x
