"""Sets of graphs as one PyG ``Batch``, with a class and a part of the split for each graph."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Sequence, Sized
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from teddy.data.checks import MASKS, PRUNED_BY, check_features, check_masks
from teddy.data.splits import Masks, split_nodes
from teddy.data.targets import GRAPH_CLASSES, Targets
from teddy.errors import InputError
from teddy.graph.canonical import check_edge_values, check_edges
from teddy.sparsity import check_seed
from teddy.tensors import as_integers, as_tensor

#: A ``Batch``, or a list or a PyG data set of graphs.
GraphsLike: TypeAlias = Data | Sequence[Data]

#: Default split of graphs without one.
DRAWN = "80/10/10"

_VALUES = ("edge_weight", "edge_attr")

# Fields of every graph; modules may name other values of nodes and edges.
_USED = ("x", "edge_index", *_VALUES, "y", PRUNED_BY, *MASKS)
_NOT_EXTRA = (*_USED, "batch", "ptr", "graph_of_node")
_NOT_LEFT_OUT = (*_NOT_EXTRA, "num_nodes")


def graph_set(
    graphs: GraphsLike,
    split: str | Sequence[Any] | None = None,
    seed: int = 0,
    source: str = "graphs",
    targets: Targets = GRAPH_CLASSES,
) -> Batch:
    """Return labelled graphs as one ``Batch``, checked and split.

    Args:
        graphs: List or PyG data set of ``Data``, or a ``Batch``, with ``x``, ``edge_index`` and
            one class ``y``; optionally ``edge_weight``, ``edge_attr`` and a split: ``train_mask``,
            ``val_mask``, ``test_mask`` with one value each.
        split: Split of graphs as in :func:`teddy.load_dataset`, or the numbers of training,
            validation and test graphs. By default that of the graphs, else ``"80/10/10"``.
        seed: Seed of a drawn split.
        source: Name of the graphs in messages.
        targets: Checks of ``y``.

    Example:
        >>> path = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, 2]]), y=0)
        >>> edge = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]), y=1)
        >>> batch = graph_set([path, edge] * 2, split=([0, 1], [2], [3]))
        >>> batch.num_graphs, batch.y.tolist(), batch.test_mask.tolist()
        (4, [0, 1, 0, 1], [False, False, False, True])
    """
    batch = as_batch(graphs, source)
    y = targets.check(batch.get("y"), batch.num_graphs, source)
    batch = _without_graph_names(with_graph_values(batch, y=y))
    masks_given = given_split(batch, source)
    name = split if isinstance(split, str) else "given"
    if split is None:
        name = batch.get("split") or ("given" if masks_given is not None else DRAWN)
    drawn = name not in ("public", "given") and (split is not None or masks_given is None)
    if split is not None and not isinstance(split, str):
        masks = _numbered(split, y, source)
    elif drawn:
        masks = split_nodes(y, name, check_seed(seed), of="graph")
    elif masks_given is None:
        raise InputError(f"{source}: has no split, expected one such as '{DRAWN}'")
    else:
        masks = masks_given
    batch = with_graph_values(batch, **dict(zip(MASKS, masks, strict=True)))
    check_masks(batch, source, targets)
    batch.split = name
    if drawn:
        batch.split_seed = check_seed(seed)
    elif split is not None and "split_seed" in batch:
        del batch.split_seed  # of a split that was drawn before
    return batch


def as_batch(graphs: GraphsLike, source: str = "graphs") -> Batch:
    """Return graphs as one ``Batch`` with checked features and edges; a valid one unchanged.

    Args:
        graphs: ``Batch``, list or data set of ``Data``, or one ``Data``.
        source: Name of the graphs in messages.

    Raises:
        InputError: if a graph is invalid.

    Example:
        >>> as_batch([Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [2]]))])
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: graphs[0]: edge_index[1, 0] is 2, expected a node from 0 to 1
    """
    if isinstance(graphs, Batch) and isinstance(graphs, Data):
        return _checked_batch(graphs, source)
    if isinstance(graphs, Data) and "batch" not in graphs:
        graphs = [graphs]
    if isinstance(graphs, Data | Tensor | str | dict) or not isinstance(graphs, Iterable):
        raise InputError(
            f"{source}: is a {type(graphs).__name__}, expected a list of Data, or a Batch"
        )
    parts: list[Data] = []
    names: Counter[str] = Counter()
    for place, graph in enumerate(graphs):
        parts.append(_one(graph, f"{source}[{place}]"))
        names.update(key for key, value in graph if value is not None)
    if not parts:
        raise InputError(f"{source}: has no graphs, expected at least one")
    first = parts[0]
    for place, part in enumerate(parts):
        for key in {*part.keys(), *first.keys()} & {*_USED}:
            one, other = part.get(key), first.get(key)
            if one is None or other is None or one.shape[1:] != other.shape[1:]:
                if key == "edge_index":
                    continue
                got, expected = (_shape(value) for value in (one, other))
                raise InputError(
                    f"{source}[{place}]: {key} is {got}, expected {expected} as in {source}[0]"
                )
    for key in {key for part in parts for key in part.keys()} - {*_USED}:  # noqa: SIM118
        shapes = {None if key not in part else tuple(part[key].shape[1:]) for part in parts}
        if len(shapes) > 1:  # not a value of every graph
            for part in parts:
                part.pop(key, None)
    batch = Batch.from_data_list(parts)
    batch._left_out = {
        key: "is neither of nodes nor of edges" if count == len(parts) else "isn't of every graph"
        for key, count in names.items()
        if key not in batch and key not in _NOT_LEFT_OUT
    }
    return batch


def left_out(batch: Batch) -> dict[str, str]:
    """Return the fields that a list of graphs has and its ``Batch`` lacks, with the reason.

    Example:
        >>> graph = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]), u=torch.ones(3))
        >>> left_out(as_batch([graph]))
        {'u': 'is neither of nodes nor of edges'}
    """
    reasons: dict[str, str] = getattr(batch, "_left_out", {})
    return reasons


def with_graph_values(batch: Batch, **values: Tensor) -> Batch:
    """Return a copy of a ``Batch`` with these values of graphs."""
    changed = copy.copy(batch)
    changed._slice_dict = dict(changed._slice_dict)
    changed._inc_dict = dict(changed._inc_dict)
    for key, value in values.items():
        changed[key] = value
        changed._slice_dict[key] = torch.arange(changed.num_graphs + 1)
        changed._inc_dict[key] = torch.zeros(changed.num_graphs, dtype=torch.long)
    return changed


def _checked_batch(batch: Batch, source: str) -> Batch:
    if not hasattr(batch, "_slice_dict"):
        raise InputError(f"{source}: is a Batch made by hand, expected one of Batch.from_data_list")
    x = check_features(batch.get("x"), source, integers=True)
    edges = check_edges(batch.get("edge_index"), x.size(0), source)
    of_node, columns = batch.batch, batch._slice_dict["edge_index"].to(edges.device).diff()
    if of_node.size(0) != x.size(0):
        raise InputError(f"{source}: x has {x.size(0)} rows, expected {of_node.size(0)} (batch)")
    empty = torch.bincount(of_node, minlength=batch.num_graphs) == 0
    if empty.any():
        raise InputError(f"{source}[{int(empty.nonzero()[0])}]: has no nodes, expected one or more")
    if int(columns.sum()) != edges.size(1):
        raise InputError(
            f"{source}: edge_index has {edges.size(1)} columns, expected the {int(columns.sum())} "
            "that the Batch was made of: change edges of graphs before batching them"
        )
    graph = torch.arange(batch.num_graphs, device=edges.device).repeat_interleave(columns)
    outside = of_node[edges] != graph
    if outside.any():
        end, column = outside.nonzero()[0].tolist()
        raise InputError(
            f"{source}: edge_index[{end}, {column}] is a node of graph "
            f"{int(of_node[edges[end, column]])}, expected one of graph {int(graph[column])}"
        )
    if x is batch.x and edges is batch.edge_index and x.layout == torch.strided:
        return batch
    changed = copy.copy(batch)
    changed.x = x if x.layout == torch.strided else x.to_dense()
    changed.edge_index = edges
    return changed


def _one(graph: Any, source: str) -> Data:
    """Return a checked graph with the fields that are used."""
    if not isinstance(graph, Data):
        raise InputError(f"{source}: is a {type(graph).__name__}, expected a Data")
    x = check_features(graph.get("x"), source, integers=True)
    if graph.num_nodes != x.size(0):
        raise InputError(f"{source}: x has {x.size(0)} rows, expected {graph.num_nodes}")
    edges = check_edges(graph.get("edge_index"), x.size(0), source)
    part = Data(x=x if x.layout == torch.strided else x.to_dense(), edge_index=edges)
    for key in _VALUES:
        if graph.get(key) is not None:
            part[key] = check_edge_values(key, graph[key], edges.size(1), source)
    for key in ("y", PRUNED_BY, *MASKS):
        value = graph.get(key)
        if value is None:
            continue
        if isinstance(value, bool | int | float):
            value = torch.tensor(value)
        value = as_tensor(value, key, "one value for the graph", source)
        if value.numel() != 1:
            raise InputError(
                f"{source}: {key} has shape {list(value.shape)}, expected one value for the graph"
            )
        part[key] = value.view(1)
    for key, value in graph:
        rows = value.size(0) if isinstance(value, Tensor) and value.dim() else None
        if key not in _NOT_EXTRA and rows is not None and rows in (x.size(0), edges.size(1)):
            part[key] = value
    return part


def _without_graph_names(batch: Batch) -> Batch:
    """Remove fields of single graphs whose names have another meaning for a set."""
    for key in ("name", "split", "split_seed", "class_names", "feature_names", "graph_of_node"):
        if key in batch and key in batch._slice_dict:
            del batch[key], batch._slice_dict[key]
            batch._inc_dict.pop(key, None)
    return batch


def _shape(value: Tensor | None) -> str:
    return "missing" if value is None else f"of shape {list(value.shape)}"


def given_split(raw: Data, source: str) -> Masks | None:
    """Return the masks of data, or None."""
    present = [key for key in MASKS if key in raw]
    if present and len(present) < len(MASKS):
        missing = next(key for key in MASKS if key not in raw)
        raise InputError(
            f"{source}: has {present[0]} but no {missing}, expected all three masks or none"
        )
    return (raw.train_mask, raw.val_mask, raw.test_mask) if present else None


def _numbered(split: Sequence[Any], y: Tensor, source: str) -> Masks:
    """Return masks from the numbers of graphs."""
    parts = len(split) if isinstance(split, Sized) else None
    if parts != len(MASKS):
        got = f"is {split}" if parts is None else f"has {parts} parts"
        raise InputError(
            f"{source}: split {got}, expected the numbers of graphs that train, validate and test"
        )
    masks = []
    for part in split:
        mask = torch.zeros(y.size(0), dtype=torch.bool)
        try:
            numbers = torch.as_tensor(part).flatten()
            if numbers.numel():  # of none the type is unknown
                mask[as_integers(numbers, "split", source).cpu()] = True
                if numbers.min() < 0:
                    raise IndexError
        except (TypeError, ValueError, RuntimeError, IndexError):
            raise InputError(
                f"{source}: a part of the split isn't numbers of graphs, expected some from 0 to "
                f"{y.size(0) - 1}"
            ) from None
        masks.append(mask.to(y.device))
    train, val, test = masks
    return train, val, test
