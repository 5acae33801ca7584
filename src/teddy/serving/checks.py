"""Checks of what a server is asked and given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from teddy.errors import InputError
from teddy.models import GNN
from teddy.serving.graph import ServedGraph

Array = NDArray[Any]
#: Numbers of nodes.
Nodes: TypeAlias = Tensor | Sequence[int] | Array


def check_inputs(model: nn.Module, x: Tensor, edge_values: Mapping[str, Tensor]) -> None:
    """Raise unless a network is a module, and takes these features and values of messages."""
    name = type(model).__name__
    if not isinstance(model, nn.Module):
        raise InputError(f"model is a {name}, expected a module")
    if not isinstance(model, GNN):
        return
    if x.dim() != 2 or x.size(1) != model.in_channels:
        raise InputError(f"x has shape {list(x.shape)}, expected [N, {model.in_channels}]")
    known = [] if model.by_node else ["edge_weight"]
    if unknown := sorted(set(edge_values).difference(known)):
        expected = " or ".join([*known, "nothing"])
        raise InputError(f"a {name} does not take {', '.join(unknown)}, expected {expected}")
    if any(value.dim() != 1 for value in edge_values.values()):
        raise InputError("edge_weight has several columns, expected shape [E]")


def as_nodes(nodes: Nodes, graph: ServedGraph) -> Array:
    """Return numbers of nodes as int64 ``[B]``, or raise."""
    try:
        queries = np.asarray(nodes.detach().cpu() if isinstance(nodes, Tensor) else nodes)
    except (TypeError, ValueError):  # such as lists of unequal lengths
        raise InputError(f"nodes is a {type(nodes).__name__}, expected integers [B]") from None
    if queries.dtype.kind == "b":
        raise InputError("nodes is a mask, expected numbers (use mask.nonzero().view(-1))")
    if queries.size and (queries.dtype.kind not in "iu" or queries.ndim != 1):
        raise InputError(
            f"nodes are {queries.dtype} of shape {list(queries.shape)}, expected integers [B]"
        )
    queries = queries.reshape(-1).astype(np.int64)
    graph.check_nodes(queries)
    return queries


def as_edges(edge_index: Tensor, graph: ServedGraph) -> Array:
    """Return the ends of edges as integers ``[2, P]``, or raise."""
    edges = _as_tensor("edge_index", edge_index).numpy()
    if edges.ndim != 2 or edges.shape[0] != 2 or edges.dtype.kind not in "iu":
        raise InputError(
            f"edge_index is {edges.dtype} of shape {list(edges.shape)}, expected integers [2, P]"
        )
    graph.check_nodes(edges.ravel(), "edge_index")
    return edges


def as_values(values: Mapping[str, Tensor], count: int, graph: ServedGraph) -> dict[str, Tensor]:
    """Return the values of some edges as the network takes them, or raise."""
    expected, got = sorted(graph.values), sorted(values)
    if expected != got:
        raise InputError(
            f"edges came with {', '.join(got) or 'no values'}, "
            f"expected {', '.join(expected) or 'no values'}, as the network takes"
        )
    checked = {}
    for name, known in graph.values.items():
        shape, value = [count, *known.shape[1:]], _as_tensor(name, values[name])
        if list(value.shape) != shape:
            raise InputError(f"{name} has shape {list(value.shape)}, expected {shape}")
        checked[name] = _finite(name, value.to(known.dtype))
    return checked


def as_new_features(x: Tensor, width: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Return the features of some nodes, dense, or raise.

    Args:
        x: The features ``[B, F]``.
        width: Shape of a row.
        dtype: Type of the features of the graph.
    """
    x = _as_tensor("x", x)
    x = x.to_dense() if x.layout != torch.strided else x
    if x.dim() != 1 + len(width) or tuple(x.shape[1:]) != width:
        expected = ", ".join(["B", *map(str, width)])
        raise InputError(f"x has shape {list(x.shape)}, expected [{expected}]")
    if x.dtype.is_complex or (x.is_floating_point() and not dtype.is_floating_point):
        raise InputError(f"x is {x.dtype}, expected {dtype}")
    return _finite("x", x.to(dtype))


def _as_tensor(name: str, value: Any) -> Tensor:
    try:
        return torch.as_tensor(value).detach().cpu()
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{name} is a {type(value).__name__}, expected a tensor") from None


def _finite(name: str, value: Tensor) -> Tensor:
    if not bool(torch.isfinite(value).all()):
        raise InputError(f"{name} has values that are not finite, expected numbers")
    return value
