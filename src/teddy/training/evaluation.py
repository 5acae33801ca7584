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
    """Accuracies of a model on validation and test nodes, in percent.

    Args:
        model: The model, as it is when it is asked.
        data: The graph that it is trained on.
        unseen: The graphs to judge it on instead.
    """

    def __init__(self, model: nn.Module, data: Data, unseen: Unseen | None = None) -> None:
        seen = unseen is None
        self._val = _Judge(model, data if unseen is None else unseen.val, "val_mask", seen)
        self._test = _Judge(model, data if unseen is None else unseen.test, "test_mask", seen)

    def val(self, logits: Tensor) -> float:
        """On validation nodes, given the logits on the training graph."""
        return self._val(logits)

    def test(self, logits: Tensor) -> float:
        """On test nodes, given the logits on the training graph."""
        return self._test(logits)


class _Judge:
    """The accuracy on some nodes of one graph, which training sees or doesn't."""

    def __init__(self, model: nn.Module, graph: Data, mask: str, seen: bool) -> None:
        self.y, self.nodes = graph.y, graph[mask].nonzero().flatten()
        self.passes = None
        if not seen:
            edge_masks = graph.get("mask_of_edge")
            self.passes = forward_passes(model, graph.x, graph.edge_index, edge_masks)

    def __call__(self, logits: Tensor) -> float:
        if self.passes is not None:
            with torch.no_grad():
                logits = self.passes.evaluation_logits()
        return accuracy(logits.argmax(dim=-1), self.y, self.nodes)


def accuracy(predicted: Tensor, y: Tensor, nodes: Tensor) -> float:
    """Share of these nodes that are predicted right, in percent.

    Example:
        >>> accuracy(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]), torch.tensor([0, 1]))
        50.0
    """
    right = predicted.index_select(0, nodes) == y.index_select(0, nodes)
    return 100.0 * int(right.sum()) / right.numel()
