"""The forward passes of an epoch: one for the training step, one for the evaluation after it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from teddy.errors import InputError
from teddy.models import GNN
from teddy.models.base import Features, edge_pattern, entry_weights
from teddy.models.edge_inputs import check_given
from teddy.models.headed import Headed
from teddy.models.layered import LayeredGNN
from teddy.models.masked import Masked
from teddy.models.pattern import Pattern
from teddy.training.inputs import own_types


class Evaluation(ABC):
    """A model on a graph, as it is judged."""

    @abstractmethod
    def evaluation_logits(self, nodes: Tensor | None = None) -> Tensor:
        """Logits of the weights as they are now, of all nodes or of these."""


class Forward(Evaluation):
    """A model on a graph, as a training runs it."""

    @abstractmethod
    def training_logits(self) -> Tensor:
        """Logits to learn from."""


class GraphForward(Forward):
    """Of a model that computes all nodes together."""

    def evaluation_logits(self, nodes: Tensor | None = None) -> Tensor:
        """Logits of the weights as they are now, of all nodes or of these."""
        logits = self._evaluate().detach()
        return logits if nodes is None else logits.index_select(0, nodes)

    @abstractmethod
    def _evaluate(self) -> Tensor:
        """Logits of all nodes."""


class SharedForward(GraphForward):
    """Of a model of ours: the part before the first dropout is computed once for both.

    The evaluation of the weights after a step and the training forward of the next step see the
    same weights. Without dropout they are the same pass.
    """

    def __init__(
        self, model: GNN, x: Features, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> None:
        self.model = model
        self.x, self.structure = model.prepare(x, edge_index, edge_weight)
        self._stem: Any = None
        self._logits: Tensor | None = None

    def training_logits(self) -> Tensor:
        """Logits to learn from."""
        stem, logits = self._stem, self._logits
        self._stem = self._logits = None  # of weights that the step is going to change
        if logits is not None:
            return logits
        if stem is None:
            stem = self.model.stem(self.x, self.structure)
        return self.model.train().head(stem, self.structure)

    def _evaluate(self) -> Tensor:
        self._stem = self.model.stem(self.x, self.structure)
        if self.model.deterministic:
            self._logits = self.model.head(self._stem, self.structure)
            return self._logits
        with torch.no_grad():
            return self.model.eval().head(self._stem, self.structure)


class NodeForward(Forward):
    """Of a model of ours whose logits can be computed for some nodes by themselves."""

    def __init__(
        self, model: GNN, x: Features, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> None:
        self.model = model
        self.x, self.structure = model.prepare(x, edge_index, edge_weight)

    def training_logits(self, nodes: Tensor | None = None) -> Tensor:
        """Logits to learn from, of all nodes or of these."""
        return self._logits(self.model.train(), nodes)

    @torch.no_grad()
    def evaluation_logits(self, nodes: Tensor | None = None) -> Tensor:
        """Logits of the weights as they are now, of all nodes or of these."""
        return self._logits(self.model.eval(), nodes)

    def _logits(self, model: GNN, nodes: Tensor | None) -> Tensor:
        stem: Any = model.stem
        return model.head(stem(self.x, self.structure, nodes), self.structure)


class WholeForward(GraphForward):
    """Of any other module: two passes, ``module(x, edge_index)``, over dense features.

    Weights and attributes of edges go along by name, ``edge_weight=`` and ``edge_attr=``.
    """

    def __init__(self, model: nn.Module, x: Tensor, edge_index: Tensor, **of_edges: Tensor) -> None:
        self.model = model
        self.x, self.edge_index = dense_input(model, x), edge_index
        self.of_edges = own_types(of_edges, self.x)
        of_node = of_edges.get("graph_of_node")
        self.rows = self.x.size(0) if of_node is None else int(of_node[-1]) + 1
        check_given(model, of_edges)
        if any(isinstance(p, UninitializedParameter) for p in model.parameters()):
            self.evaluation_logits()

    def training_logits(self) -> Tensor:
        """Logits to learn from."""
        return self._check(self.model.train()(self.x, self.edge_index, **self.of_edges))

    @torch.no_grad()
    def _evaluate(self) -> Tensor:
        return self._check(self.model.eval()(self.x, self.edge_index, **self.of_edges))

    def _check(self, logits: Any) -> Tensor:
        rows = self.rows
        if not isinstance(logits, Tensor) or logits.dim() != 2 or logits.size(0) != rows:
            got = list(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
            raise InputError(
                f"the model returned {got}, expected logits of shape [{rows}, classes]"
            )
        return logits


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
        self.mask_of_entry = _mask_of_entry(self.pattern, mask_of_edge)
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

    Where edges have weights of their own, they are multiplied with the masks.
    """

    def __init__(
        self,
        masked: Masked,
        x: Tensor,
        edge_index: Tensor,
        mask_of_edge: Tensor | None = None,
        **of_edges: Tensor,
    ) -> None:
        super().__init__(masked.model, x, edge_index, **of_edges)
        self.masked = masked
        source, target = edge_index
        pattern = Pattern.of(source, target, (x.size(0), x.size(0)))
        self.mask_of_column = _mask_of_entry(pattern, mask_of_edge)
        self._check_masks_matter()

    def _check_masks_matter(self) -> None:
        """Raise if the module takes edge weights, but doesn't use them."""
        mask = self.masked.edge_mask
        if mask is None or mask.numel() == 0:
            return
        logits = self._check(self._call(self.model.eval()))
        (found,) = torch.autograd.grad(logits.sum(), [mask], allow_unused=True)
        if found is None:
            name = type(self.model).__name__
            raise InputError(
                f"the {name} takes no notice of edge_weight, expected one that does to learn masks"
            )

    def training_logits(self) -> Tensor:
        """Logits to learn from."""
        return self._check(self._call(self.model.train()))

    @torch.no_grad()
    def _evaluate(self) -> Tensor:
        return self._check(self._call(self.model.eval()))

    def _call(self, model: nn.Module) -> Tensor:
        named = dict(self.of_edges)
        if self.masked.edge_mask is not None:
            weights = self.masked.edge_weights(self.mask_of_column).to(self.x.dtype)
            named["edge_weight"] = weights * named.get("edge_weight", 1)
        inputs = self.x, self.edge_index
        return self.masked.call("forward", self.masked.weights(), *inputs, **named)


