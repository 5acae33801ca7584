"""Canonical edge set of a graph, and its messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.graph.canonical import (
    both_directions,
    canonical_pairs,
    check_edge_index,
    check_edge_values,
    check_rows,
)
from teddy.graph.fingerprint import edges_fingerprint
from teddy.graph.groups import EdgeType
from teddy.graph.inputs import ExtraInputs, HeteroInputs
from teddy.graph.messages import Messages, listed_messages
from teddy.graph.pairs import Pairs
from teddy.graph.weighted_graph import message_weights
from teddy.kernels.pattern import cache_pattern
from teddy.tensors import TensorCache

# Canonical forms by number of nodes: number of nodes, pairs, and the pair of each column.
_canonical = TensorCache()


@dataclass(frozen=True, eq=False)
class Edges(Pairs):
    """Undirected edges, each once and in canonical order, and their messages.

    Two ``edge_index`` tensors with the same edges, in any order and direction, with any
    duplicates, give the same ``pairs``. Pruning removes undirected edges with all their messages.
    Self-loops, where the model sees any, are messages without an undirected edge: always kept.

    Attributes:
        directed: True if only listed directions have messages; else both directions do.
        messages_by_type: Messages by edge type; the key is None in a graph without types. Empty:
            both directions of every edge.
        extra_inputs: Values of nodes and of the whole graph that the model takes.
        target: Predicted node type of a heterogeneous graph.
        features: Features of the other node types.
        pair_of_message: int64 ``[2 M]``, pair of each message, if known.

    Example:
        >>> edges = Edges.from_edge_index(torch.tensor([[1, 0, 2, 2], [0, 1, 2, 1]]))
        >>> edges.pairs.tolist(), edges.degree.tolist()
        ([[0, 1], [1, 2]], [1, 2, 1])
        >>> edges.edge_index.tolist()
        [[0, 1, 1, 2], [1, 0, 2, 1]]
    """

    directed: bool = False
    messages_by_type: Mapping[EdgeType | None, Messages] = field(default_factory=dict)
    extra_inputs: ExtraInputs = field(default_factory=ExtraInputs)
    target: str = ""
    features: Mapping[str, Tensor] = field(default_factory=dict)
    pair_of_message: Tensor | None = field(default=None, repr=False)

    @staticmethod
    def from_columns(edge_index: Tensor, num_nodes: int | None = None) -> tuple[Edges, Tensor]:
        """Return the edges of an ``edge_index``, and the edge of each column (-1: a self-loop)."""
        cached = _canonical.get(edge_index, num_nodes)
        if cached is None:
            edges, count = check_edge_index(edge_index, num_nodes)
            pairs, pair_of_column, in_order = canonical_pairs(edges, count)
            cached = count, pairs.detach(), pair_of_column, in_order
            _canonical.put(edge_index, num_nodes, cached)
        count, pairs, pair_of_column, in_order = cached
        pair = pair_of_column if in_order else None
        return Edges(count, pairs, pair_of_message=pair), pair_of_column

    @staticmethod
    def from_edge_index(
        edge_index: Tensor,
        num_nodes: int | None = None,
        values: Mapping[str, Tensor] | None = None,
        directed: bool = False,
        self_loops: bool = False,
    ) -> Edges:
        """Return the edges of an ``edge_index``, with values of each column.

        Both directions of an undirected graph have messages with the same values. An edge that is
        listed several times must have the same values each time.

        Args:
            edge_index: Integer ``[2, E]``.
            num_nodes: Number of nodes; by default the highest index plus one.
            values: Tensors ``[E, ...]`` by name, such as ``edge_weight``.
            directed: True if only the listed direction has messages.
            self_loops: True if self-loops are messages, each once; else they are removed.

        Example:
            >>> edge_index, weight = torch.tensor([[1, 2], [0, 1]]), torch.tensor([0.5, 2.0])
            >>> edges = Edges.from_edge_index(edge_index, 3, {"edge_weight": weight})
            >>> edges.messages.index.tolist(), edges.messages.values["edge_weight"].tolist()
            ([[0, 1, 1, 2], [1, 0, 2, 1]], [0.5, 0.5, 2.0, 2.0])
            >>> Edges.from_edge_index(edge_index, 3, directed=True).edge_index.tolist()
            [[1, 2], [0, 1]]
        """
        edges, pair_of_column = Edges.from_columns(edge_index, num_nodes)
        check_rows(values or {}, pair_of_column.numel())
        loop = pair_of_column < 0
        self_loops = self_loops and bool(loop.any())
        if not directed and not values and not self_loops:
            return edges
        messages = listed_messages(
            edge_index.long(), pair_of_column, values or {}, edges.num_nodes, directed, self_loops
        )
        return replace(edges, directed=directed, messages_by_type={None: messages})

    @staticmethod
    def from_data(
        data: Data, names: Iterable[str] = (), directed: bool = False, self_loops: bool = False
    ) -> Edges:
        """Return the edges of a graph with some of its edge fields, such as ``edge_weight``."""
        values = {n: check_edge_values(n, data[n], data.edge_index.size(1)) for n in names}
        return Edges.from_edge_index(data.edge_index, data.num_nodes, values, directed, self_loops)

    @cached_property
    def messages(self) -> Messages:
        """Messages of a homogeneous graph."""
        if self.messages_by_type:
            return self.messages_by_type[None]
        messages = Messages(*both_directions(self.pairs, self.num_nodes, self.pair_of_message))
        cache_pattern(messages.index, self.num_nodes)
        # These messages as an ``edge_index`` are in canonical order already.
        canonical = self.num_nodes, self.pairs, messages.pair, True
        _canonical.put(messages.index, self.num_nodes, canonical)
        return messages

    @property
    def edge_index(self) -> Tensor:
        """Messages of a homogeneous graph, int64 ``[2, E]``, sorted by source, then target."""
        return self.messages.index

    def subset(self, keep: Tensor) -> Edges:
        """Return the graph with the kept edges, all nodes and all self-loops.

        Args:
            keep: bool ``[M]``.
        """
        pairs = self.pairs[:, keep]
        number = torch.cat([keep.long().cumsum(0) - 1, keep.new_full((1,), -1, dtype=torch.long)])
        kept = torch.cat([keep, keep.new_ones(1)])  # the last entry is for self-loops
        parts = {}
        for kind, messages in self.messages_by_type.items():
            part = messages.where(kept[messages.pair])
            parts[kind] = replace(part, pair=number[part.pair])
        return replace(self, pairs=pairs, messages_by_type=parts, pair_of_message=None)

    def induced(self, nodes: Tensor) -> tuple[Edges, Tensor]:
        """Return the subgraph induced by some nodes, which are renumbered in the same order.

        Args:
            nodes: bool ``[N]``; in a heterogeneous graph bool over nodes of the target type: all
                nodes of other types are kept.

        Returns:
            The subgraph, and bool ``[M]``: True for edges within it.

        Example:
            >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
            >>> part, within = path.induced(torch.tensor([False, True, True]))
            >>> part.pairs.tolist(), within.tolist()
            ([[0], [1]], [False, True])
        """
        kept, groups = nodes, self.groups
        if groups is not None:
            kept, groups = groups.spread(self.target, nodes), groups.induced(self.target, nodes)
        within = kept[self.pairs[0]] & kept[self.pairs[1]]
        number, new_pair = kept.long().cumsum(0) - 1, within.long().cumsum(0) - 1
        messages = {
            kind: listed.induced(nodes, self._ends_of_target(kind), new_pair)
            for kind, listed in self.messages_by_type.items()
        }
        part = replace(
            self, num_nodes=int(kept.sum()), pairs=number[self.pairs[:, within]],
            messages_by_type=messages, groups=groups,
            extra_inputs=self.extra_inputs.induced(nodes), pair_of_message=None,
        )  # fmt: skip
        return part, within

    def _ends_of_target(self, kind: EdgeType | None) -> list[int]:
        """Rows of the message index, 0 or 1, with nodes of the predicted type, or the only type."""
        types = ("", "") if kind is None else (kind[0], kind[2])
        return [end for end, name in enumerate(types) if name == self.target]

    @cached_property
    def self_loops(self) -> Tensor:
        """Nodes with a self-loop, int64 ``[L]``, ascending, in a homogeneous graph."""
        if None not in self.messages_by_type:
            return self.pairs[0, :0]
        return self.messages.index[0, self.messages.pair < 0]

    @cached_property
    def weights(self) -> Tensor | None:
        """Mean weight of the messages of each edge, float64 ``[M]``; None without weights."""
        return message_weights(self) if "edge_weight" in self.value_names else None

    @property
    def value_names(self) -> list[str]:
        """Names of message values, such as ``edge_weight``, that are passed to a model."""
        names = dict.fromkeys(name for m in self.messages_by_type.values() for name in m.values)
        return list(names) if None in self.messages_by_type else sorted(names, reverse=True)

    def each_group(self) -> Iterator[tuple[Edges, slice, slice]]:
        """Yield each group as a graph without messages, and the slices of its nodes and edges."""
        assert self.groups is not None
        ends, edge = self.groups.first.tolist(), 0
        for number, count in enumerate(self.num_in_group.tolist()):
            nodes, edges = slice(ends[number], ends[number + 1]), slice(edge, edge + count)
            pairs = self.pairs[:, edges] - nodes.start
            yield Edges(nodes.stop - nodes.start, pairs), nodes, edges
            edge += count

    @cached_property
    def union(self) -> tuple[Edges, Tensor]:
        """Simple graph of all groups together, and the index of each edge in it."""
        if self.groups is None or self.groups.node is None:
            return Edges(self.num_nodes, self.pairs), torch.arange(
                self.num_edges, device=self.pairs.device
            )
        return Edges.from_columns(self.node_pairs, self.graph_nodes)

    def simple(self, keep: Tensor) -> tuple[Edges, Tensor]:
        """Simple graph of all groups together, and a bool mask of the edges kept in any group."""
        graph, pair = self.union
        kept = torch.zeros_like(graph.pairs[0], dtype=torch.bool)
        kept[pair[keep].to(kept.device)] = True
        return graph, kept

    def stacked_messages(self, keep: Tensor | None = None) -> tuple[Tensor, int]:
        """All messages in one int64 ``[2, E]``, and the number of nodes; edge types share none."""
        part = self if keep is None else self.subset(keep)
        if None in part.messages_by_type or not part.messages_by_type:
            return part.edge_index, self.num_nodes
        count, parts = self.graph_nodes, part.messages_by_type.values()
        shifted = [messages.index + number * count for number, messages in enumerate(parts)]
        return torch.cat(shifted, dim=1), count * len(shifted)

    def tensors(self) -> list[Tensor]:
        """Tensors of the graph other than edges and target features that are passed to a model."""
        parts = self.messages_by_type.values()
        values = [m.values[name] for name in self.value_names for m in parts if name in m.values]
        return [*self.features.values(), *values, *self.extra_inputs.tensors()]

    def fields(self, keep: Tensor | None = None, numbered: bool = True) -> dict[str, Any]:
        """Return model inputs: ``edge_index``, and values of messages, nodes and the whole graph.

        For a heterogeneous graph ``edge_index`` is a :class:`~teddy.graph.inputs.HeteroInputs`.

        Args:
            keep: bool ``[M]``: messages of these edges only.
            numbered: True if heterogeneous inputs include the edge of each message, for masks.
        """
        part = self if keep is None else self.subset(keep)
        if None in part.messages_by_type or not part.messages_by_type:
            values = part.messages.values
            return {"edge_index": part.edge_index, **values, **self.extra_inputs.fields()}
        count = part.num_edges if numbered else None
        messages, names = part.messages_by_type, self.value_names
        inputs = HeteroInputs.from_messages(part.features, messages, names, count)
        return {"edge_index": replace(inputs, target=self.target)}

    def data(self, fields: Mapping[str, Any]) -> Data:
        """Return a graph with all messages and some fields for training.

        ``input_levels`` names the values that are passed to the model, each with its level:
        ``edges``, ``nodes`` or ``whole``.
        """
        levels = {} if self.target else dict.fromkeys(self.value_names, "edges")
        levels |= dict.fromkeys(self.extra_inputs.nodes, "nodes")
        levels |= dict.fromkeys(self.extra_inputs.whole, "whole")
        return Data(**self.fields(), **fields, **({"input_levels": levels} if levels else {}))

    def fingerprint(self, keep: Tensor | None = None) -> str:
        """Return the sha256 of nodes and edges; their order in ``edge_index`` does not matter.

        It includes directions in a directed graph, node and edge types in a heterogeneous graph,
        and self-loops if the model sees them; not features, weights and attributes.

        Args:
            keep: bool ``[M]``: edges to include; None: all.

        Example:
            >>> once = Edges.from_edge_index(torch.tensor([[0, 1], [1, 2]]))
            >>> twice = Edges.from_edge_index(torch.tensor([[2, 1, 1, 0], [1, 2, 0, 1]]))
            >>> once.fingerprint() == twice.fingerprint()
            True
        """
        return edges_fingerprint(self if keep is None else self.subset(keep))
