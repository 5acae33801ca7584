"""The forward passes of an epoch: one for the training step, one for the evaluation after it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from teddy.errors import InputError
from teddy.models import GNN
from teddy.models.base import Features


class SharedForward:
    """Of a model of ours: the part before the first dropout is computed once for both.

    The evaluation of the weights after a step and the training forward of the next step see the
    same weights. Without dropout they are the same pass.
    """

    def __init__(self, model: GNN, x: Features, edge_index: Tensor) -> None:
        self.model = model
        self.x, self.adjacency = model.prepare(x, edge_index)
        self._stem: Any = None
        self._logits: Tensor | None = None

    def training_logits(self) -> Tensor:
        """Logits to learn from."""
        if self._logits is not None:
            return self._logits
        if self._stem is None:
            self._stem = self.model.stem(self.x, self.adjacency)
        return self.model.train().head(self._stem, self.adjacency)

    def evaluation_logits(self) -> Tensor:
        """Logits of the weights as they are now."""
        self._stem = self.model.stem(self.x, self.adjacency)
        if self.model.deterministic:
            self._logits = self.model.head(self._stem, self.adjacency)
            return self._logits.detach()
        with torch.no_grad():
            return self.model.eval().head(self._stem, self.adjacency).detach()


class WholeForward:
    """Of any other module: two passes, ``module(x, edge_index)``, over dense features."""

    def __init__(self, model: nn.Module, x: Tensor, edge_index: Tensor) -> None:
        self.model = model
        self.x, self.edge_index = dense_input(model, x), edge_index
        if any(isinstance(p, UninitializedParameter) for p in model.parameters()):
            self.evaluation_logits()

    def training_logits(self) -> Tensor:
        """Logits to learn from."""
        return self._check(self.model.train()(self.x, self.edge_index))

    @torch.no_grad()
    def evaluation_logits(self) -> Tensor:
        """Logits of the weights as they are now."""
        return self._check(self.model.eval()(self.x, self.edge_index)).detach()

    def _check(self, logits: Any) -> Tensor:
        rows = self.x.size(0)
        if not isinstance(logits, Tensor) or logits.dim() != 2 or logits.size(0) != rows:
            got = list(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
            raise InputError(
                f"the model returned {got}, expected logits of shape [{rows}, classes]"
            )
        return logits


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


def forward_passes(model: nn.Module, x: Tensor, edge_index: Tensor) -> SharedForward | WholeForward:
    """Choose how to run a module."""
    if isinstance(model, GNN):
        return SharedForward(model, x, edge_index)
    return WholeForward(model, x, edge_index)
