"""The forward passes of an epoch while masks of edges and weights are learned."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from teddy.edges.hetero_arcs import Surroundings
from teddy.errors import InputError
from teddy.models import GNN
from teddy.models.base import Features, edge_pattern, entry_weights
from teddy.models.graph_head import ByBatch
from teddy.models.hetero import HeteroModel
from teddy.models.layered import LayeredGNN
from teddy.models.masked import Masked
from teddy.models.pattern import Pattern
from teddy.training.forward import GraphForward, WholeForward
from teddy.training.inputs import own_types


class MaskedForward(GraphForward):
    """Of a model of ours under masks: edges and weights change with every step.

    What is masked once for the evaluation of a step serves the forward of the next.
    """

    def __init__(
        self,
        masked: Masked,
        x: Features,
        edge_index: Tensor,
        mask_of_edge: Tensor | None = None,
        edge_weight: Tensor | None = None,
    ) -> None:
        model = masked.model
        assert isinstance(model, GNN)
        self.masked, self.model = masked, model
        self.x, self.structure = model.prepare(x, edge_index, edge_weight)
        self.pattern = edge_pattern(edge_index, x.shape[0])
        self.own_weights = edge_weight
        if edge_weight is not None:
            self.own_weights = entry_weights(edge_index, edge_weight, self.pattern)
        self.mask_of_entry = _mask_of_entry(masked, self.pattern, mask_of_edge)
        self._weights: dict[str, Tensor] | None = None
        self._stem: Any = None
        self._logits: Tensor | None = None

    def training_logits(self) -> Tensor:
        """Logits to learn from."""
        if self._weights is None:
            self._mask()
        logits = self._logits
        if logits is None:
            self.model.train()
            logits = self._call("head", self._stem)
        self._weights = self._stem = self._logits = None  # the step is going to change them
        return logits

    def _evaluate(self) -> Tensor:
        self._mask()
        if self.model.deterministic:
            self._logits = self._call("head", self._stem)
            return self._logits
        with torch.no_grad():
            self.model.eval()
            return self._call("head", self._stem)

    def _mask(self) -> None:
        self._weights = self.masked.weights()
        if self.masked.edge_mask is not None:
            weights = self.masked.edge_weights(self.mask_of_entry)
            if self.own_weights is not None:
                weights = weights * self.own_weights.to(weights)
            assert isinstance(self.model, LayeredGNN)
            self.structure = self.model.adjacency(self.pattern, weights)
        self._stem = self._call("stem", self.x)

    def _call(self, part: str, *inputs: object) -> Tensor:
        assert self._weights is not None
        return self.masked.call(part, self._weights, *inputs, self.structure)


class MaskedWholeForward(WholeForward):
    """Of any other module under masks, ``module(x, edge_index, edge_weight)``.

    Where edges have weights of their own, they are multiplied with the masks. A module of several
    node types gets them by relation.
    """

    def __init__(
        self,
        masked: Masked,
        x: Tensor,
        edge_index: Any,
        mask_of_edge: Tensor | None = None,
        **of_edges: Any,
    ) -> None:
        super().__init__(masked.model, x, edge_index, **of_edges)
        self.masked, self.mask_of_edge = masked, mask_of_edge
        if not isinstance(edge_index, Surroundings):
            source, target = edge_index
            pattern = Pattern.of(source, target, (x.size(0), x.size(0)))
            self.mask_of_column = _mask_of_entry(masked, pattern, mask_of_edge)
        self._check_masks_matter()

    def _check_masks_matter(self) -> None:
        """Raise if the module takes edge weights, but doesn't use them."""
        mask = self.masked.edge_mask
        if mask is None or mask.numel() == 0:
            return
        logits = self._check(self._call(self.model.eval()))
        (found,) = torch.autograd.grad(logits.sum(), [mask], allow_unused=True)
        if found is None:
            wrapped = isinstance(self.model, HeteroModel | ByBatch)
            name = type(self.model.module if wrapped else self.model).__name__
            raise InputError(
                f"the {name} takes no notice of edge_weight, expected one that does to learn masks"
            )

    def _masks_of(self, edge: Tensor) -> Tensor:
        """Mask of each message, by its undirected edge; one past the last mask: none."""
        if self.mask_of_edge is None:
            return edge
        assert self.masked.edge_mask is not None
        # One past the last edge is a self-loop.
        masks = F.pad(self.mask_of_edge, (0, 1), value=self.masked.edge_mask.numel())
        return masks.index_select(0, edge)

    def _call(self, model: nn.Module) -> Tensor:
        named, edge_index = dict(self.of_edges), self.edge_index
        if self.masked.edge_mask is not None and isinstance(edge_index, Surroundings):
            edge_index = edge_index.weighted(
                {
                    kind: self.masked.edge_weights(self._masks_of(edge))
                    for kind, edge in edge_index.edge_of.items()
                }
            )
        elif self.masked.edge_mask is not None:
            weights = {"edge_weight": self.masked.edge_weights(self.mask_of_column)}
            weight = own_types(weights, self.x)["edge_weight"]
            named["edge_weight"] = weight * named.get("edge_weight", 1)
        inputs, named = self.signature.arguments(self.x, edge_index, named)
        return self.masked.call("forward", self.masked.weights(), *inputs, **named)


def _mask_of_entry(masked: Masked, pattern: Pattern, mask_of_edge: Tensor | None = None) -> Tensor:
    """Index of the mask of each entry: its undirected edge's, which are in canonical order.

    A self-loop has none: its index is one past the last, which stands for 1.

    Example:
        >>> masked = Masked(torch.nn.Linear(1, 1), 2, None)
        >>> source, target = torch.tensor([[0, 0, 1, 1, 2], [0, 1, 0, 2, 1]])
        >>> _mask_of_entry(masked, Pattern.of(source, target, (3, 3))).tolist()
        [2, 0, 0, 1, 1]
    """
    low, high = torch.minimum(pattern.row, pattern.col), torch.maximum(pattern.row, pattern.col)
    edge, mask = low != high, torch.zeros_like(low)
    if masked.edge_mask is not None:
        mask += masked.edge_mask.numel()
    edges: Tensor = torch.unique((low * pattern.shape[1] + high)[edge], return_inverse=True)[1]
    mask[edge] = edges if mask_of_edge is None else mask_of_edge[edges]
    return mask
