"""Reverse relations of a heterogeneous graph."""

from __future__ import annotations

import copy

import torch
from torch_geometric.data import HeteroData

from teddy.errors import InputError
from teddy.graph.edges import Edges
from teddy.graph.groups import EdgeType, relation_text


def add_reverse_edges(data: HeteroData, source: str = "data") -> HeteroData:
    """Return the graph with messages in both directions, named as by PyG's ``ToUndirected``.

    A relation ``(a, r, b)`` gets its reverse ``(b, rev_r, a)``; a relation within a type gets both
    directions of each edge. A relation with an existing reverse, by name or by edges, is unchanged.

    Args:
        data: The graph, with ``edge_index`` and optionally ``edge_weight`` of each relation.
        source: Name of the data in errors.

    Example:
        >>> data = HeteroData(author={"num_nodes": 2}, paper={"num_nodes": 3})
        >>> data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1], [2, 0]])
        >>> data["paper", "cites", "paper"].edge_index = torch.tensor([[0], [2]])
        >>> both = add_reverse_edges(data)
        >>> both["paper", "rev_writes", "author"].edge_index.tolist()
        [[2, 0], [0, 1]]
        >>> both["paper", "cites", "paper"].edge_index.tolist()
        [[0, 2], [2, 0]]
    """
    result = copy.copy(data)
    for kind in data.edge_types:
        if any(_is_reverse(data, kind, other) for other in data.edge_types if other != kind):
            continue
        first, name, last = kind
        store = data[kind]
        values = {"edge_weight": store.edge_weight} if "edge_weight" in store else {}
        if first == last:
            try:
                edges = Edges.from_edge_index(
                    store.edge_index, data[first].num_nodes, values, self_loops=True
                )
            except InputError as error:
                raise InputError(f"{source} {relation_text(kind)}: {error}") from None
            result[kind].update({"edge_index": edges.edge_index, **edges.messages.values})
        else:
            reverse = {"edge_index": store.edge_index.flip(0), **values}
            result[last, f"rev_{name}", first].update(reverse)
    return result


def _is_reverse(data: HeteroData, one: EdgeType, other: EdgeType) -> bool:
    """Return True if two relations are reverses of each other, by name or by all edges."""
    if (one[0], one[2]) != (other[2], other[0]):
        return False
    if one[1] == f"rev_{other[1]}" or other[1] == f"rev_{one[1]}":
        return True
    edges, back = data[one].edge_index, data[other].edge_index.flip(0)
    return torch.equal(edges.unique(dim=1), back.unique(dim=1))
