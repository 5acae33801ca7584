"""What has to hold of a graph before anything is computed on it."""

from __future__ import annotations

import copy
import math
from itertools import combinations
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.errors import InputError

_LAYOUTS = (torch.strided, torch.sparse_csr, torch.sparse_coo, torch.sparse_csc)
MASKS = ("train_mask", "val_mask", "test_mask")

# The last layer has a weight per class: a label such as a year-month-day is a mistake, not a class.
_MOST_CLASSES = 100_000


def check_data(data: Data, source: str = "data") -> Data:
    """Return ``data`` if a ticket can be found on it, else raise with the first thing wrong.

    Edges, features, labels and masks are looked at. Integer types become int64, features float32,
    sparse features CSR, and a ``[N, 1]`` ``y`` loses its second dimension: where that changes
    something, a shallow copy is returned. The caller's object stays as it is.

    Args:
        data: A graph with ``x``, ``edge_index``, ``y`` (-1: no label) and the three masks.
        source: Where it came from, for the message.

    Raises:
        InputError: One line: the source, the index, the value, and what was expected.

    Example:
        >>> data = Data(
        ...     x=torch.tensor([[1.0], [math.nan], [0.0], [1.0]]),
        ...     edge_index=torch.tensor([[0, 1], [1, 2]]),
        ...     y=torch.tensor([0, 1, 1, 0]),
        ...     train_mask=torch.tensor([True, True, False, False]),
        ...     val_mask=torch.tensor([False, False, True, False]),
        ...     test_mask=torch.tensor([False, False, False, True]),
        ... )
        >>> check_data(data, "graph.npz")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: graph.npz: x[1, 0] is nan, expected finite features
        >>> data.x[1, 0] = 0.5
        >>> check_data(data, "graph.npz") is data
        True
    """
    data = check_graph(data, source)
    check_masks(data, source)
    return data


def check_graph(data: Data, source: str = "data") -> Data:
    """The part of :func:`check_data` that needs no masks: features, edges and labels."""
    if not isinstance(data, Data):
        raise InputError(
            f"{source}: is a {type(data).__name__}, expected a torch_geometric.data.Data"
        )
    x = check_features(_get(data, "x"), source)
    num_nodes = x.size(0)
    declared = _get(data, "num_nodes")
    if declared is not None and declared != num_nodes:
        raise InputError(f"{source}: x has {num_nodes} rows, expected {declared} (num_nodes)")
    checked = {
        "x": x,
        "edge_index": check_edges(_get(data, "edge_index"), num_nodes, source),
        "y": check_labels(_get(data, "y"), num_nodes, source),
    }
    changed = {key: value for key, value in checked.items() if value is not data[key]}
    if changed:
        data = copy.copy(data)
        for key, value in changed.items():
            data[key] = value
    return data


def check_features(features: Any, source: str = "data") -> Tensor:
    """Return features as float32, dense or CSR, or raise unless they are a finite ``[N, F]``."""
    x = _tensor(features, "x", "a feature matrix of shape [N, F]", source)
    if x.dim() != 2 or 0 in x.shape:
        raise InputError(f"{source}: x has shape {_shape(x)}, expected [N, F], both above 0")
    if x.is_complex():
        raise InputError(f"{source}: x is {_dtype(x)}, expected real numbers")
    if x.layout not in _LAYOUTS:
        raise InputError(f"{source}: x is laid out as {x.layout}, expected dense, CSR, COO or CSC")
    if x.layout not in (torch.strided, torch.sparse_csr):
        x = x.to_sparse_csr()
    as_float = x.to(torch.float32)
    stored = as_float if as_float.layout is torch.strided else as_float.values()
    finite = stored.isfinite()
    if not finite.all():
        place = (~finite).nonzero()[0]
        if as_float.layout is torch.strided:
            row, column = place.tolist()
            value = x[row, column].item()
        else:
            row = int(torch.searchsorted(x.crow_indices(), place, right=True)) - 1
            column, value = int(x.col_indices()[place]), x.values()[place].item()
        limit = " of at most 3.4e38" if math.isfinite(value) else ""
        raise InputError(
            f"{source}: x[{row}, {column}] is {value}, expected finite features{limit}"
        )
    return as_float


