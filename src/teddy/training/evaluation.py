"""What a training is judged on: the graph itself, or graphs that have grown past it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.errors import InputError
from teddy.training.forward import Evaluation
from teddy.training.inputs import of_edges
from teddy.training.passes import forward_passes
from teddy.training.tasks import Task


@dataclass(frozen=True)
class Unseen:
    """Graphs with nodes that a training must not see.

    Attributes:
        val: A graph whose ``val_mask`` nodes validate: ``x``, ``edge_index``, ``y``, and what edges
            have (``edge_weight``, ``edge_attr``), where the model takes it. Where edges have
            learned masks, ``mask_of_edge`` says which mask each undirected edge has in
            canonical order; one past the last: none.
        test: The same, with ``test_mask``.
    """

    val: Data
    test: Data


class Judge:
    """The metric of a task, such as accuracy, on some nodes of one graph.

    Args:
        task: The task.
        forward: The passes of a model over the graph.
        y: The graph's targets, encoded.
        nodes: bool ``[N]``.
        learns: Whether training, too, is on this graph, and goes on from what is computed here.
    """

    def __init__(
        self, task: Task, forward: Evaluation, y: Tensor, nodes: Tensor, learns: bool
    ) -> None:
        self.task, self.forward, self.learns = task, forward, learns
        self.nodes = nodes.nonzero().flatten()
        if not self.nodes.numel():
            raise InputError("no nodes to judge a training on, expected val_mask and test_mask")
        self.y = y.index_select(0, self.nodes)

    def logits(self) -> Tensor:
        """Logits of the nodes, by the weights as they are now."""
        with torch.set_grad_enabled(self.learns):
            return self.forward.evaluation_logits(self.nodes)

    def score(self, logits: Tensor | None = None) -> float:
        """The metric, in percent."""
        return self.task.score(self.logits() if logits is None else logits, self.y)


def judges(
    task: Task,
    model: nn.Module,
    data: Data,
    forward: Evaluation,
    unseen: Unseen | None,
    passes: Callable[..., Evaluation] = forward_passes,
    learns: bool = True,
) -> tuple[Judge, Judge]:
    """Who judges on validation nodes, and who on test nodes.

    Args:
        task: What is measured.
        model: The model.
        data: The graph that it is trained on.
        forward: The passes over it.
        unseen: The graphs to judge it on instead.
        passes: How to run a model on such a graph.
        learns: Whether training goes on from what is computed on ``data``.
    """
    masks = "val_mask", "test_mask"
    if unseen is None:
        val, test = (Judge(task, forward, data.y, data[mask], learns) for mask in masks)
        return val, test
    val, test = (
        Judge(
            task,
            passes(model, graph.x, graph.edge_index, graph.get("mask_of_edge"), **of_edges(graph)),
            graph.y,
            graph[mask],
            False,
        )
        for graph, mask in zip((unseen.val, unseen.test), masks, strict=True)
    )
    return val, test
