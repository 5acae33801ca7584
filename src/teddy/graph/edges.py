"""The canonical edge set of a graph, and the messages that run along it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.graph.beside import Beside
from teddy.graph.canonical import both_directions, canonical_pairs, check_edge_index
from teddy.graph.edge_values import check_edge_values, check_rows, one_each
from teddy.graph.groups import EdgeType, Groups
from teddy.graph.surroundings import Surroundings
from teddy.graph.weighted_graph import message_weights
from teddy.kernels.pattern import remember
from teddy.numbers import num_pruned_edges
from teddy.tensors import TensorMemory

# Canonical forms by number of nodes: the nodes, the pairs, and the pair of each column.
_canonical = TensorMemory()


@dataclass(frozen=True, eq=False)
class Messages:
    """Directed edges that a model sees, each once, sorted by source, then target.

    Attributes:
        index: int64 ``[2, E]``, source and target.
        pair: int64 ``[E]``: undirected edge of each; -1: a self-loop.
        values: ``edge_weight`` ``[E]``, ``edge_attr`` ``[E, ...]``; those that the model takes.
    """

    index: Tensor
    pair: Tensor
    values: Mapping[str, Tensor] = field(default_factory=dict)

    def where(self, stays: Tensor) -> Messages:
        """Some of them.

        Args:
            stays: bool ``[E]``.
        """
        values = {name: value[stays] for name, value in self.values.items()}
        return Messages(self.index[:, stays], self.pair[stays], values)


@dataclass(frozen=True, eq=False)
class Edges:
    """Each undirected edge once, in canonical order, and the messages that run along it.

    Two ``edge_index`` tensors that list the same edges, in whatever order, direction and number of
    times, give the same ``pairs``. What is pruned are these undirected edges: all messages of one
    share its fate. Self-loops, where the model sees any, are messages that no edge stands for:
    they always stay.

    The edges of a batch, and of a heterogeneous graph, are those of several graphs side by side,
    each with nodes of its own (:class:`~teddy.graph.groups.Groups`).

    Attributes:
        num_nodes: Number of nodes :math:`N`.
        pairs: int64 ``[2, M]``, ``pairs[0] < pairs[1]``, sorted, no duplicates.
        directed: Whether only listed directions carry messages; else both of each edge do.
        listed: Messages by edge type, None for the only one of a graph without types; empty:
            both directions of every edge.
        groups: Graphs of a batch, or relations; None: one graph.
        beside: Values of nodes and of the whole graph that the model takes.
        target: Node type that is predicted, of a heterogeneous graph.
        features: Features of the other types.

    Example:
        >>> edges = Edges.from_index(torch.tensor([[1, 0, 2, 2], [0, 1, 2, 1]]))
        >>> edges.pairs.tolist(), edges.degree.tolist()
        ([[0, 1], [1, 2]], [1, 2, 1])
        >>> edges.edge_index.tolist()
        [[0, 1, 1, 2], [1, 0, 2, 1]]
    """

    num_nodes: int
    pairs: Tensor
    directed: bool = False
    listed: Mapping[EdgeType | None, Messages] = field(default_factory=dict)
    groups: Groups | None = None
    beside: Beside = field(default_factory=Beside)
    target: str = ""
    features: Mapping[str, Tensor] = field(default_factory=dict)

    @staticmethod
    def from_columns(edge_index: Tensor, num_nodes: int | None = None) -> tuple[Edges, Tensor]:
        """Return the edges of an ``edge_index``, and the edge of each column (-1: a self-loop).

        A tensor that is still in use is looked at once.
        """
        known = _canonical.get(edge_index, num_nodes)
        if known is not None:
            return Edges(*known[:2]), known[2]
        edges, count = check_edge_index(edge_index, num_nodes)
        pairs, pair_of_column = canonical_pairs(edges, count)
        _canonical.put(edge_index, num_nodes, (count, pairs.view_as(pairs), pair_of_column))
        return Edges(count, pairs), pair_of_column

    @staticmethod
    def from_index(
        edge_index: Tensor,
        num_nodes: int | None = None,
        values: Mapping[str, Tensor] | None = None,
        directed: bool = False,
        self_loops: bool = False,
    ) -> Edges:
        """Return the edges of an ``edge_index``, with values of each column.

        Of an undirected graph both directions carry messages, with the same values: those of an
        edge that is listed once hold for both. What is listed more often must have the same values
        each time.

        Args:
            edge_index: Integer ``[2, E]``.
            num_nodes: Number of nodes; by default the highest index plus one.
            values: Tensors ``[E, ...]`` by name, such as ``edge_weight``.
            directed: Whether messages run along the listed direction only.
            self_loops: Whether self-loops are messages, each once; else they are left out.

        Example:
            >>> edge_index, weight = torch.tensor([[1, 2], [0, 1]]), torch.tensor([0.5, 2.0])
            >>> edges = Edges.from_index(edge_index, 3, {"edge_weight": weight})
            >>> edges.messages.index.tolist(), edges.messages.values["edge_weight"].tolist()
            ([[0, 1, 1, 2], [1, 0, 2, 1]], [0.5, 0.5, 2.0, 2.0])
            >>> Edges.from_index(edge_index, 3, directed=True).edge_index.tolist()
            [[1, 2], [0, 1]]
        """
        edges, pair_of_column = Edges.from_columns(edge_index, num_nodes)
        check_rows(values or {}, pair_of_column.numel())
        loop = pair_of_column < 0
        self_loops = self_loops and bool(loop.any())
        if not directed and not values and not self_loops:
            return edges
        index, own = edge_index.long(), dict(values or {})
        if not self_loops:
            index, own = index[:, ~loop], {name: value[~loop] for name, value in own.items()}
            pair_of_column = pair_of_column[~loop]
        if not directed:
            index = torch.cat([index, index.flip(0)], dim=1)
            own = {name: torch.cat([value, value]) for name, value in own.items()}
            pair_of_column = pair_of_column.repeat(2)
        found = unique_messages(index, pair_of_column, own, edges.num_nodes, directed)
        return replace(edges, directed=directed, listed={None: found})

    @staticmethod
    def from_data(
        data: Data, names: Iterable[str] = (), directed: bool = False, self_loops: bool = False
    ) -> Edges:
        """Return the edges of a graph, with the values of these names, which it must have."""
        columns = data.edge_index.size(1)
        values = {name: check_edge_values(name, data[name], columns) for name in names}
        return Edges.from_index(data.edge_index, data.num_nodes, values, directed, self_loops)

    @property
    def num_edges(self) -> int:
        """Number of undirected edges :math:`M`."""
        return self.pairs.size(1)

    @property
    def graph_nodes(self) -> int:
        """Nodes of the graph; of a heterogeneous one those of all types, each once."""
        types = {} if self.groups is None else self.groups.types
        return sum(types.values()) if types else self.num_nodes

    @cached_property
    def degree(self) -> Tensor:
        """int64 ``[N]``: number of neighbours."""
        return torch.bincount(self.pairs.flatten(), minlength=self.num_nodes)

    def sum_over_neighbours(self, table: Tensor) -> Tensor:
        """int64 ``[N]``: the sum of ``table[deg(u)]`` over the neighbours u of each node.

        Sums of integers are exact, whatever their order.
        """
        ends, other_ends = self.pairs.flatten(), self.pairs.flip(0).flatten()
        values = table[self.degree]
        return torch.zeros_like(values).index_add_(0, ends, values[other_ends])

    @cached_property
    def messages(self) -> Messages:
        """Messages of a graph without types."""
        if self.listed:
            return self.listed[None]
        messages = Messages(*both_directions(self.pairs, self.num_nodes))
        remember(messages.index, self.num_nodes)
        # It is in canonical order already, for whoever takes it for a graph of its own.
        known = self.num_nodes, self.pairs, messages.pair
        _canonical.put(messages.index, self.num_nodes, known)
        return messages

    @property
    def edge_index(self) -> Tensor:
        """Messages of a graph without types, int64 ``[2, E]``, sorted by source, then target."""
        return self.messages.index

    def subset(self, keep: Tensor) -> Edges:
        """The graph of all nodes with some of the edges, and all self-loops.

        Args:
            keep: bool ``[M]``.
        """
        pairs = self.pairs[:, keep]
        number = torch.cat([keep.long().cumsum(0) - 1, keep.new_full((1,), -1, dtype=torch.long)])
        stays = torch.cat([keep, keep.new_ones(1)])  # the last stands for the self-loops
        listed = {}
        for kind, messages in self.listed.items():
            part = messages.where(stays[messages.pair])
            listed[kind] = replace(part, pair=number[part.pair])
        return replace(self, pairs=pairs, listed=listed)

    def induced(self, nodes: Tensor) -> tuple[Edges, Tensor]:
        """The edges between some nodes, which are numbered anew in the same order.

        Args:
            nodes: bool ``[N]``; of a heterogeneous graph, of the target's nodes: all nodes of
                other types stay.

        Returns:
            The part, and bool ``[M]``: the edges of the whole that are in it.

        Example:
            >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
            >>> part, within = path.induced(torch.tensor([False, True, True]))
            >>> part.pairs.tolist(), within.tolist()
            ([[0], [1]], [False, True])
        """
        stays, groups = nodes, self.groups
        if groups is not None:
            stays, groups = groups.spread(self.target, nodes), groups.induced(self.target, nodes)
        within = stays[self.pairs[0]] & stays[self.pairs[1]]
        number, new_pair = stays.long().cumsum(0) - 1, within.long().cumsum(0) - 1
        own_number, listed = nodes.long().cumsum(0) - 1, {}
        for kind, messages in self.listed.items():
            index, inside = messages.index.clone(), torch.ones_like(messages.pair, dtype=torch.bool)
            for end, name in enumerate(("", "") if kind is None else (kind[0], kind[2])):
                if name == self.target:
                    inside &= nodes[index[end]]
                    index[end] = own_number[index[end]]
            some = replace(messages, index=index).where(inside)
            pair = torch.where(some.pair < 0, some.pair, new_pair[some.pair.clamp(min=0)])
            listed[kind] = replace(some, pair=pair)
        part = Edges(
            int(stays.sum()), number[self.pairs[:, within]], self.directed, listed, groups,
            self.beside.induced(nodes), self.target, self.features,
        )  # fmt: skip
        return part, within

    @cached_property
    def self_loops(self) -> Tensor:
        """Nodes that have a self-loop, int64 ``[L]``, ascending, of a graph without types."""
        if None not in self.listed:
            return self.pairs[0, :0]
        return self.messages.index[0, self.messages.pair < 0]

    @cached_property
    def weights(self) -> Tensor | None:
        """float64 ``[M]``: mean weight of the messages of each edge; None without weights."""
        return message_weights(self) if "edge_weight" in self.names else None

    @property
    def names(self) -> list[str]:
        """Names of the values of messages that a model is given."""
        names = dict.fromkeys(name for found in self.listed.values() for name in found.values)
        return list(names) if None in self.listed else sorted(names, reverse=True)

    @cached_property
    def group(self) -> Tensor:
        """int64 ``[M]``: group of each edge, ascending."""
        if self.groups is None:
            return torch.zeros_like(self.pairs[0])
        return self.groups.of_nodes(self.pairs[0])

    @cached_property
    def num_in_group(self) -> Tensor:
        """int64 ``[G]``: undirected edges of each group."""
        count = 1 if self.groups is None else len(self.groups)
        return torch.bincount(self.group, minlength=count)

    def num_pruned(self, sparsity: float) -> Tensor:
        r"""int64 ``[G]``: edges to remove of each group, :math:`\lceil p_g M_g \rceil`.

        With a budget over all groups ``[1]``, :math:`\lceil p_g M \rceil`.
        """
        counts = self.num_in_group
        if self.groups is not None and self.groups.budget == "all":
            counts = counts.sum().view(1)
        known, place = torch.unique(counts, return_inverse=True)
        found = [num_pruned_edges(sparsity, count) for count in known.tolist()]
        return counts.new_tensor(found)[place]

    def each(self) -> Iterator[tuple[Edges, slice, slice]]:
        """Each group as a graph of its own, without messages; its nodes and edges among all."""
        assert self.groups is not None
        ends, edge = self.groups.first.tolist(), 0
        for number, count in enumerate(self.num_in_group.tolist()):
            nodes, edges = slice(ends[number], ends[number + 1]), slice(edge, edge + count)
            yield (
                Edges(nodes.stop - nodes.start, self.pairs[:, edges] - nodes.start), nodes, edges,
            )  # fmt: skip
            edge += count

    @cached_property
    def union(self) -> tuple[Edges, Tensor]:
        """Simple graph of all groups together, and which of its edges each edge here is."""
        if self.groups is None or self.groups.node is None:
            return Edges(self.num_nodes, self.pairs), torch.arange(
                self.num_edges, device=self.pairs.device
            )
        return Edges.from_columns(self.node_pairs, self.graph_nodes)

    @cached_property
    def node_pairs(self) -> Tensor:
        """int64 ``[2, M]``: ends as nodes of the whole graph, the lower first."""
        if self.groups is None or self.groups.node is None:
            return self.pairs
        return self.groups.node[self.pairs].sort(dim=0).values

    def simple(self, keep: Tensor) -> tuple[Edges, Tensor]:
        """Simple graph of all groups together, and its edges that any group keeps, bool.

        Args:
            keep: bool ``[M]``.
        """
        graph, pair = self.union
        stays = torch.zeros_like(graph.pairs[0], dtype=torch.bool)
        stays[pair[keep].to(stays.device)] = True
        return graph, stays

    def columns(self, keep: Tensor | None = None) -> tuple[Tensor, int]:
        """All messages in one int64 ``[2, E]``, each edge type with nodes of its own, and how many.

        Args:
            keep: bool ``[M]``: messages of these edges only.
        """
        part = self if keep is None else self.subset(keep)
        if None in part.listed or not part.listed:
            return part.edge_index, self.num_nodes
        count, found = self.graph_nodes, part.listed.values()
        apart = [messages.index + number * count for number, messages in enumerate(found)]
        return torch.cat(apart, dim=1), count * len(apart)

    def tensors(self) -> list[Tensor]:
        """All that a model is given of the graph beside the target's features and the edges."""
        listed = self.listed.values()
        own = [m.values[name] for name in self.names for m in listed if name in m.values]
        return [*self.features.values(), *own, *self.beside.tensors()]

    def fields(self, keep: Tensor | None = None, numbered: bool = True) -> dict[str, Any]:
        """Inputs of a model: ``edge_index``, and values of messages, nodes and the whole graph.

        Of a heterogeneous graph ``edge_index`` is the surroundings of the target's nodes.

        Args:
            keep: bool ``[M]``: messages of these edges only.
            numbered: Whether surroundings tell the edge of each message, for masks of edges.
        """
        part = self if keep is None else self.subset(keep)
        if None in part.listed or not part.listed:
            values = part.messages.values
            return {"edge_index": part.edge_index, **values, **self.beside.fields()}
        listed: Mapping[Any, Messages] = part.listed
        of_edges: dict[str, dict[EdgeType, Tensor]] = {
            name: {kind: m.values[name] for kind, m in listed.items() if name in m.values}
            for name in self.names
        }
        count = part.num_edges  # one past the last edge stands for the self-loops
        pair = {kind: torch.where(m.pair < 0, count, m.pair) for kind, m in listed.items()}
        pair = pair if numbered else {}
        index = {kind: m.index for kind, m in listed.items()}
        return {"edge_index": Surroundings(dict(self.features), index, of_edges, pair, self.target)}

    def data(self, fields: Mapping[str, Any]) -> Data:
        """Return a graph with all messages, and some fields that a training looks at.

        ``input_levels`` names the values that the model is given, each with its level: ``edges``,
        ``nodes`` or ``whole``.
        """
        levels = {} if self.target else dict.fromkeys(self.names, "edges")
        levels |= dict.fromkeys(self.beside.nodes, "nodes")
        levels |= dict.fromkeys(self.beside.whole, "whole")
        return Data(**self.fields(), **fields, **({"input_levels": levels} if levels else {}))

    def fingerprint(self, keep: Tensor | None = None) -> str:
        """Return the sha256 of nodes and edges, however the edges were listed.

        Of a directed graph with the directions; of a heterogeneous one of its types with their
        nodes and its edge types with their messages. Self-loops that the model sees are part of
        it. Weights and attributes of edges may change, as features may.

        Args:
            keep: bool ``[M]``: of the graph with these edges only; None: all.

        Example:
            >>> once = Edges.from_index(torch.tensor([[0, 1], [1, 2]]))
            >>> twice = Edges.from_index(torch.tensor([[2, 1, 1, 0], [1, 2, 0, 1]]))
            >>> once.fingerprint() == twice.fingerprint()
            True
        """
        part = self if keep is None else self.subset(keep)
        if self.groups is not None and self.groups.types:
            digest = hashlib.sha256(f"hetero {sorted(self.groups.types.items())}\n".encode())
            for kind, messages in part.listed.items():
                digest.update(f"{kind} {messages.index.size(1)}\n".encode())
                digest.update(_bytes(messages.index))
            return digest.hexdigest()
        digest = hashlib.sha256(f"{part.num_nodes} nodes, {part.num_edges} edges\n".encode())
        digest.update(_bytes(part.pairs))
        if self.directed:
            digest = hashlib.sha256(f"directed {digest.hexdigest()}\n".encode())
            digest.update(_bytes(part.edge_index))
        elif self.self_loops.numel():
            digest = hashlib.sha256(f"self-loops {digest.hexdigest()}\n".encode())
            digest.update(_bytes(self.self_loops))
        return digest.hexdigest()


