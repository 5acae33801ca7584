"""The relations of a heterogeneous graph as undirected graphs; a relation and its reverse are one.

Numbers of nodes and edges here don't depend on the order in which types, relations or edges are
listed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from teddy.data.hetero import EdgeType, check_relations, nodes_of_types
from teddy.edges.induced import induced_graph
from teddy.edges.simple_graph import SimpleGraph


@dataclass(frozen=True)
class Relation:
    """A relation and its reverse, if there is one, as one simple undirected graph.

    Between two node types it is bipartite: the first type's nodes come first, then the second's.

    Attributes:
        edge_types: The relation, and perhaps its reverse.
        types: The two node types, or one twice.
        first_nodes: Nodes of the first type.
        graph: The edges, each once, whatever its directions.
        edge_of_column: For each column of each ``edge_index`` its edge; -1: a self-loop.
    """

    edge_types: tuple[EdgeType, ...]
    types: tuple[str, str]
    first_nodes: int
    graph: SimpleGraph
    edge_of_column: Mapping[EdgeType, Tensor]

    @staticmethod
    def of(
        edge_types: tuple[EdgeType, ...], edges: Mapping[EdgeType, Tensor], nodes: Mapping[str, int]
    ) -> Relation:
        """Of one or two relations, whose edges are checked.

        Args:
            edge_types: Their names, sorted.
            edges: The ``edge_index`` of each.
            nodes: Nodes of each type.
        """
        first, _, second = edge_types[0]
        bipartite = first != second
        numbered = []
        for edge_type in edge_types:
            index = edges[edge_type]
            if bipartite:
                before = [0, nodes[first]] if edge_type[0] == first else [nodes[first], 0]
                index = index + index.new_tensor(before).view(2, 1)
            numbered.append(index)
        count = nodes[first] + (nodes[second] if bipartite else 0)
        graph, edge_of_column = SimpleGraph.of(torch.cat(numbered, dim=1), count)
        parts = edge_of_column.split([index.size(1) for index in numbered])
        places = dict(zip(edge_types, parts, strict=True))
        return Relation(edge_types, (first, second), nodes[first], graph, places)

    def numbered(self, pairs: Tensor, offsets: Mapping[str, int]) -> Tensor:
        """Pairs of its nodes, where the nodes of all types are numbered one after the other.

        Args:
            pairs: int64 ``[2, P]``, as ``graph`` numbers them.
            offsets: What the first node of each type is called.
        """
        first, second = self.types
        if first == second:
            return pairs + offsets[first]
        of_second = pairs >= self.first_nodes
        shift = torch.where(of_second, offsets[second] - self.first_nodes, offsets[first])
        return (pairs + shift).sort(dim=0).values

    def induced(self, name: str, nodes: Tensor) -> tuple[Relation, Tensor]:
        """The relation between some nodes of a type, numbered anew, and all nodes of the others.

        It has no columns: :attr:`edge_of_column` is empty.

        Args:
            name: The type.
            nodes: bool, which of its nodes.

        Returns:
            The part, and bool ``[M]``: the edges of the whole that are in it.
        """
        first, second = self.types
        counts = [self.first_nodes, self.graph.num_nodes - self.first_nodes]
        ends = (
            [(first, counts[0])] if first == second else list(zip(self.types, counts, strict=True))
        )
        stays = [nodes if end == name else nodes.new_ones(count) for end, count in ends]
        graph, within = induced_graph(self.graph, torch.cat(stays))
        part = Relation(self.edge_types, self.types, int(stays[0].sum()), graph, {})
        return part, within


#: Relations that are one: each with its reverse, or alone.
Groups = Sequence[tuple[EdgeType, ...]]


def find_relations(
    data: HeteroData, groups: Groups | None = None
) -> tuple[dict[str, int], tuple[Relation, ...]]:
    """Nodes of each type, and the relations, both sorted by name.

    A relation ``(a, r, b)`` and ``(b, rev_r, a)``, as ``ToUndirected`` calls it, are one; so are
    two without such names that hold exactly each other's edges, reversed. Relations of one type
    that list every edge in both directions are no one's reverse.

    Args:
        data: The graph.
        groups: Relations that are one, where that is known.

    Example:
        >>> data = HeteroData(paper={"num_nodes": 3}, author={"num_nodes": 2})
        >>> data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1], [0, 2]])
        >>> data["paper", "written_by", "author"].edge_index = torch.tensor([[2, 0], [1, 0]])
        >>> nodes, (relation,) = find_relations(data)
        >>> nodes, relation.edge_types
        ({'author': 2, 'paper': 3},
         (('author', 'writes', 'paper'), ('paper', 'written_by', 'author')))
        >>> relation.graph.pairs.tolist()  # author 0 and paper 0, author 1 and paper 2
        [[0, 1], [2, 4]]
    """
    nodes = nodes_of_types(data)
    edges = check_relations(data, nodes)
    groups = _groups(edges, nodes) if groups is None else groups
    return nodes, tuple(Relation.of(group, edges, nodes) for group in groups)


def groups_between(data: HeteroData, name: str, chosen: Tensor) -> Groups:
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
    return _groups(edges, nodes)


def _groups(
    edges: Mapping[EdgeType, Tensor], nodes: Mapping[str, int]
) -> list[tuple[EdgeType, ...]]:
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
        back = _arcs(edges[one].flip(0), nodes[one[0]])
        both_ways = one[0] == one[2] and torch.equal(back, _arcs(edges[one], nodes[one[2]]))
        if both_ways or not back.numel():
            continue
        for other in fitting:
            if torch.equal(_arcs(edges[other], nodes[other[2]]), back):
                join(one, other)
                break
    return sorted([*groups, *((kind,) for kind in single)])


def _arcs(edge_index: Tensor, num_targets: int) -> Tensor:
    """A number for each arc, sorted, each once."""
    keys: Tensor = torch.unique(edge_index[0] * num_targets + edge_index[1])
    return keys
