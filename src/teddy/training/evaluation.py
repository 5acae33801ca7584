"""What a training is judged on: the graph itself, or graphs that have grown past it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.training.forward import forward_passes


@dataclass(frozen=True)
class Unseen:
    """Graphs with nodes that a training must not see.

    Attributes:
        val: A graph whose ``val_mask`` nodes validate: ``x``, ``edge_index``, ``y``. Where edges
            have learned masks, ``mask_of_edge`` says which mask each undirected edge has in
            canonical order; one past the last: none.
        test: The same, with ``test_mask``.
    """

    val: Data
    test: Data


class Evaluation:
    """Accuracies of a model on validation and test nodes.

    Args:
        model: The model, as it is when it is asked.
        data: The graph that it is trained on.
        unseen: The graphs to judge it on instead.
    """

    def __init__(self, model: nn.Module, data: Data, unseen: Unseen | None = None) -> None:
        judges = (data, data) if unseen is None else (unseen.val, unseen.test)
        masks = "val_mask", "test_mask"
        self.y = [judge.y for judge in judges]
        self.nodes = [judge[m].nonzero().flatten() for judge, m in zip(judges, masks, strict=True)]
        self.passes = None
        if unseen is not None:
            self.passes = [
                forward_passes(model, g.x, g.edge_index, g.get("mask_of_edge")) for g in judges
            ]

    def __call__(self, logits: Tensor) -> tuple[float, float]:
        """Validation and test accuracy in percent, given the logits on the training graph."""
        predicted = [logits.argmax(dim=-1)] * 2
        if self.passes is not None:
            with torch.no_grad():
                predicted = [p.evaluation_logits().argmax(dim=-1) for p in self.passes]
        parts = zip(predicted, self.y, self.nodes, strict=True)
        val, test = (accuracy(p, y, nodes) for p, y, nodes in parts)
        return val, test


def accuracy(predicted: Tensor, y: Tensor, nodes: Tensor) -> float:
    """Share of these nodes that are predicted right, in percent.

    Example:
        >>> accuracy(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]), torch.tensor([0, 1]))
        50.0
    """
    right = predicted.index_select(0, nodes) == y.index_select(0, nodes)
    return 100.0 * int(right.sum()) / right.numel()