def unique_messages(
    index: Tensor, pair: Tensor, values: Mapping[str, Tensor], targets: int, directed: bool,
    where: str = "",
) -> Messages:  # fmt: skip
    """Return each message once, sorted by source, then target, with its edge and values.

    Args:
        index: int64 ``[2, E]``.
        pair: int64 ``[E]``, undirected edge of each column.
        values: Values of each column by name.
        targets: Number of nodes that a target can be.
        directed: Whether both directions may have different values, for the message.
        where: Place of the values, for the message.
    """
    keys, place = torch.unique(index[0] * targets + index[1], return_inverse=True)
    unique = torch.stack([keys // max(targets, 1), keys % max(targets, 1)])
    own = torch.full_like(keys, -1)
    own[place] = pair
    found = {n: one_each(f"{where}{n}", v, unique, place, directed) for n, v in values.items()}
    return Messages(unique, own, found)


def keep_columns(keep: Tensor, pair_of_column: Tensor) -> Tensor:
    """Spread the choice of edges to columns; self-loops stay.

    Args:
        keep: bool ``[M]``.
        pair_of_column: int64 ``[E]``, -1 for a self-loop.

    Example:
        >>> keep_columns(torch.tensor([False, True]), torch.tensor([1, 0, -1]))
        tensor([ True, False,  True])
    """
    return torch.cat([keep, keep.new_ones(1)])[pair_of_column]


def _bytes(numbers: Tensor) -> bytes:
    return numbers.cpu().contiguous().numpy().astype("<i8").tobytes()
