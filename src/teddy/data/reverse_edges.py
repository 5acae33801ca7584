"""Reverse messages of the relations of a heterogeneous graph."""

from __future__ import annotations

import copy

import torch
from torch_geometric.data import HeteroData

from teddy.errors import InputError
from teddy.graph.edges import Edges
from teddy.graph.groups import EdgeType, relation_text


def add_reverse_edges(data: HeteroData, source: str = "data") -> HeteroData:
    """The graph with messages in both directions, as PyG's ``ToUndirected`` names them.

    A relation ``(a, r, b)`` gets its reverse ``(b, rev_r, a)``; one within a type both directions
    of each edge. A relation whose reverse is there, by that name or by its edges, stays as it is.

    Args:
        data: The graph, with ``edge_index`` and perhaps ``edge_weight`` of each relation.
        source: Where it came from, for the message.

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
    found = copy.copy(data)
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
            found[kind].update({"edge_index": edges.edge_index, **edges.messages.values})
        else:
            reverse = {"edge_index": store.edge_index.flip(0), **values}
            found[last, f"rev_{name}", first].update(reverse)
    return found


def _is_reverse(data: HeteroData, one: EdgeType, other: EdgeType) -> bool:
    """Whether two relations are each other's reverse, by name or by all of their edges."""
    if (one[0], one[2]) != (other[2], other[0]):
        return False
    if one[1] == f"rev_{other[1]}" or other[1] == f"rev_{one[1]}":
        return True
    edges, back = data[one].edge_index, data[other].edge_index.flip(0)
    return torch.equal(edges.unique(dim=1), back.unique(dim=1))
