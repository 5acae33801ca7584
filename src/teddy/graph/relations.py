"""Edges of a heterogeneous graph, with a relation and its reverse as one.

Indices of nodes and edges don't depend on the order of types, relations or columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from teddy.errors import InputError
from teddy.graph.canonical import canonical_pairs, check_edge_values, check_edges
from teddy.graph.edges import Edges
from teddy.graph.groups import EdgeType, Groups, check_budget, relation_text
from teddy.graph.messages import Messages, unique_messages

#: Relations that are pruned as one: each with its reverse, or without one.
Pairing = Sequence[tuple[EdgeType, ...]]


def nodes_of_types(data: HeteroData, source: str = "data") -> dict[str, int]:
    """Return the number of nodes of each type, sorted, including types named by relations only.

    Example:
        >>> data = HeteroData(paper={"x": torch.ones(3, 1)}, author={"num_nodes": 2})
        >>> nodes_of_types(data)
        {'author': 2, 'paper': 3}
    """
    if not isinstance(data, HeteroData):
        kind = type(data).__name__
        raise InputError(f"{source}: is a {kind}, expected a torch_geometric.data.HeteroData")
    ends = {end for first, _, last in data.edge_types for end in (first, last)}
    counts = {}
    for name in sorted({*data.node_types, *ends}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a missing count is an error below
            count = data[name].num_nodes if name in data.node_types else None
        if count is None:
            raise InputError(
                f"{source}: node type '{name}' has unknown size, expected x or num_nodes"
            )
        counts[name] = int(count)
    return counts


def check_relations(
    data: HeteroData, nodes: Mapping[str, int], source: str = "data"
) -> dict[EdgeType, Tensor]:
    """Return the edges of each relation as int64 ``[2, E]``, sorted by relation, or raise.

    Args:
        data: The graph.
        nodes: Number of nodes of each type.
        source: Name of the data in errors.

    Example:
        >>> data = HeteroData(paper={"num_nodes": 3}, author={"num_nodes": 2})
        >>> data["author", "writes", "paper"].edge_index = torch.tensor([[2], [2]])
        >>> check_relations(data, nodes_of_types(data))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: data (author, writes, paper): edge_index[0, 0] is 2, expected a
        node from 0 to 1
    """
    edge_indices = {}
    for edge_type in sorted(data.edge_types):
        where = f"{source} {relation_text(edge_type)}"
        store = data[edge_type]
        if "edge_index" not in store:
            raise InputError(f"{where}: no edge_index, expected one for each relation")
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
        edge_indices[edge_type] = edges
    if not edge_indices:
        raise InputError(f"{source}: no relations, expected at least one")
    return edge_indices


def relation_edges(
    data: HeteroData,
    budget: str = "each",
    names: Iterable[str] = (),
    pairing: Pairing | None = None,
) -> tuple[Edges, dict[EdgeType, Tensor]]:
    """Return the edges of a heterogeneous graph, and the edge of each column of each relation.

    A relation ``(a, r, b)`` and its reverse ``(b, rev_r, a)``, named as by ``ToUndirected``, are
    one; so are two relations with exactly the same edges in reverse. A relation within one type
    that lists every edge in both directions has no reverse. Nodes of a relation between two types
    are numbered with the first type first.

    Args:
        data: The graph; invalid edges raise an error.
        budget: ``each``: degrees, scores and budget are those within each relation; ``all``: those
            of the union of all relations. Edges of two relations between the same nodes count
            as two.
        names: ``edge_weight`` and ``edge_attr``, if the model takes them.
        pairing: Relations that are one, if known.

    Example:
        >>> data = HeteroData(paper={"num_nodes": 3}, author={"num_nodes": 2})
        >>> data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1], [0, 2]])
        >>> data["paper", "written_by", "author"].edge_index = torch.tensor([[2, 0], [1, 0]])
        >>> edges, pair_of_column = relation_edges(data)
        >>> edges.groups.relations
        ((('author', 'writes', 'paper'), ('paper', 'written_by', 'author')),)
        >>> edges.pairs.tolist()  # author 0 and paper 0, author 1 and paper 2
        [[0, 1], [2, 4]]
    """
    nodes = nodes_of_types(data)
    edges = check_relations(data, nodes)
    pairing = _paired(edges, nodes) if pairing is None else pairing
    groups = Groups(torch.zeros(1, dtype=torch.long), check_budget(budget), True,
                    tuple(pairing), types=nodes)  # fmt: skip
    offsets = groups.offsets
    first, before, pairs, node = [0], 0, [], []
    pair_of_column: dict[EdgeType, Tensor] = {}
    for group in pairing:
        source, _, target = group[0]
        types = (source,) if source == target else (source, target)
        columns = [_numbered(kind, edges[kind], source, nodes) for kind in group]
        count = sum(nodes[name] for name in types)
        group_pairs, pair, _ = canonical_pairs(torch.cat(columns, dim=1), count)
        pairs.append(group_pairs + first[-1])
        node += [torch.arange(nodes[name]) + offsets[name] for name in types]
        parts = torch.where(pair < 0, pair, pair + before).split([c.size(1) for c in columns])
        pair_of_column |= dict(zip(group, parts, strict=True))
        first.append(first[-1] + count)
        before += group_pairs.size(1)
    device = pairs[0].device
    groups = Groups(
        torch.tensor(first, device=device), groups.budget, True, groups.relations,
        torch.cat(node).to(device), nodes,
    )  # fmt: skip
    messages: dict[EdgeType | None, Messages] = {
        kind: _messages(data, kind, index, pair_of_column[kind], names, nodes)
        for kind, index in edges.items()
    }
    whole = Edges(first[-1], torch.cat(pairs, dim=1), groups, True, messages)
    return whole, pair_of_column


def pairing_between(data: HeteroData, name: str, chosen: Tensor) -> Pairing:
    """Pair relations with their reverses, by the edges of some nodes of a type only.

    Args:
        data: The graph.
        name: The type; all nodes of other types count.
        chosen: bool, mask of the nodes of this type.
    """
    nodes = nodes_of_types(data)
    edges = check_relations(data, nodes)
    for kind, index in edges.items():
        inside = torch.ones_like(index[0], dtype=torch.bool)
        for end, node_type in enumerate((kind[0], kind[2])):
            if node_type == name:
                inside &= chosen[index[end]]
        edges[kind] = index[:, inside]
    return _paired(edges, nodes)


def _numbered(kind: EdgeType, index: Tensor, first: str, nodes: Mapping[str, int]) -> Tensor:
    """Return edges with nodes numbered over both types, those of type ``first`` first."""
    if kind[0] == kind[2]:
        return index
    before = [0, nodes[first]] if kind[0] == first else [nodes[first], 0]
    return index + index.new_tensor(before).view(2, 1)


def _messages(
    data: HeteroData, kind: EdgeType, index: Tensor, pair: Tensor, names: Iterable[str],
    nodes: Mapping[str, int],
) -> Messages:  # fmt: skip
    where, store = f"data {relation_text(kind)}", data[kind]
    values = {
        name: check_edge_values(name, store[name], index.size(1), where)
        for name in names
        if name in store
    }
    return unique_messages(index, pair, values, nodes[kind[2]], True, f"{where}: ")


def _paired(edges: Mapping[EdgeType, Tensor], nodes: Mapping[str, int]) -> Pairing:
    """Return each relation with its reverse, if it has one; sorted."""
    single, groups = dict.fromkeys(sorted(edges)), []

    def join(one: EdgeType, other: EdgeType) -> None:
        del single[one], single[other]
        groups.append((min(one, other), max(one, other)))

    for first, name, last in sorted(edges):
        one, other = (first, name, last), (last, f"rev_{name}", first)
        if one in single and other in single:
            join(one, other)
    for one in sorted(single):
        candidates = [k for k in single if k != one and (k[0], k[2]) == (one[2], one[0])]
        if one not in single or not candidates:
            continue
        back = _keys(edges[one].flip(0), nodes[one[0]])
        both_ways = one[0] == one[2] and torch.equal(back, _keys(edges[one], nodes[one[2]]))
        if both_ways or not back.numel():
            continue
        for other in candidates:
            if torch.equal(_keys(edges[other], nodes[other[2]]), back):
                join(one, other)
                break
    return sorted([*groups, *((kind,) for kind in single)])


def _keys(edge_index: Tensor, num_targets: int) -> Tensor:
    """Return an integer key for each message, sorted and unique."""
    keys: Tensor = torch.unique(edge_index[0] * num_targets + edge_index[1])
    return keys