def check_edges(edges: Any, num_nodes: int, source: str = "data") -> Tensor:
    """Return edges as int64, or raise unless they are ``[2, E]`` within ``num_nodes``."""
    edge_index = _tensor(edges, "edge_index", "an integer tensor of shape [2, E]", source)
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise InputError(f"{source}: edge_index has shape {_shape(edge_index)}, expected [2, E]")
    edge_index = _integers(edge_index, "edge_index", source)
    outside = (edge_index < 0) | (edge_index >= num_nodes)
    if outside.any():
        end, column = outside.nonzero()[0].tolist()
        node = int(edge_index[end, column])
        raise InputError(
            f"{source}: edge_index[{end}, {column}] is {node}, "
            f"expected a node from 0 to {num_nodes - 1}"
        )
    return edge_index


def check_labels(labels: Any, num_nodes: int, source: str = "data") -> Tensor:
    """Return labels as int64 ``[N]``, or raise unless they are classes, or -1 for no label."""
    y = _tensor(labels, "y", "an integer label for each node", source)
    if y.dim() == 2 and y.size(1) == 1:
        y = y.squeeze(1)
    if y.dim() != 1 or y.size(0) != num_nodes:
        raise InputError(f"{source}: y has shape {_shape(y)}, expected [{num_nodes}]")
    y = _integers(y, "y", source)
    outside = (y < -1) | (y >= _MOST_CLASSES)
    if outside.any():
        node = int(outside.nonzero()[0])
        raise InputError(
            f"{source}: y[{node}] is {int(y[node])}, expected -1 (no label) or a class "
            f"from 0 to {_MOST_CLASSES - 1}"
        )
    return y


def check_masks(data: Data, source: str = "data") -> None:
    """Raise unless the masks are disjoint, filled, labelled, and training sees two classes."""
    y = data.y
    masks: dict[str, Tensor] = {}
    for key in MASKS:
        mask = _tensor(_get(data, key), key, f"three bool masks: {', '.join(MASKS)}", source)
        if mask.dtype != torch.bool:
            raise InputError(f"{source}: {key} is {_dtype(mask)}, expected bool")
        if mask.shape != y.shape:
            raise InputError(f"{source}: {key} has shape {_shape(mask)}, expected {_shape(y)}")
        if not mask.any():
            raise InputError(f"{source}: {key} holds no node, expected at least one")
        unlabelled = mask & (y < 0)
        if unlabelled.any():
            node = int(unlabelled.nonzero()[0])
            raise InputError(f"{source}: y[{node}] is -1, expected a label: node is in {key}")
        masks[key] = mask
    for one, other in combinations(MASKS, 2):
        both = masks[one] & masks[other]
        if both.any():
            node = int(both.nonzero()[0])
            raise InputError(f"{source}: node {node} is in {one} and {other}, expected one of them")
    classes = y[masks["train_mask"]].unique()
    if len(classes) < 2:
        raise InputError(
            f"{source}: every training label is {int(classes[0])}, expected at least two classes"
        )


def _get(data: Data, key: str) -> Any:
    return data.to_dict().get(key)


def _tensor(value: Any, key: str, expected: str, source: str) -> Tensor:
    if value is None:
        raise InputError(f"{source}: no {key}, expected {expected}")
    if not isinstance(value, Tensor):
        raise InputError(f"{source}: {key} is a {type(value).__name__}, expected a tensor")
    return value


def _integers(value: Tensor, key: str, source: str) -> Tensor:
    if value.is_floating_point() or value.is_complex() or value.dtype == torch.bool:
        raise InputError(f"{source}: {key} is {_dtype(value)}, expected integers")
    return value.long()


def _shape(value: Tensor) -> str:
    return str(list(value.shape))


def _dtype(value: Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")
