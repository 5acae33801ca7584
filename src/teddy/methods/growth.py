"""The inductive setting: a training that sees its own nodes only, and graphs that grow past it."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import MASKS
from teddy.data.features import select_rows
from teddy.edges import SimpleGraph
from teddy.edges.induced import induced_graph


@dataclass(frozen=True)
class Stage:
    """The graph of some nodes.

    Attributes:
        graph: Its edges.
        data: ``x``, ``y``, masks and ``edge_index`` of these nodes.
        known: bool ``[M]``: which edges are of the training graph.
    """

    graph: SimpleGraph
    data: Data
    known: Tensor

    def subgraph(self, keep: Tensor | None) -> Data:
        """The graph with the kept edges only; all of them for None."""
        if keep is None:
            return self.data
        sparse = copy.copy(self.data)
        sparse.edge_index = self.graph.edge_index(keep)
        return sparse


def transductive(data: Data, graph: SimpleGraph) -> Stage:
    """The whole graph, which training sees.

    Args:
        data: ``x``, ``y`` and the masks.
        graph: The edges.
    """
    fields = {key: data[key] for key in ("x", "y", *MASKS)}
    every = torch.ones(graph.num_edges, dtype=torch.bool, device=graph.pairs.device)
    return Stage(graph, Data(edge_index=graph.edge_index(), **fields), every)


def inductive(data: Data, graph: SimpleGraph) -> tuple[Stage, Stage, Stage]:
    """The graph as it grows: of the training nodes, with those that validate, whole.

    Nothing of a node that comes later is in an earlier stage: no feature, label, edge or degree.

    Example:
        >>> masks = {name: torch.arange(3) == i for i, name in enumerate(MASKS)}
        >>> data = Data(x=torch.eye(3), y=torch.tensor([0, 1, 1]), **masks)
        >>> graph = SimpleGraph(3, torch.tensor([[0, 0], [1, 2]]))
        >>> [stage.graph.num_edges for stage in inductive(data, graph)]
        [0, 1, 2]
    """
    everyone = torch.ones_like(data.train_mask)
    _, trained = induced_graph(graph, data.train_mask)
    stages = []
    for nodes in (data.train_mask, data.train_mask | data.val_mask, everyone):
        part, within = induced_graph(graph, nodes)
        fields = {key: data[key][nodes] for key in ("y", *MASKS)}
        fields["x"] = select_rows(data.x, nodes)
        stages.append(Stage(part, Data(edge_index=part.edge_index(), **fields), trained[within]))
    first, second, third = stages
    return first, second, third
