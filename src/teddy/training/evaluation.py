"""Evaluation in training: on the training graph, or on grown graphs."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.errors import InputError
from teddy.tasks import Task
from teddy.tasks.views import EvaluationGraphs
from teddy.training.runner import Runner


class Evaluator:
    """Evaluates a task's metric, such as accuracy, on some nodes of a graph.

    Args:
        task: The task.
        runner: Forward passes of the network on the graph.
        y: Encoded targets of the graph.
        nodes: Mask of the evaluated nodes, bool ``[N]``.
        learns: Whether training uses this graph, too, and reuses the computation.
    """

    def __init__(self, task: Task, runner: Runner, y: Tensor, nodes: Tensor, learns: bool) -> None:
        self.task, self.runner, self.learns = task, runner, learns
        self.nodes = nodes.nonzero().flatten()
        if not self.nodes.numel():
            raise InputError("val_mask or test_mask is empty, expected at least one row")
        self.y = y.index_select(0, self.nodes)

    def logits(self) -> Tensor:
        """Return the logits of the nodes with the current weights."""
        with torch.set_grad_enabled(self.learns):
            return self.runner.evaluation_logits(self.nodes)

    def score(self, logits: Tensor | None = None) -> float:
        """Return the metric in percent."""
        return self.task.score(self.logits() if logits is None else logits, self.y)


def evaluators(
    task: Task,
    data: Data,
    runner: Runner,
    evaluation_graphs: EvaluationGraphs | None,
    learns: bool = True,
) -> tuple[Evaluator, Evaluator]:
    """Return the evaluators of validation and test nodes.

    Args:
        task: Task with the metric.
        data: Training graph.
        runner: Forward passes of the network on it.
        evaluation_graphs: Other graphs to evaluate on.
        learns: Whether training reuses computations on ``data``.
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
