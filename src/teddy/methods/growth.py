"""The inductive setting: a training that sees its own nodes only, and graphs that grow past it."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import MASKS
from teddy.data.features import select_rows
from teddy.edges import Arcs, SimpleGraph


@dataclass(frozen=True)
class Stage:
    """The graph of some nodes.

    Attributes:
        arcs: Its edges, and what belongs to them.
        data: ``x``, ``y``, masks and the arcs' fields of these nodes.
        known: bool ``[M]``: which edges are of the training graph.
    """

    arcs: Arcs
    data: Data
    known: Tensor

    @property
    def graph(self) -> SimpleGraph:
        """The undirected edges."""
        return self.arcs.graph

    def subgraph(self, keep: Tensor | None) -> Data:
        """The graph with the kept edges only; all of them for None."""
        if keep is None:
            return self.data
        sparse = copy.copy(self.data)
        for name, value in self.arcs.fields(keep).items():
            sparse[name] = value
        return sparse


def transductive(data: Data, arcs: Arcs) -> Stage:
    """The whole graph, which training sees.

    Args:
        data: ``x``, ``y`` and the masks.
        arcs: The edges.
    """
    fields = {key: data[key] for key in ("x", "y", *MASKS)}
    pairs = arcs.graph.pairs
    every = torch.ones(pairs.size(1), dtype=torch.bool, device=pairs.device)
    return Stage(arcs, Data(**arcs.fields(), **fields), every)


def inductive(data: Data, arcs: Arcs) -> tuple[Stage, Stage, Stage]:
    """The graph as it grows: of the training nodes, with those that validate, whole.

    Nothing of a node that comes later is in an earlier stage: no feature, label, edge or degree.

    Example:
        >>> masks = {name: torch.arange(3) == i for i, name in enumerate(MASKS)}
        >>> data = Data(x=torch.eye(3), y=torch.tensor([0, 1, 1]), **masks)
        >>> arcs = Arcs.of(torch.tensor([[0, 0], [1, 2]]), 3)
        >>> [stage.graph.num_edges for stage in inductive(data, arcs)]
        [0, 1, 2]
    """
    everyone = torch.ones_like(data.train_mask)
    _, trained = arcs.induced(data.train_mask)
    stages = []
    for nodes in (data.train_mask, data.train_mask | data.val_mask, everyone):
        part, within = arcs.induced(nodes)
        fields = {key: data[key][nodes] for key in ("y", *MASKS)}
        fields["x"] = select_rows(data.x, nodes)
        stages.append(Stage(part, Data(**part.fields(), **fields), trained[within]))
    first, second, third = stages
    return first, second, third