class HeadedForward(GraphForward):
    """Of an encoder and a head: the encoder runs in its own way, the head on what it gives.

    Args:
        model: Both.
        encoded: The passes of the encoder, of all nodes; it may be under masks.
        graph_of_node: Of several graphs, which one each node is of.
    """

    def __init__(
        self, model: Headed, encoded: Forward, graph_of_node: Tensor | None = None
    ) -> None:
        self.model, self.encoded, self.graph_of_node = model, encoded, graph_of_node

    def training_logits(self) -> Tensor:
        """Logits to learn from."""
        return self._predict(self.encoded.training_logits())

    def _evaluate(self) -> Tensor:
        return self._predict(self.encoded.evaluation_logits())

    def _predict(self, outputs: Tensor) -> Tensor:
        return self.model.predict(outputs, self.graph_of_node)


def _mask_of_entry(pattern: Pattern, mask_of_edge: Tensor | None = None) -> Tensor:
    """Index of the mask of each entry: its undirected edge's, which are in canonical order.

    Example:
        >>> _mask_of_entry(edge_pattern(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), 3)).tolist()
        [0, 0, 1, 1]
    """
    low, high = torch.minimum(pattern.row, pattern.col), torch.maximum(pattern.row, pattern.col)
    edges: Tensor = torch.unique(low * pattern.shape[1] + high, return_inverse=True)[1]
    return edges if mask_of_edge is None else mask_of_edge[edges]


def dense_input(model: nn.Module, x: Tensor) -> Tensor:
    """Features as a module of the user's own takes them: dense, in its parameters' type.

    Example:
        >>> dense_input(nn.Linear(1, 1).double(), torch.eye(1).to_sparse_csr())
        tensor([[1.]], dtype=torch.float64)
    """
    # A lazy parameter has no type until it has seen an input.
    types = {p.dtype for p in model.parameters() if not isinstance(p, UninitializedParameter)}
    x = x if x.layout == torch.strided else x.to_dense()
    return x.to(types.pop()) if len(types) == 1 else x


def forward_passes(
    model: nn.Module,
    x: Tensor,
    edge_index: Tensor,
    mask_of_edge: Tensor | None = None,
    **of_edges: Tensor,
) -> Forward:
    """Choose how to run a module; under masks edges must be sorted by source, then target.

    Args:
        model: The module.
        x: Features.
        edge_index: The graph.
        mask_of_edge: Which learned mask each undirected edge has, in canonical order; one past the
            last: none. By default each edge has its own.
        of_edges: ``edge_weight``, ``edge_attr``, where the module takes them; of several graphs
            ``graph_of_node``.
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
