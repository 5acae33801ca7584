"""The inductive setting: a training that sees its own nodes only, and graphs that grow past it."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import MASKS
from teddy.data.features import select_rows
from teddy.graph import Edges
from teddy.methods.record import Choice
from teddy.prune import Signals
from teddy.ticket.inference import edges_at_inference
from teddy.training import Unseen


@dataclass(frozen=True)
class Stage:
    """The graph of some nodes.

    Attributes:
        edges: Its edges, and the values of messages.
        data: ``x``, ``y``, masks, messages and other inputs of these nodes.
        known: bool ``[M]``: which edges are of the training graph.
    """

    edges: Edges
    data: Data
    known: Tensor

    def subgraph(self, keep: Tensor | None) -> Data:
        """The graph with the kept edges only; all of them for None."""
        if keep is None:
            return self.data
        sparse = copy.copy(self.data)
        for name, value in self.edges.fields(keep).items():
            sparse[name] = value
        return sparse


def transductive(data: Data, edges: Edges) -> Stage:
    """The whole graph, which training sees.

    Args:
        data: ``x``, ``y`` and the masks.
        edges: The edges.
    """
    fields = {key: data[key] for key in ("x", "y", *MASKS)}
    every = torch.ones_like(edges.pairs[0], dtype=torch.bool)
    return Stage(edges, edges.data(fields), every)


def inductive(data: Data, edges: Edges) -> tuple[Stage, Stage, Stage]:
    """The graph as it grows: of the training nodes, with those that validate, whole.

    Nothing of a node that comes later is in an earlier stage: no feature, label, edge or degree.

    Example:
        >>> masks = {name: torch.arange(3) == i for i, name in enumerate(MASKS)}
        >>> data = Data(x=torch.eye(3), y=torch.tensor([0, 1, 1]), **masks)
        >>> edges = Edges.from_index(torch.tensor([[0, 0], [1, 2]]), 3)
        >>> [stage.edges.num_edges for stage in inductive(data, edges)]
        [0, 1, 2]
    """
    everyone = torch.ones_like(data.train_mask)
    _, trained = edges.induced(data.train_mask)
    stages = []
    for nodes in (data.train_mask, data.train_mask | data.val_mask, everyone):
        part, within = edges.induced(nodes)
        fields = {key: data[key][nodes] for key in ("y", *MASKS)}
        fields["x"] = select_rows(data.x, nodes)
        stages.append(Stage(part, part.data(fields), trained[within]))
    first, second, third = stages
    return first, second, third


@dataclass(frozen=True)
class Growth:
    """The graph that a training sees, and those that it is judged on and a ticket is for.

    Attributes:
        seen: What training sees.
        grown: Of an inductive search, what validates, and the whole; else None.
        inference: How a grown graph is pruned; see
            :func:`teddy.ticket.inference.edges_at_inference`.
        seed: For scores that draw.
    """

    seen: Stage
    grown: tuple[Stage, Stage] | None
    inference: str
    seed: int

    @staticmethod
    def of(data: Data, edges: Edges, grows: bool, inference: str, seed: int) -> Growth:
        """Of a graph with masks.

        Args:
            data: ``x``, ``y`` and the masks.
            edges: The edges.
            grows: Whether training sees the graph of its own nodes only.
            inference: The rule.
            seed: The seed.
        """
        if not grows:
            return Growth(transductive(data, edges), None, inference, seed)
        seen, *grown = inductive(data, edges)
        return Growth(seen, (grown[0], grown[1]), inference, seed)

    @property
    def deployed(self) -> Stage:
        """The graph that a ticket is for, which is the whole."""
        return self.seen if self.grown is None else self.grown[-1]

    def kept(self, stage: Stage, choice: Choice) -> Tensor:
        """The edges that stay at a stage of the graph."""
        if self.grown is None:
            return choice.keep
        return edges_at_inference(
            self.inference, stage.edges, stage.known, choice.keep, choice.sparsity, choice.score,
            self.seed, choice.weighted, Signals(stage.data.x),
        )  # fmt: skip

    def unseen(self, choice: Choice | None) -> Unseen | None:
        """The graphs to validate and test on, if training sees other ones."""
        if self.grown is None:
            return None
        keep = [None if choice is None else self.kept(stage, choice) for stage in self.grown]
        return Unseen(*(stage.subgraph(k) for stage, k in zip(self.grown, keep, strict=True)))

    def unseen_under_masks(self, keep: Tensor) -> Unseen | None:
        """The same while masks are learned for the edges that are left; new ones have none."""
        if self.grown is None:
            return None
        graphs = []
        for stage in self.grown:
            kept = edges_at_inference("training", stage.edges, stage.known, keep, 0.0, None, 0)
            graph, count = copy.copy(stage.subgraph(kept)), int(keep.sum())
            graph.mask_of_edge = torch.full_like(stage.known[kept], count, dtype=torch.long)
            graph.mask_of_edge[stage.known[kept]] = torch.arange(count, device=keep.device)
            graphs.append(graph)
        return Unseen(*graphs)
