"""Checks of input graphs."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from teddy.data.targets import CLASSES, Targets
from teddy.errors import InputError, warn
from teddy.graph.canonical import check_edges
from teddy.graph.edge_subgraph import LINK_FIELDS as LINK_FIELDS
from teddy.tensors import are_integers, as_tensor, dtype_text, shape_text

_LAYOUTS = (torch.strided, torch.sparse_csr, torch.sparse_coo, torch.sparse_csc)
MASKS = ("train_mask", "val_mask", "test_mask")
#: Field that ``Ticket.apply`` adds to a graph, so that no ticket prunes it a second time.
PRUNED_BY = "pruned_by"


def check_data(
    data: Data, source: str = "data", targets: Targets = CLASSES, integers: bool = False
) -> Data:
    """Return ``data`` if it is valid for a search, else raise an error with the first problem.

    Edges, features, labels and masks are checked. Integers become int64, features float32, sparse
    features CSR, and ``y`` of classes loses a second dimension of 1. If that changes a field, a
    shallow copy is returned; the input object does not change.

    Args:
        data: A graph with ``x``, ``edge_index``, ``y`` and the three masks, ``[N]``, or ``[N, K]``
            for K splits, each of which is checked.
        source: Name of the data in errors.
        targets: Checks of ``y``.
        integers: True to keep integer features as ids, see :func:`check_features`.

    Raises:
        InputError: with the source, the index, the value, and what was expected.

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
    data = check_graph(data, source, targets, integers=integers)
    check_masks(data, source, targets, several=True)
    return data


def check_graph(
    data: Data,
    source: str = "data",
    targets: Targets = CLASSES,
    labelled: bool = True,
    integers: bool = False,
) -> Data:
    """Check features, edges and labels of a graph, as in :func:`check_data`, without masks.

    Args:
        data: The graph.
        source: Name of the data in errors.
        targets: Checks of ``y``.
        labelled: True if ``y`` is required.
        integers: True to keep integer features as ids, see :func:`check_features`.
    """
    if not isinstance(data, Data):
        raise InputError(
            f"{source}: is a {type(data).__name__}, expected a torch_geometric.data.Data"
        )
    x = check_features(_get(data, "x"), source, integers)
    num_nodes = x.size(0)
    y = _get(data, "y")
    if isinstance(data, Batch) and isinstance(y, Tensor) and len(y) == data.num_graphs < num_nodes:
        raise InputError(
            f"{source}: has {len(y)} graphs with one y each, expected one graph, or the task "
            "graph-classification (--task)"
        )
    declared = _get(data, "num_nodes")
    if declared is not None and declared != num_nodes:
        raise InputError(f"{source}: x has {num_nodes} rows, expected {declared} (num_nodes)")
    checked = {
        "x": x,
        "edge_index": check_edges(_get(data, "edge_index"), num_nodes, source),
    }
    if labelled or _get(data, "y") is not None:
        checked["y"] = targets.check(_get(data, "y"), num_nodes, source)
    changed = {key: value for key, value in checked.items() if value is not data[key]}
    if changed:
        data = copy.copy(data)
        for key, value in changed.items():
            data[key] = value
    return data


def check_features(features: Any, source: str = "data", integers: bool = False) -> Tensor:
    """Return features as float32, dense or CSR, or raise unless they are a finite ``[N, F]``.

    Args:
        features: The features.
        source: Name of the data in errors.
        integers: True if integer features are ids for an embedding, ``[N]`` or ``[N, F]``. They
            are returned as dense int64, since float32 is exact up to 2^24 only.

    Example:
        >>> check_features(torch.tensor([7, 2**24 + 1]), integers=True)
        tensor([       7, 16777217])
    """
    x = as_tensor(features, "x", "a feature matrix of shape [N, F]", source)
    if integers and are_integers(x) and x.dim() in (1, 2) and 0 not in x.shape:
        return (x if x.layout == torch.strided else x.to_dense()).long()
    if x.dim() != 2 or 0 in x.shape:
        raise InputError(f"{source}: x has shape {shape_text(x)}, expected [N, F], both above 0")
    if x.is_complex():
        raise InputError(f"{source}: x is {dtype_text(x)}, expected real numbers")
    if x.layout not in _LAYOUTS:
        raise InputError(f"{source}: x has layout {x.layout}, expected dense, CSR, COO or CSC")
    if x.layout not in (torch.strided, torch.sparse_csr):
        x = x.to_sparse_csr()
    as_float = x.to(torch.float32)
    stored = as_float if as_float.layout is torch.strided else as_float.values()
    finite = stored.isfinite()
    if not finite.all():
        index = (~finite).nonzero()[0]
        if as_float.layout is torch.strided:
            row, column = index.tolist()
            value = x[row, column].item()
        else:
            row = int(torch.searchsorted(x.crow_indices(), index, right=True)) - 1
            column, value = int(x.col_indices()[index]), x.values()[index].item()
        limit = " of at most 3.4e38" if math.isfinite(value) else ""
        raise InputError(
            f"{source}: x[{row}, {column}] is {value}, expected finite features{limit}"
        )
    return as_float


