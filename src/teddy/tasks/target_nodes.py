"""Target nodes of a heterogeneous graph, and the edges of all relations."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from teddy.data.checks import MASKS, PRUNED_BY, check_data, check_features, check_graph
from teddy.data.features import num_features
from teddy.data.targets import CLASSES, Targets
from teddy.errors import InputError
from teddy.graph.edges import Edges
from teddy.graph.groups import relation_text
from teddy.graph.relations import Pairing, nodes_of_types, relation_edges


def check_target(data: HeteroData, target: str | None) -> str:
    """Return the node type of the targets, by default the only one with ``y``, or raise.

    Example:
        >>> data = HeteroData(paper={"x": torch.ones(3, 1), "y": torch.ones(3)})
        >>> check_target(data, None)
        'paper'
        >>> check_target(data, "papers")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: target is 'papers', expected a node type that has y: one of paper
    """
    labelled: list[str] = [name for name in data.node_types if "y" in data[name]]
    if target is None and len(labelled) == 1:
        return labelled[0]
    if target is None or target not in data.node_types:
        known = ", ".join(sorted(labelled or data.node_types))
        got = "not given" if target is None else f"'{target}'"
        raise InputError(f"target is {got}, expected a node type that has y: one of {known}")
    return target


def target_nodes(data: HeteroData, target: str) -> Data:
    """Return the nodes of one type as a ``Data`` without edges, unchecked.

    Args:
        data: The graph.
        target: Their type.
    """
    store = data[target]
    fields = ("x", "y", *MASKS, "num_nodes", "feature_names", "node_ids")
    given: dict[str, Any] = {key: store[key] for key in fields if key in store}
    for key in (
        "name",
        "class_names",
        "split",
        "split_seed",
        PRUNED_BY,
    ):  # of the graph, not of a type
        if getattr(data, key, None) is not None:
            given[key] = getattr(data, key)
    return Data(edge_index=torch.empty(2, 0, dtype=torch.long), **given)


def with_target_nodes(data: HeteroData, target: str, nodes: Data) -> HeteroData:
    """Return the graph with new features, targets and masks of one node type.

    Args:
        data: The graph.
        target: Their type.
        nodes: Result of :func:`target_nodes`; missing fields are removed from the type.
    """
    data = copy.copy(data)
    for key in ("x", "y", *MASKS):
        if key in nodes:
            data[target][key] = nodes[key]
        elif key in data[target]:
            del data[target][key]
    for key in ("split", "split_seed"):
        if key in nodes:
            setattr(data, key, nodes[key])
    return data


def target_data(
    data: HeteroData, target: str, targets: Targets = CLASSES, labelled: bool = True
) -> Data:
    """Return the checked target nodes: ``x``, ``y``, masks; see :func:`target_nodes`.

    Args:
        data: The graph.
        target: Their type.
        targets: Checks of ``y``.
        labelled: Whether ``y`` and masks are required; else only features are checked.
    """
    view, source = target_nodes(data, target), f"data['{target}']"
    if labelled:
        return check_data(view, source, targets, integers=True)
    view.y = None
    return check_graph(view, source, labelled=False, integers=True)


def other_features(data: HeteroData, target: str, nodes: dict[str, int]) -> dict[str, Tensor]:
    """Return the features of all types but one, sorted by type.

    Args:
        data: The graph.
        target: Type to leave out.
        nodes: Number of nodes of each type.
    """
    features = {}
    for name, count in nodes.items():
        if name == target or "x" not in data[name]:
            continue
        source = f"data['{name}']"
        x = check_features(data[name].x, source, integers=True)
        if x.size(0) != count:
            raise InputError(f"{source}: x has {x.size(0)} rows, expected {count} (num_nodes)")
        features[name] = x if x.layout == torch.strided else x.to_dense()
    return features


def target_edges(
    data: HeteroData,
    target: str,
    budget: str = "each",
    names: Iterable[str] = (),
    pairing: Pairing | None = None,
) -> Edges:
    """Return the edges of a heterogeneous graph, with features of all types but the target's.

    Args:
        data: The graph.
        target: Target node type.
        budget: ``each`` or ``all``, see :func:`teddy.graph.relation_edges`.
        names: Edge values that the model takes: ``edge_weight``, ``edge_attr``.
        pairing: Pairs of a relation and its reverse, if known.
    """
    edges, _ = relation_edges(data, budget, names, pairing)
    features = other_features(data, target, nodes_of_types(data))
    return replace(edges, target=target, features=features)


def hetero_metadata(edges: Edges, keep: Tensor) -> dict[str, Any]:
    """Return types and relations with their edge counts, as a ticket stores them.

    Args:
        edges: The graph.
        keep: Mask of the kept edges, bool ``[M]``.
    """
    groups = edges.groups
    assert groups is not None
    parts = zip(groups.relations, keep.split(edges.num_in_group.tolist()), strict=True)
    return {
        "target": edges.target,
        "scope": groups.budget,
        "nodes": dict(groups.types),
        "features": feature_widths(edges),
        "relations": [
            {
                "edge_types": [list(kind) for kind in kinds],
                "total": stays.numel(),
                "kept": int(stays.sum()),
            }
            for kinds, stays in parts
        ],
    }


def feature_widths(edges: Edges) -> dict[str, int]:
    """Return the number of features of each type but the target's."""
    return {name: num_features(x) for name, x in edges.features.items()}


def edge_counts(edges: Edges) -> str:
    """Return the number of edges of each relation as text."""
    assert edges.groups is not None
    parts = zip(edges.num_in_group.tolist(), edges.groups.relations, strict=True)
    return "edges " + ", ".join(f"{n} {relation_text(kinds[0])}" for n, kinds in parts)


def node_counts(nodes: Mapping[str, int]) -> str:
    """Return the number of nodes of each type as text."""
    return ", ".join(f"{count} {name}" for name, count in nodes.items())
