"""Evaluation of a training: on the graph itself, or on graphs that have grown past it."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.errors import InputError
from teddy.tasks import Task
from teddy.tasks.views import EvaluationGraphs
from teddy.training.runner import Runner


class Evaluator:
    """The metric of a task, such as accuracy, on some nodes of one graph.

    Args:
        task: The task.
        runner: Runs the network on the graph.
        y: The graph's targets, encoded.
        nodes: bool ``[N]``.
        learns: Whether training, too, is on this graph, and goes on from what is computed here.
    """

    def __init__(self, task: Task, runner: Runner, y: Tensor, nodes: Tensor, learns: bool) -> None:
        self.task, self.runner, self.learns = task, runner, learns
        self.nodes = nodes.nonzero().flatten()
        if not self.nodes.numel():
            raise InputError("no nodes to judge a training on, expected val_mask and test_mask")
        self.y = y.index_select(0, self.nodes)

    def logits(self) -> Tensor:
        """Logits of the nodes, by the weights as they are now."""
        with torch.set_grad_enabled(self.learns):
            return self.runner.evaluation_logits(self.nodes)

    def score(self, logits: Tensor | None = None) -> float:
        """The metric, in percent."""
        return self.task.score(self.logits() if logits is None else logits, self.y)


def evaluators(
    task: Task,
    data: Data,
    runner: Runner,
    evaluation_graphs: EvaluationGraphs | None,
    learns: bool = True,
) -> tuple[Evaluator, Evaluator]:
    """The judges on validation nodes and on test nodes.

    Args:
        task: The task, whose metric is computed.
        data: The graph that the network is trained on.
        runner: Runs the network on it.
        evaluation_graphs: The graphs to judge it on instead.
        learns: Whether training goes on from what is computed on ``data``.
    """
    masks = "val_mask", "test_mask"
    if evaluation_graphs is None:
        val, test = (Evaluator(task, runner, data.y, data[mask], learns) for mask in masks)
        return val, test
    val, test = (
        Evaluator(task, runner.on(graph), graph.y, graph[mask], False)
        for graph, mask in zip((evaluation_graphs.val, evaluation_graphs.test), masks, strict=True)
    )
    return val, test
