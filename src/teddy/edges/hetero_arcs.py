"""The arcs that a model sees of a heterogeneous graph: those of each relation, as they run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch_geometric.data import HeteroData

from teddy.data.arcs import check_edge_values, one_each
from teddy.data.hetero import EdgeType, check_relations, other_features, relation_text
from teddy.edges.arcs import Arcs
from teddy.edges.hetero import HeteroGraph
from teddy.edges.prune import keep_columns
from teddy.edges.relations import Groups
from teddy.edges.signals import Signals
from teddy.edges.simple_graph import SimpleGraph


@dataclass(frozen=True)
class Surroundings:
    """All that nodes of one type meet in a graph: what a model is given beside their features.

    Attributes:
        x_dict: The features of the other types.
        edge_index_dict: The arcs of each relation, sorted by source, then target, each once.
        of_edges: ``edge_weight`` and ``edge_attr``, where the model takes them: of each relation
            that has them, a value for each arc.
        edge_of: Undirected edge of each arc, counted over all relations; one past the last: none,
            since the arc is a self-loop.
        target: The type of the nodes.
    """

    x_dict: dict[str, Tensor]
    edge_index_dict: dict[EdgeType, Tensor]
    of_edges: dict[str, dict[EdgeType, Tensor]] = field(default_factory=dict)
    edge_of: dict[EdgeType, Tensor] = field(default_factory=dict)
    target: str = ""

    def weighted(self, weights: Mapping[EdgeType, Tensor]) -> Surroundings:
        """Return the same with these weights of arcs, times those that they have.

        Args:
            weights: For each relation ``[A]``.

        Example:
            >>> writes = ("author", "writes", "paper")
            >>> index, double = torch.tensor([[0], [1]]), torch.tensor([2.0])
            >>> around = Surroundings({}, {writes: index}, {"edge_weight": {writes: double}})
            >>> around.weighted({writes: torch.tensor([0.25])}).of_edges["edge_weight"][writes]
            tensor([0.5000])
        """
        own = self.of_edges.get("edge_weight", {})
        product = {
            kind: weight * own[kind].to(weight) if kind in own else weight
            for kind, weight in weights.items()
        }
        return replace(self, of_edges={**self.of_edges, "edge_weight": product})

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Surroundings:
        """The same on a device; ``Data.to`` calls it so.

        Example:
            >>> from torch_geometric.data import Data
            >>> around = Surroundings({"author": torch.ones(2, 1)}, {}, target="paper")
            >>> Data(edge_index=around).to("meta").edge_index.x_dict["author"].device
            device(type='meta')
        """

        def moved(tensors: dict[Any, Tensor]) -> dict[Any, Tensor]:
            return {k: v.to(device, non_blocking=non_blocking) for k, v in tensors.items()}

        values = {name: moved(found) for name, found in self.of_edges.items()}
        parts = (moved(self.x_dict), moved(self.edge_index_dict), values, moved(self.edge_of))
        return Surroundings(*parts, self.target)


@dataclass(frozen=True)
class HeteroArcs(Arcs):
    """The arcs of all relations, with what belongs to each, and the features of all other types.

    Messages run along relations as they are listed: a relation has its direction, and its reverse
    is a relation of its own. Each arc is there once; self-loops stay.

    Attributes:
        graph: The undirected edges, in which each relation has nodes of its own.
        relations: The same as relations, which are pruned.
        target: The node type whose features come from elsewhere.
        index: Not used: each relation has its own.
        target: The type whose nodes are predicted.
        features: The features of the other types.
        index_of: int64 ``[2, A]`` of each relation.
        edge_of: Which of its relation's undirected edges each arc is of; -1: a self-loop.
        values_of: By name, then by relation, a value for each arc.

    Example:
        >>> data = HeteroData(author={"num_nodes": 2}, paper={"num_nodes": 2})
        >>> data["author", "writes", "paper"].edge_index = torch.tensor([[1, 0], [0, 1]])
        >>> arcs = HeteroArcs.of_hetero(data, "paper")
        >>> arcs.fields(torch.tensor([True, False]))["edge_index"].edge_index_dict
        {('author', 'writes', 'paper'): tensor([[0], [1]])}
    """

    relations: HeteroGraph = field(kw_only=True)
    target: str = field(kw_only=True)
    features: Mapping[str, Tensor] = field(default_factory=dict)
    index_of: Mapping[EdgeType, Tensor] = field(default_factory=dict)
    edge_of: Mapping[EdgeType, Tensor] = field(default_factory=dict)
    values_of: Mapping[str, Mapping[EdgeType, Tensor]] = field(default_factory=dict)

    @staticmethod
    def of_hetero(
        data: HeteroData,
        target: str,
        names: Iterable[str] = (),
        scope: str = "each",
        groups: Groups | None = None,
    ) -> HeteroArcs:
        """Of a graph, with the values of these names, of the relations that have them.

        Args:
            data: The graph.
            target: The node type whose features come from elsewhere.
            names: Of ``edge_weight`` and ``edge_attr``, what the model takes.
            scope: What edges are scored in; see :class:`~teddy.edges.hetero.HeteroGraph`.
            groups: Relations that are one, where that is known.
        """
        graph = HeteroGraph.of(data, scope, groups)
        nodes = dict(graph.nodes)
        edges = check_relations(data, nodes)
        edge_of_column: dict[EdgeType, Tensor] = {}
        for relation in graph.relations:
            edge_of_column |= relation.edge_of_column
        index_of: dict[EdgeType, Tensor] = {}
        edge_of: dict[EdgeType, Tensor] = {}
        values_of: dict[str, dict[EdgeType, Tensor]] = {name: {} for name in names}
        for kind, listed in edges.items():
            targets = max(nodes[kind[2]], 1)
            keys, place = torch.unique(listed[0] * targets + listed[1], return_inverse=True)
            index_of[kind] = torch.stack([keys // targets, keys % targets])
            edge_of[kind] = torch.full_like(keys, -1)
            edge_of[kind][place] = edge_of_column[kind]
            for name, found in values_of.items():
                if name in data[kind]:
                    where = f"data {relation_text(kind)}"
                    value = check_edge_values(name, data[kind][name], listed.size(1), where)
                    text = f"{where}: {name}"
                    found[kind] = one_each(text, value, index_of[kind], place, directed=True)
        return HeteroArcs(
            _apart([relation.graph for relation in graph.relations]),
            directed=True,
            relations=graph,
            target=target,
            features=other_features(data, target, nodes),
            index_of=index_of,
            edge_of=edge_of,
            values_of=values_of,
        )

    @cached_property
    def weights(self) -> Tensor | None:
        """The weight of each undirected edge, the mean of its arcs', float64 ``[M]``."""
        if "edge_weight" not in self.values_of:
            return None
        return self.relations.weights(self.values_of["edge_weight"], self.edge_of)

    def fields(self, keep: Tensor | None = None) -> dict[str, Any]:
        """As ``edge_index``: the surroundings of the target's nodes, of all edges or those to keep.

        Args:
            keep: bool ``[M]``.
        """
        if keep is None:
            keep = torch.ones_like(self.graph.pairs[0], dtype=torch.bool)
        edge_of = self._edge_among_all
        stays = {kind: keep_columns(keep, edge) for kind, edge in edge_of.items()}
        # Numbers of the kept edges; a self-loop's -1 takes the last, which is one past them.
        number = F.pad(keep.long().cumsum(0) - 1, (0, 1), value=int(keep.sum()))
        around = Surroundings(
            dict(self.features),
            {kind: index[:, stays[kind]] for kind, index in self.index_of.items()},
            {
                name: {kind: value[stays[kind]] for kind, value in found.items()}
                for name, found in self.values_of.items()
            },
            {kind: number[edge[stays[kind]]] for kind, edge in edge_of.items()},
            self.target,
        )
        return {"edge_index": around}

    @cached_property
    def _edge_among_all(self) -> dict[EdgeType, Tensor]:
        """Undirected edge of each arc, counted over all relations; -1: a self-loop."""
        found, before = {}, 0
        for relation in self.relations.relations:
            for kind in relation.edge_types:
                edge = self.edge_of[kind]
                found[kind] = torch.where(edge < 0, edge, edge + before)
            before += relation.graph.num_edges
        return {kind: found[kind] for kind in self.edge_of}

    @property
    def names(self) -> list[str]:
        """What a model is given of edges beside their ends."""
        return list(self.values_of)

    @property
    def num_nodes(self) -> int:
        """Nodes of all types."""
        return sum(self.relations.nodes.values())

    def choose(
        self,
        sparsity: float,
        score: str,
        seed: int = 0,
        weighted: bool = False,
        signals: Signals | None = None,
    ) -> Tensor:
        """The edges that a score keeps, of each relation or of all together, bool ``[M]``."""
        return self.relations.keep(sparsity, score, seed, self.weights if weighted else None)

    def simple(self, keep: Tensor) -> tuple[SimpleGraph, Tensor]:
        """The simple graph that all relations make together, and its edges that stay.

        An edge stays if any relation keeps it. Nodes are numbered type by type.

        Args:
            keep: bool ``[M]``.
        """
        graph, edge = self.relations.union
        stays = torch.zeros_like(graph.pairs[0], dtype=torch.bool)
        stays[edge[keep]] = True
        return graph, stays

    def columns(self, keep: Tensor | None = None) -> tuple[Tensor, int]:
        """All arcs in one ``[2, A]``, where each relation has nodes of its own; and their number.

        Args:
            keep: bool ``[M]``: the arcs of these edges only.
        """
        index = self.fields(keep)["edge_index"].edge_index_dict.values()
        count = self.num_nodes
        apart = [part + number * count for number, part in enumerate(index)]
        return torch.cat(apart, dim=1), count * len(apart)

    def induced(self, nodes: Tensor) -> tuple[HeteroArcs, Tensor]:
        """The arcs between some nodes of the target, numbered anew, and all of the other types.

        Args:
            nodes: bool, which of the target's nodes.

        Returns:
            The part, and bool ``[M]``: the edges of the whole that are in it.
        """
        graph, number = self.relations, nodes.long().cumsum(0) - 1
        found = [relation.induced(self.target, nodes) for relation in graph.relations]
        parts, within = zip(*found, strict=True)
        index_of: dict[EdgeType, Tensor] = {}
        edge_of: dict[EdgeType, Tensor] = {}
        values_of: dict[str, dict[EdgeType, Tensor]] = {name: {} for name in self.values_of}
        for part, edges in zip(parts, within, strict=True):
            new_number = edges.long().cumsum(0) - 1
            for kind in part.edge_types:
                index = self.index_of[kind].clone()
                inside = torch.ones_like(index[0], dtype=torch.bool)
                for end, name in enumerate((kind[0], kind[2])):
                    if name == self.target:
                        inside &= nodes[index[end]]
                        index[end] = number[index[end]]
                index_of[kind] = index[:, inside]
                edge = edge_of[kind] = self.edge_of[kind][inside]
                edge[edge >= 0] = new_number[edge[edge >= 0]]
                for name, values in self.values_of.items():
                    if kind in values:
                        values_of[name][kind] = values[kind][inside]
        part_graph = HeteroGraph({**graph.nodes, self.target: int(nodes.sum())}, parts, graph.scope)
        arcs = replace(
            self,
            graph=_apart([relation.graph for relation in parts]),
            relations=part_graph,
            index_of={kind: index_of[kind] for kind in self.index_of},
            edge_of=edge_of,
            values_of=values_of,
        )
        return arcs, torch.cat(within)

    def tensors(self) -> list[Tensor]:
        """All that a model is given beside the target's features and the edges."""
        values = [value for found in self.values_of.values() for value in found.values()]
        return [*self.features.values(), *values]


def _apart(graphs: list[SimpleGraph]) -> SimpleGraph:
    """Graphs beside each other as one, each with nodes of its own.

    Example:
        >>> edge = SimpleGraph(2, torch.tensor([[0], [1]]))
        >>> _apart([edge, edge]).pairs.tolist()
        [[0, 2], [1, 3]]
    """
    before, pairs = 0, []
    for graph in graphs:
        pairs.append(graph.pairs + before)
        before += graph.num_nodes
    return SimpleGraph(before, torch.cat(pairs, dim=1))
