"""What all models share: options, prepared inputs, a forward in two parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from teddy.data.features import SPARSE_BELOW
from teddy.errors import InputError
from teddy.kernels.hidden import Dropout
from teddy.kernels.pattern import Pattern, edge_pattern
from teddy.kernels.sparse import SparseMatrix
from teddy.sparsity import check_count
from teddy.weights.units import Part, Units

Features = Tensor | SparseMatrix


class GNN(nn.Module, ABC):
    """A graph neural network.

    ``forward(x, edge_index, edge_weight=None)`` is :meth:`prepare`, then :meth:`stem`, then
    :meth:`head`. A training calls ``prepare`` once, and computes the stem, which is free of
    dropout, once for the evaluation of a step and the forward of the next.

    Args:
        in_channels: Features of a node.
        out_channels: Classes.
        options: As in ``OPTIONS`` of the model.
    """

    #: Options that a user can set, with their defaults: a float is a share from 0 to below 1, a
    #: whole number counts from 1.
    OPTIONS: ClassVar[dict[str, Any]] = {}
    #: Settings that suit the model, where they aren't those of most: lr, weight_decay.
    TRAINING: ClassVar[dict[str, float]] = {}
    #: Scales of all weights are comparable, so one weight budget serves all, as in the paper.
    GLOBAL_BUDGET: ClassVar[bool] = True
    #: Other parts that it does not support, with the reason; see :mod:`teddy.capabilities`.
    UNSUPPORTED: ClassVar[Mapping[str, str]] = {}
    #: Options that may be 0.
    MAY_BE_ZERO: ClassVar[tuple[str, ...]] = ()

    #: Whether the logits of some nodes can be computed by themselves: ``stem`` takes ``nodes``.
    by_node: ClassVar[bool] = False
    #: Nodes of a step of training, if they can; 0: all.
    batch_size: int = 0
    #: After a forward in training: the nodes whose labels weren't among the inputs; None: all.
    to_predict: Tensor | None = None

    def __init__(self, in_channels: int, out_channels: int, **options: Any) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.options: dict[str, Any] = {**self.OPTIONS, **options}
        for name, value in self.options.items():
            self.options[name] = self._checked(name, value)
        self.dropout = Dropout(self.options["dropout"])

    @classmethod
    def _checked(cls, name: str, value: Any) -> Any:
        kind = type(cls.OPTIONS[name])
        if kind is bool:
            if not isinstance(value, bool):
                raise InputError(f"{name} is {value}, expected true or false")
            return value
        if kind is float:
            if not isinstance(value, float | int) or not 0.0 <= value < 1.0:
                raise InputError(f"{name} is {value}, expected 0 or more and below 1")
            return value
        return check_count(value, name, 0 if name in cls.MAY_BE_ZERO else 1)

    @property
    def deterministic(self) -> bool:
        """Whether training and evaluation compute the same."""
        return self.dropout.p == 0

    @abstractmethod
    def reset_parameters(self) -> None:
        """Draw the initial weights."""

    @abstractmethod
    def structure(self, pattern: Pattern, weights: Tensor | None = None) -> Any:
        """Turn the simple graph (row: target, column: source) into what the model computes with.

        With a weight for each entry, where the model supports edge weights.
        """

    @abstractmethod
    def stem(self, x: Any, structure: Any) -> Any:
        """Compute what comes before the first dropout; or, with ``nodes``, whatever is first."""

    @abstractmethod
    def head(self, stem: Any, structure: Any) -> Tensor:
        """Compute the logits from the stem."""

    @abstractmethod
    def layer_macs(self, x: Any, structure: Any) -> list[int]:
        """Count the multiply-accumulates of each layer with the weights as they are."""

    #: Whether labels are among its inputs.
    uses_labels: bool = False

    def learn_labels(self, y: Tensor, nodes: Tensor) -> None:
        """Take the labels of these nodes as an input, where the model has labels among them."""

    def prepare(
        self, x: Features, edge_index: Any, edge_weight: Tensor | None = None
    ) -> tuple[Any, Any]:
        """Turn inputs into the form that the layers compute with; prepared ones pass through."""
        x = as_features(x)
        if isinstance(edge_index, Tensor):
            pattern = edge_pattern(edge_index, x.shape[0])
            if edge_weight is None:
                return x, self.structure(pattern)
            if "edge weights" in self.UNSUPPORTED:
                raise InputError(
                    f"a {type(self).__name__} takes no edge weights, expected data without "
                    "edge_weight, or a model of layers (gcn, gat, gin, sage, unimp)"
                )
            weights = entry_weights(edge_index, edge_weight, pattern)
            return x, self.structure(pattern, weights.to(next(self.parameters()).dtype))
        return x, edge_index

    def feature_weights(self) -> Units | None:
        """The weights of each feature; None: unknown."""
        return None

    def units(self) -> list[Units]:
        """Hidden units that can be removed without a change of the rest."""
        return []

    def freeze(self, structure: Any) -> Any:
        """Compute what depends on the graph and the weights alone."""
        return structure

    def forward(self, x: Features, edge_index: Any, edge_weight: Tensor | None = None) -> Tensor:
        """Compute the logits ``[N, C]``."""
        x, structure = self.prepare(x, edge_index, edge_weight)
        return self.head(self.stem(x, structure), structure)

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, {options})"


def as_features(x: Features) -> Features:
    """Features as layers compute with them: sparse where stored so, or with few entries."""
    if isinstance(x, Tensor) and (x.layout != torch.strided or _is_sparse(x)):
        return SparseMatrix.from_tensor(x)
    return x


def take_features(features: Features, columns: Tensor) -> Features:
    """Return some columns of features, dense or sparse."""
    if isinstance(features, Tensor):
        return features[:, columns]
    return features.columns(columns)


def draw_glorot(module: nn.Module) -> None:
    """Draw Glorot-uniform weights of linear layers; biases start at 0, norms as the identity."""
    for layer in module.modules():
        if isinstance(layer, nn.LayerNorm):
            layer.reset_parameters()
        elif isinstance(layer, nn.Linear):
            nn.init.xavier_uniform_(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def linear_units(first: nn.Linear, last: nn.Linear) -> Units:
    """The units between two linear layers, with an activation in between that is 0 at 0."""
    incoming = (Part(first.weight, 0), Part(first.bias, 0))
    return Units(first.weight.size(0), incoming, (Part(last.weight, 1),))


def entry_weights(edge_index: Tensor, edge_weight: Tensor, pattern: Pattern) -> Tensor:
    """Weights of columns in the order of the entries of their pattern."""
    no_loop = edge_index[0] != edge_index[1]
    if edge_weight.shape != no_loop.shape:
        got, expected = list(edge_weight.shape), list(no_loop.shape)
        raise InputError(f"edge_weight has shape {got}, expected {expected}")
    source, target = edge_index[:, no_loop]
    if source.numel() != pattern.nnz:
        raise InputError("edge_index lists an edge twice, expected it once where it has a weight")
    return edge_weight[no_loop][torch.argsort(target * pattern.shape[1] + source)]


def product_macs(inputs: Features | int, weight: Tensor) -> int:
    """Multiply-accumulates of ``inputs @ weight`` over the non-zeros of both.

    The inputs are the left factor, or the number of rows of a dense one.

    Example:
        >>> product_macs(3, torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
        9
    """
    # By parts: a count along a dimension copies a mask of all entries to int64.
    per_row = torch.cat([torch.count_nonzero(part, dim=1) for part in weight.split(256)])
    if isinstance(inputs, SparseMatrix):
        return int(per_row[inputs.pattern.col].sum())
    rows = inputs.shape[0] if isinstance(inputs, Tensor) else inputs
    return rows * int(per_row.sum())


def _is_sparse(x: Tensor) -> bool:
    if x.requires_grad or x.device.type != "cpu" or x.numel() == 0:
        return False
    return int(torch.count_nonzero(x)) < SPARSE_BELOW * x.numel()
