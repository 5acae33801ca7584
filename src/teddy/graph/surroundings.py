"""Inputs of a heterogeneous module beside the features of the nodes that are predicted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from teddy.graph.groups import EdgeType


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
