"""What has to hold of a graph of several node types and relations, a ``HeteroData``."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from teddy.data.checks import MASKS, check_data, check_edges, check_features, check_graph
from teddy.errors import InputError

#: Type of the source, name, type of the target; as PyG calls a relation.
EdgeType = tuple[str, str, str]


def relation_text(edge_type: EdgeType) -> str:
    """A relation as it is named in a message.

    Example:
        >>> relation_text(("author", "writes", "paper"))
        '(author, writes, paper)'
    """
    return f"({', '.join(edge_type)})"


def nodes_of_types(data: HeteroData, source: str = "data") -> dict[str, int]:
    """How many nodes each type has, sorted by type; those that relations name among them.

    Example:
        >>> data = HeteroData(paper={"x": torch.ones(3, 1)}, author={"num_nodes": 2})
        >>> nodes_of_types(data)
        {'author': 2, 'paper': 3}
    """
    if not isinstance(data, HeteroData):
        kind = type(data).__name__
        raise InputError(f"{source}: is a {kind}, expected a torch_geometric.data.HeteroData")
    ends = {end for first, _, last in data.edge_types for end in (first, last)}
    found = {}
    for name in sorted({*data.node_types, *ends}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where it can't be known, that is said below
            count = data[name].num_nodes if name in data.node_types else None
        if count is None:
            raise InputError(
                f"{source}: node type '{name}' has no number of nodes, expected x or num_nodes"
            )
        found[name] = int(count)
    return found


def check_relations(
    data: HeteroData, nodes: dict[str, int], source: str = "data"
) -> dict[EdgeType, Tensor]:
    """Return the edges of each relation as int64 ``[2, E]``, sorted by relation, or raise.

    Args:
        data: The graph.
        nodes: Nodes of each type.
        source: Where it came from, for the message.

    Example:
        >>> data = HeteroData(paper={"num_nodes": 3}, author={"num_nodes": 2})
        >>> data["author", "writes", "paper"].edge_index = torch.tensor([[2], [2]])
        >>> check_relations(data, nodes_of_types(data))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: data (author, writes, paper): edge_index[0, 0] is 2, expected a
        node from 0 to 1
    """
    found = {}
    for edge_type in sorted(data.edge_types):
        where = f"{source} {relation_text(edge_type)}"
        store = data[edge_type]
        if "edge_index" not in store:
            raise InputError(f"{where}: there is no edge_index, expected one for each relation")
        counts = nodes[edge_type[0]], nodes[edge_type[2]]
        edges = check_edges(store.edge_index, max(counts), where)
        for end, count in enumerate(counts):
            outside = edges[end] >= count
            if outside.any():
                column = int(outside.nonzero()[0])
                raise InputError(
                    f"{where}: edge_index[{end}, {column}] is {int(edges[end, column])}, "
                    f"expected a node from 0 to {count - 1}"
                )
        found[edge_type] = edges
    if not found:
        raise InputError(f"{source}: there are no relations, expected at least one")
    return found


def check_target(data: HeteroData, target: str | None) -> str:
    """Return the node type that has the targets, or raise if there is none of that name.

    Example:
        >>> check_target(HeteroData(paper={"x": torch.ones(3, 1)}), "papers")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: target is 'papers', expected a node type that has y: one of paper
    """
    if target is None or target not in data.node_types:
        known = ", ".join(sorted(data.node_types))
        got = "not given" if target is None else f"'{target}'"
        raise InputError(f"target is {got}, expected a node type that has y: one of {known}")
    return target


def target_data(
    data: HeteroData, target: str, task: str = "classification", labelled: bool = True
) -> Data:
    """The nodes that are predicted as a graph of their own, without edges: ``x``, ``y``, masks.

    Args:
        data: The graph.
        target: Their type.
        task: What ``y`` has to be like.
        labelled: Whether there have to be ``y`` and masks; else features alone are checked.
    """
    store, source = data[target], f"data['{target}']"
    given: dict[str, Any] = {
        key: store[key] for key in ("x", "y", *MASKS, "num_nodes", "feature_names") if key in store
    }
    for key in ("name", "class_names", "split", "split_seed"):  # of the graph, not of a type
        if getattr(data, key, None) is not None:
            given[key] = getattr(data, key)
    view = Data(edge_index=torch.empty(2, 0, dtype=torch.long), **given)
    if labelled:
        return check_data(view, source, task, integers=True)
    bare = copy.copy(view)
    bare.y = None
    return check_graph(bare, source, labelled=False, integers=True)


def other_features(data: HeteroData, target: str, nodes: dict[str, int]) -> dict[str, Tensor]:
    """The features of all types but one, sorted by type, of those that have any.

    Args:
        data: The graph.
        target: The type to leave out.
        nodes: Nodes of each type.
    """
    found = {}
    for name, count in nodes.items():
        if name == target or "x" not in data[name]:
            continue
        source = f"data['{name}']"
        x = check_features(data[name].x, source, integers=True)
        if x.size(0) != count:
            raise InputError(f"{source}: x has {x.size(0)} rows, expected {count} (num_nodes)")
        found[name] = x if x.layout == torch.strided else x.to_dense()
    return found