def check_masks(
    data: Data, source: str = "data", targets: Targets = CLASSES, several: bool = False
) -> None:
    """Raise unless the masks are disjoint and non-empty, and their rows have valid targets.

    Args:
        data: A graph with ``y`` and the masks.
        source: Name of the data in errors.
        targets: Checks of ``y``.
        several: True if masks may be ``[N, K]``, one column per split; then all are checked.
    """
    known = targets.known(data.y)
    masks = {key: check_mask(data, key, known.size(0), source, several) for key in MASKS}
    if all(mask.dim() == 1 for mask in masks.values()):
        _check_split(masks, data.y, known, source, targets)
        return
    for number in range(count_splits(masks, source)):
        columns = {
            key if mask.dim() == 1 else f"{key}[:, {number}]": mask_of_split(mask, number)
            for key, mask in masks.items()
        }
        _check_split(columns, data.y, known, source, targets)


def _check_split(
    masks: Mapping[str, Tensor], y: Tensor, known: Tensor, source: str, targets: Targets
) -> None:
    for key, mask in masks.items():
        if not mask.any():
            raise InputError(f"{source}: {key} has no {targets.row_name}, expected at least one")
        unlabelled = mask & ~known
        if unlabelled.any():
            row = int(unlabelled.nonzero()[0])
            got, name = y[row].tolist(), targets.row_name
            raise InputError(f"{source}: y[{row}] is {got}, expected a label: {name} is in {key}")
    for one, other in combinations(masks, 2):
        both = masks[one] & masks[other]
        if both.any():
            where = f"{targets.row_name} {int(both.nonzero()[0])}"
            raise InputError(f"{source}: {where} is in {one} and {other}, expected one of them")
    for key, mask in masks.items():
        targets.check_part(y[mask], key, source)


def check_mask(
    data: Data, key: str, num_nodes: int, source: str = "data", several: bool = False
) -> Tensor:
    """Return a mask, or raise unless it is bool ``[N]``, or ``[N, K]`` with several splits."""
    mask = as_tensor(_get(data, key), key, f"three bool masks: {', '.join(MASKS)}", source)
    if mask.dtype != torch.bool:
        raise InputError(f"{source}: {key} is {dtype_text(mask)}, expected bool")
    if several and mask.dim() == 2 and mask.size(0) == num_nodes and mask.size(1):
        return mask
    if mask.shape != (num_nodes,):
        wide = several and mask.dim() == 2
        expected = f"[{num_nodes}, K] for K splits" if wide else f"[{num_nodes}]"
        raise InputError(f"{source}: {key} has shape {shape_text(mask)}, expected {expected}")
    return mask


def count_splits(masks: Mapping[str, Tensor], source: str = "data") -> int:
    """Return the number of splits in masks, or raise if it differs.

    A mask ``[N]`` among others of ``[N, K]`` belongs to each of the K splits.

    Example:
        >>> wide = torch.ones(4, 10, dtype=torch.bool)
        >>> count_splits({"train_mask": wide, "val_mask": wide, "test_mask": wide[:, 0]})
        10
    """
    wide = {key: mask for key, mask in masks.items() if mask.dim() == 2}
    for key, mask in wide.items():
        first, expected = next(iter(wide.items()))
        if mask.size(1) != expected.size(1):
            raise InputError(
                f"{source}: {key} has shape {shape_text(mask)}, expected {shape_text(expected)} "
                f"as {first}"
            )
    return max((mask.size(1) for mask in wide.values()), default=1)


def mask_of_split(mask: Tensor, number: int) -> Tensor:
    """Return the mask of one split, bool ``[N]``.

    Example:
        >>> mask_of_split(torch.tensor([[True, False], [False, True]]), 1)
        tensor([False,  True])
    """
    return mask if mask.dim() == 1 else mask[:, number].contiguous()


def _get(data: Data, key: str) -> Any:
    return data.to_dict().get(key)


def warn_of_weight(data: Data, source: str = "data") -> None:
    """Warn if edges have a ``weight``, as by ``from_networkx``, and no ``edge_weight``.

    Args:
        data: A graph.
        source: Name of the data in errors.

    Example:
        >>> import torch
        >>> edges = torch.tensor([[0, 1], [1, 0]])
        >>> warn_of_weight(Data(edge_index=edges, edge_weight=torch.tensor([2.0, 2.0])))
    """
    weight, edges = data.get("weight"), data.get("edge_index")
    if "edge_weight" in data or not isinstance(weight, Tensor) or not isinstance(edges, Tensor):
        return
    if edges.dim() == 2 and weight.numel() == edges.size(1) == weight.size(0):
        name = "data.weight" if source == "data" else f"{source}: weight"
        warn(f"{name} is not used; rename it to edge_weight to use edge weights, or delete it")
