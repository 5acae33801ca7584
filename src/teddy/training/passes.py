"""How a module is run on a graph: which forward passes are its own."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from teddy.models import GNN
from teddy.models.headed import Headed
from teddy.models.masked import Masked
from teddy.training.forward import (
    Evaluation,
    Forward,
    GraphForward,
    NodeForward,
    SharedForward,
    WholeForward,
)
from teddy.training.masked_forward import MaskedForward, MaskedWholeForward


class HeadedForward(GraphForward):
    """Of an encoder and a head: the encoder runs in its own way, the head on what it gives.

    Args:
        model: Both.
        encoded: The passes of the encoder, of all nodes; it may be under masks. Those of an
            evaluation alone have no training logits.
        graph_of_node: Of several graphs, which one each node is of.
    """

    def __init__(
        self, model: Headed, encoded: Evaluation, graph_of_node: Tensor | None = None
    ) -> None:
        self.model, self.encoded, self.graph_of_node = model, encoded, graph_of_node

    def training_logits(self) -> Tensor:
        """Logits to learn from."""
        assert isinstance(self.encoded, Forward)
        return self._predict(self.encoded.training_logits())

    def _evaluate(self) -> Tensor:
        return self._predict(self.encoded.evaluation_logits())

    def _predict(self, outputs: Tensor) -> Tensor:
        return self.model.predict(outputs, self.graph_of_node)


def forward_passes(
    model: nn.Module,
    x: Tensor,
    edge_index: Tensor,
    mask_of_edge: Tensor | None = None,
    **of_edges: Any,
) -> Forward:
    """Choose how to run a module; under masks edges must be sorted by source, then target.

    Args:
        model: The module.
        x: Features.
        edge_index: The graph.
        mask_of_edge: Which learned mask each undirected edge has, in canonical order; one past the
            last: none. By default each edge has its own.
        of_edges: Values of the graph that the module takes, such as ``edge_weight``; of several
            graphs ``graph_of_node``.
    """
    if isinstance(model, Headed):
        graph_of_node = of_edges.pop("graph_of_node", None)
        encoded = forward_passes(model.encoder, x, edge_index, mask_of_edge, **of_edges)
        return HeadedForward(model, encoded, graph_of_node)
    if isinstance(model, Masked):
        ours = isinstance(model.model, GNN)
        kind = MaskedForward if ours else MaskedWholeForward
        return kind(model, x, edge_index, mask_of_edge, **of_edges)
    if isinstance(model, GNN):
        return (NodeForward if model.by_node else SharedForward)(model, x, edge_index, **of_edges)
    return WholeForward(model, x, edge_index, **of_edges)
