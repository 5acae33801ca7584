"""The edges of a heterogeneous graph; a relation and its reverse are one.

Numbers of nodes and edges here don't depend on the order in which types, relations or edges are
listed.
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

#: Relations that are one: each with its reverse, or alone.
Pairing = Sequence[tuple[EdgeType, ...]]


def nodes_of_types(data: HeteroData, source: str = "data") -> dict[str, int]:
    """Return the number of nodes of each type, sorted; types that relations name among them.

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
            warnings.simplefilter("ignore")  # where it can't be known, the error below says so
            count = data[name].num_nodes if name in data.node_types else None
        if count is None:
            raise InputError(
                f"{source}: node type '{name}' has no number of nodes, expected x or num_nodes"
            )
        found[name] = int(count)
    return found


def check_relations(
    data: HeteroData, nodes: Mapping[str, int], source: str = "data"
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


def relation_edges(
    data: HeteroData,
    budget: str = "each",
    names: Iterable[str] = (),
    pairing: Pairing | None = None,
) -> tuple[Edges, dict[EdgeType, Tensor]]:
    """Return the edges of a heterogeneous graph, and the edge of each column of each relation.

    A relation ``(a, r, b)`` and ``(b, rev_r, a)``, as ``ToUndirected`` calls it, are one; so are
    two without such names that hold exactly each other's edges, reversed. Relations of one type
    that list every edge in both directions are no one's reverse. A relation between two types has
    the first type's nodes first, then the second's.

    Args:
        data: The graph, which is checked.
        budget: ``each``: degrees, scores and budget are of each relation by itself; ``all``: of
            the graph that all make together. Edges of two relations between the same nodes are
            two edges.
        names: Of ``edge_weight`` and ``edge_attr``, the values that the model takes.
        pairing: Relations that are one, where that is known.

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
        one, _, other = group[0]
        types = (one,) if one == other else (one, other)
        columns = [_numbered(kind, edges[kind], one, nodes) for kind in group]
        count = sum(nodes[name] for name in types)
        found, pair, _ = canonical_pairs(torch.cat(columns, dim=1), count)
        pairs.append(found + first[-1])
        node += [torch.arange(nodes[name]) + offsets[name] for name in types]
        parts = torch.where(pair < 0, pair, pair + before).split([c.size(1) for c in columns])
        pair_of_column |= dict(zip(group, parts, strict=True))
        first.append(first[-1] + count)
        before += found.size(1)
    device = pairs[0].device
    groups = Groups(
        torch.tensor(first, device=device), groups.budget, True, groups.relations,
        torch.cat(node).to(device), nodes,
    )  # fmt: skip
    listed: dict[EdgeType | None, Messages] = {
        kind: _messages(data, kind, index, pair_of_column[kind], names, nodes)
        for kind, index in edges.items()
    }
    whole = Edges(first[-1], torch.cat(pairs, dim=1), groups, True, listed)
    return whole, pair_of_column


def pairing_between(data: HeteroData, name: str, chosen: Tensor) -> Pairing:
    """Relations that are one, by the edges of some nodes of a type alone.

    Args:
        data: The graph.
        name: The type; all nodes of other types count.
        chosen: bool, which of its nodes.
    """
    nodes = nodes_of_types(data)
    edges = check_relations(data, nodes)
    for kind, index in edges.items():
        inside = torch.ones_like(index[0], dtype=torch.bool)
        for end, of_type in enumerate((kind[0], kind[2])):
            if of_type == name:
                inside &= chosen[index[end]]
        edges[kind] = index[:, inside]
    return _paired(edges, nodes)


def _numbered(kind: EdgeType, index: Tensor, one: str, nodes: Mapping[str, int]) -> Tensor:
    """Edges where the nodes of type ``one`` come first, then those of the other type, if any."""
    if kind[0] == kind[2]:
        return index
    before = [0, nodes[one]] if kind[0] == one else [nodes[one], 0]
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
    """Each relation with its reverse, or alone; sorted."""
    single, groups = dict.fromkeys(sorted(edges)), []

    def join(one: EdgeType, other: EdgeType) -> None:
        del single[one], single[other]
        groups.append((min(one, other), max(one, other)))

    for first, name, last in sorted(edges):
        one, other = (first, name, last), (last, f"rev_{name}", first)
        if one in single and other in single:
            join(one, other)
    for one in sorted(single):
        fitting = [k for k in single if k != one and (k[0], k[2]) == (one[2], one[0])]
        if one not in single or not fitting:
            continue
        back = _keys(edges[one].flip(0), nodes[one[0]])
        both_ways = one[0] == one[2] and torch.equal(back, _keys(edges[one], nodes[one[2]]))
        if both_ways or not back.numel():
            continue
        for other in fitting:
            if torch.equal(_keys(edges[other], nodes[other[2]]), back):
                join(one, other)
                break
    return sorted([*groups, *((kind,) for kind in single)])


def _keys(edge_index: Tensor, num_targets: int) -> Tensor:
    """A number for each message, sorted, each once."""
    keys: Tensor = torch.unique(edge_index[0] * num_targets + edge_index[1])
    return keys
