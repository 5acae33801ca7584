"""Models of layers that pass messages along edges."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from teddy.errors import InputError
from teddy.kernels.hidden import Hidden
from teddy.kernels.pattern import Pattern
from teddy.kernels.sparse import (
    SparseMatrix,
    chain_product,
    narrow_product,
    shifted_product,
)
from teddy.kernels.sparse_weight import SparseWeight
from teddy.models.base import GNN, Features
from teddy.weights.units import Units, declared_units

Input = Features | Hidden

#: What nodes have between two layers, a row for each; before the first: their features.
Rows = tuple[Any, ...]


class LayeredGNN(GNN):
    """A graph neural network of layers; edges can have weights.

    Args:
        in_channels: Features of a node.
        out_channels: Classes.
        options: ``hidden`` units (of each head, where there are heads), ``layers``, at least 1,
            ``dropout``.
    """

    OPTIONS: ClassVar[dict[str, Any]] = {"hidden": 512, "layers": 2, "dropout": 0.5}

    #: Whether a layer can be evaluated for some nodes at a time: ``project``, then ``gather``.
    by_layer: ClassVar[bool] = False
    #: Its lists of weights that inputs are multiplied with as they are; they may be sparse.
    PRODUCTS: ClassVar[tuple[str, ...]] = ()

    @property
    def num_layers(self) -> int:
        """How many layers."""
        return int(self.options["layers"])

    @property
    def channels(self) -> list[int]:
        """Width before, between and after the layers."""
        hidden = self.options["hidden"] * self.options.get("heads", 1)
        return [self.in_channels, *[hidden] * (self.num_layers - 1), self.out_channels]

    @property
    def layer_sizes(self) -> list[tuple[int, int]]:
        """Input and output width of each layer: the shape of its weight."""
        return list(zip(self.channels[:-1], self.channels[1:], strict=True))

    @abstractmethod
    def adjacency(self, pattern: Pattern, weights: Tensor | None = None) -> SparseMatrix:
        """Turn the simple graph (row: target, column: source) into what the layers propagate on.

        Args:
            pattern: The edges: both directions, or of a directed graph those that messages take.
            weights: Of each entry, all 1 by default; they may be learned. An edge of weight 0 has
                no influence: it is as if it weren't there.
        """

    def structure(self, pattern: Pattern) -> SparseMatrix:
        """The adjacency without weights."""
        return self.adjacency(pattern)

    def weighted_structure(self, pattern: Pattern, weights: Tensor) -> SparseMatrix:
        """The adjacency with weights."""
        return self.adjacency(pattern, weights)

    @abstractmethod
    def layer(self, index: int, h: Input, adjacency: SparseMatrix) -> Tensor:
        """Compute one layer, without the ReLU and the dropout that follow it."""

    def stem(self, x: Features, adjacency: SparseMatrix) -> Any:
        """Compute the first layer."""
        return self.layer(0, x, adjacency)

    def head(self, stem: Any, adjacency: SparseMatrix) -> Tensor:
        """Compute the other layers, each after ReLU and dropout."""
        h: Tensor = stem
        for index in range(1, self.num_layers):
            h = self.layer(index, self.hidden(h), adjacency)
        return h

    def project(self, index: int, rows: Rows) -> Rows:
        """What nodes give to a layer, each from its own row alone; in evaluation."""
        raise NotImplementedError

    def gather(self, index: int, given: Rows, own: Rows, adjacency: SparseMatrix) -> Rows:
        """Compute a layer for some nodes; in evaluation.

        Args:
            index: Of the layer.
            given: What all nodes gave, or those that the columns of ``adjacency`` stand for.
            own: What these nodes themselves gave.
            adjacency: Their rows of it.
        """
        raise NotImplementedError

    def logits(self, rows: Rows) -> Tensor:
        """What the last layer has left, as logits."""
        logits: Tensor = rows[0]
        return logits

    def hidden(self, z: Tensor) -> Hidden:
        """ReLU and, in training, dropout of a layer's output."""
        return Hidden(z, self.dropout.p if self.training else 0.0)


def hidden_units(model: nn.Module) -> list[Units]:
    """The units that a structured projection keeps or removes whole, or raise.

    Example:
        >>> hidden_units(nn.Linear(1, 1))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: a Linear has no hidden units that can go whole, expected gcn, ...
    """
    units = model.units() if isinstance(model, LayeredGNN) else []
    if not isinstance(model, GNN):
        units = declared_units(model)
    if not units:
        raise InputError(
            f"a {type(model).__name__} has no hidden units that can go whole, expected gcn, gat, "
            "gin or sage with 2 layers or more, or a module with units(), for structure=neurons"
        )
    return units


def multiply(h: Input, weight: Tensor | SparseWeight) -> Tensor:
    """Multiply features, sparse or dense, or hidden units with a weight."""
    if isinstance(weight, SparseWeight):
        return weight.after(h.activated() if isinstance(h, Hidden) else h)
    return narrow_product(h, weight) if isinstance(h, Tensor) else h @ weight


def multiply_both(h: Input, first: Tensor, second: Tensor | SparseWeight) -> tuple[Tensor, Tensor]:
    """Multiply with two weights; where both are dense, by one product."""
    if isinstance(second, SparseWeight):
        return multiply(h, first), multiply(h, second)
    widths = [first.size(1), second.size(1)]
    products = multiply(h, torch.cat([first, second], dim=1)).split(widths, dim=1)
    return products[0], products[1]


def propagate(
    adjacency: SparseMatrix,
    h: Input,
    weight: Tensor | SparseWeight,
    shift: Tensor | None = None,
) -> Tensor:
    """Multiply before aggregating: :math:`(A + s I) (H W)`, without a shift :math:`A (H W)`."""
    learned = adjacency.values.requires_grad
    if (
        isinstance(h, SparseMatrix)
        and isinstance(weight, Tensor)
        and not (learned or h.values.requires_grad)
    ):
        return chain_product(adjacency, shift, h, weight)
    g = multiply(h, weight)
    return adjacency @ g if shift is None else shifted_product(adjacency, shift, g)


def loop_weights(weights: Tensor, pattern: Pattern) -> Tensor:
    """Weights of the entries of a pattern with self-loops, whose own weight is 1."""
    assert pattern.origin is not None
    # index_select, not [origin]: its gradient is summed in one order, whatever the threads.
    return torch.cat([weights, weights.new_ones(1)]).index_select(0, pattern.origin)


def row_sums(values: Tensor, pattern: Pattern) -> Tensor:
    """Sum the entries of each row."""
    return values.new_zeros(pattern.shape[0]).index_add(0, pattern.row, values)
