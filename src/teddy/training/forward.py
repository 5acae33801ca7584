"""The forward passes of an epoch: one for the training step, one for the evaluation after it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from teddy.errors import InputError
from teddy.models import GNN
from teddy.models.base import Features
from teddy.models.caches import stop_caching
from teddy.models.edge_inputs import check_given
from teddy.models.signature import ForwardSignature
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

    Other values of the graph go along by name, such as ``edge_weight=`` or ``pos=``. A layer that
    would remember the graph (``cached=True``) computes each graph afresh.
    """

    def __init__(self, model: nn.Module, x: Tensor, edge_index: Any, **of_edges: Any) -> None:
        self.model, self.signature = stop_caching(model), ForwardSignature.of(model)
        self.x, self.edge_index = dense_input(model, x), edge_index
        self.of_edges = own_types(of_edges, self.x)
        of_node = of_edges.get("graph_of_node")
        self.rows = self.x.size(0) if of_node is None else int(of_node[-1]) + 1
        check_given(model, of_edges)
        if any(isinstance(p, UninitializedParameter) for p in model.parameters()):
            self.evaluation_logits()
            self._check_initialized()

    def training_logits(self) -> Tensor:
        """Logits to learn from."""
        return self._check(self._call(self.model.train()))

    @torch.no_grad()
    def _evaluate(self) -> Tensor:
        return self._check(self._call(self.model.eval()))

    def _call(self, model: nn.Module) -> Any:
        inputs, named = self.signature.arguments(self.x, self.edge_index, self.of_edges)
        return model(*inputs, **named)

    def _check_initialized(self) -> None:
        """Raise if a lazy parameter has no shape after a pass, since it has no part in it."""
        for name, parameter in self.model.named_parameters():
            if isinstance(parameter, UninitializedParameter):
                raise InputError(
                    f"'{name}' of a {type(self.model).__name__} is lazy and never used, expected a "
                    "module without it"
                )

    def _check(self, logits: Any) -> Tensor:
        rows = self.rows
        if not isinstance(logits, Tensor) or logits.dim() != 2 or logits.size(0) != rows:
            got = list(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
            raise InputError(
                f"the model returned {got}, expected logits of shape [{rows}, classes]"
            )
        return logits


def dense_input(model: nn.Module, x: Tensor) -> Tensor:
    """Features as a module of the user's own takes them: dense, in its parameters' type.

    Integers stay integers: they are ids that the module looks up.

    Example:
        >>> dense_input(nn.Linear(1, 1).double(), torch.eye(1).to_sparse_csr())
        tensor([[1.]], dtype=torch.float64)
    """
    # A lazy parameter has no type until it has seen an input.
    types = {p.dtype for p in model.parameters() if not isinstance(p, UninitializedParameter)}
    x = x if x.layout == torch.strided else x.to_dense()
    return x.to(types.pop()) if len(types) == 1 and x.is_floating_point() else x
