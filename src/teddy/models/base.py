"""What the models share: prepared inputs, a forward in two parts, multiply-accumulates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from teddy.data.features import SPARSE_BELOW
from teddy.errors import InputError
from teddy.models.dropout import Dropout
from teddy.models.hidden import Hidden
from teddy.models.pattern import Pattern
from teddy.models.sparse import (
    SparseMatrix,
    chain_product,
    narrow_product,
    shifted_product,
)
from teddy.numbers import check_count

Features = Tensor | SparseMatrix
Input = Features | Hidden


class GNN(nn.Module, ABC):
    """A graph neural network without biases.

    ``forward(x, edge_index)`` is :meth:`prepare`, then :meth:`stem`, then :meth:`head`. A training
    calls ``prepare`` once, and computes the stem, which is free of dropout, once for the
    evaluation of a step and the forward of the next.

    Args:
        in_channels: Features of a node.
        out_channels: Classes.
        hidden: Hidden units (of each head, where there are heads).
        layers: Number of layers, at least 1.
        dropout: Probability of dropout.
    """

    #: Options that a user can set, with their defaults.
    OPTIONS: ClassVar[dict[str, Any]] = {"hidden": 512, "layers": 2, "dropout": 0.5}

    def __init__(self, in_channels: int, out_channels: int, **options: Any) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.options: dict[str, Any] = {**self.OPTIONS, **options}
        for name, value in self.options.items():
            if name == "dropout":
                if not isinstance(value, float | int) or not 0.0 <= value < 1.0:
                    raise InputError(f"dropout is {value}, expected 0 or more and below 1")
            else:
                self.options[name] = check_count(value, name)
        self.num_layers: int = self.options["layers"]
        self.dropout = Dropout(self.options["dropout"])

    @property
    def channels(self) -> list[int]:
        """Width before, between and after the layers."""
        hidden = self.options["hidden"] * self.options.get("heads", 1)
        return [self.in_channels, *[hidden] * (self.num_layers - 1), self.out_channels]

    @property
    def layer_sizes(self) -> list[tuple[int, int]]:
        """Input and output width of each layer: the shape of its weight."""
        return list(zip(self.channels[:-1], self.channels[1:], strict=True))

    @property
    def deterministic(self) -> bool:
        """Whether training and evaluation compute the same."""
        return self.dropout.p == 0

    @abstractmethod
    def reset_parameters(self) -> None:
        """Draw the initial weights."""

    @abstractmethod
    def adjacency(self, pattern: Pattern, weights: Tensor | None = None) -> SparseMatrix:
        """Turn the simple graph (row: target, column: source) into what the layers propagate on.

        Args:
            pattern: The edges, both directions.
            weights: Of each entry, all 1 by default; they may be learned. An edge of weight 0 has
                no influence: it is as if it weren't there.
        """

    @abstractmethod
    def layer(self, index: int, h: Input, adjacency: SparseMatrix) -> Tensor:
        """Compute one layer, without the ReLU and the dropout that follow it."""

    def stem(self, x: Features, adjacency: SparseMatrix) -> Any:
        """Compute what comes before the first dropout: the first layer."""
        return self.layer(0, x, adjacency)

    def head(self, stem: Any, adjacency: SparseMatrix) -> Tensor:
        """Compute the logits from the stem: the other layers, each after ReLU and dropout."""
        h: Tensor = stem
        for index in range(1, self.num_layers):
            h = self.layer(index, self.hidden(h), adjacency)
        return h

    def hidden(self, z: Tensor) -> Hidden:
        """ReLU and, in training, dropout of a layer's output."""
        return Hidden(z, self.dropout.p if self.training else 0.0)

    @abstractmethod
    def layer_macs(self, x: Features, adjacency: SparseMatrix) -> list[int]:
        """Count the multiply-accumulates of each layer with the weights as they are."""

    def prepare(
        self, x: Features, edge_index: Tensor | SparseMatrix
    ) -> tuple[Features, SparseMatrix]:
        """Turn inputs into the form that the layers compute with; what has it passes through."""
        if isinstance(x, Tensor) and (x.layout != torch.strided or _is_sparse(x)):
            x = SparseMatrix.of(x)
        if isinstance(edge_index, Tensor):
            edge_index = self.adjacency(edge_pattern(edge_index, x.shape[0]))
        return x, edge_index

    def forward(self, x: Features, edge_index: Tensor | SparseMatrix) -> Tensor:
        """Compute the logits ``[N, C]``."""
        x, adjacency = self.prepare(x, edge_index)
        return self.head(self.stem(x, adjacency), adjacency)

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, {options})"


def multiply(h: Input, weight: Tensor) -> Tensor:
    """Multiply features, sparse or dense, or hidden units with a weight."""
    return narrow_product(h, weight) if isinstance(h, Tensor) else h @ weight


def propagate(
    adjacency: SparseMatrix, h: Input, weight: Tensor, shift: Tensor | None = None
) -> Tensor:
    """Multiply before aggregating: :math:`(A + s I) (H W)`, without a shift :math:`A (H W)`."""
    learned = adjacency.values.requires_grad
    if isinstance(h, SparseMatrix) and not (learned or h.values.requires_grad):
        return chain_product(adjacency, shift, h, weight)
    g = multiply(h, weight)
    return adjacency @ g if shift is None else shifted_product(adjacency, shift, g)


def edge_pattern(edge_index: Tensor, num_nodes: int) -> Pattern:
    """Rows for targets, columns for sources, without self-loops.

    Example:
        >>> edge_pattern(torch.tensor([[0, 1], [1, 1]]), 2).row
        tensor([1])
    """
    source, target = edge_index[:, edge_index[0] != edge_index[1]]
    return Pattern.of(target, source, (num_nodes, num_nodes))


def loop_weights(weights: Tensor, pattern: Pattern) -> Tensor:
    """Weights of the entries of a pattern with self-loops, whose own weight is 1."""
    assert pattern.origin is not None
    # index_select, not [origin]: its gradient is summed in one order, whatever the threads.
    return torch.cat([weights, weights.new_ones(1)]).index_select(0, pattern.origin)


def row_sums(values: Tensor, pattern: Pattern) -> Tensor:
    """Sum the entries of each row."""
    return values.new_zeros(pattern.shape[0]).index_add(0, pattern.row, values)


def product_macs(inputs: Features | int, weight: Tensor) -> int:
    """Multiply-accumulates of ``inputs @ weight`` over the stored non-zeros of both.

    Args:
        inputs: The left factor, or the number of rows of a dense one.
        weight: The right factor; its zeros don't count.

    Example:
        >>> product_macs(3, torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
        9
    """
    per_row = torch.count_nonzero(weight, dim=1)
    if isinstance(inputs, SparseMatrix):
        return int(per_row[inputs.pattern.col].sum())
    rows = inputs.shape[0] if isinstance(inputs, Tensor) else inputs
    return rows * int(per_row.sum())


def _is_sparse(x: Tensor) -> bool:
    if x.requires_grad or x.device.type != "cpu" or x.numel() == 0:
        return False
    return int(torch.count_nonzero(x)) < SPARSE_BELOW * x.numel()
