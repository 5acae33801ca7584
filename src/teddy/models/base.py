"""Base class of models: options, prepared inputs, a forward in two parts."""

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
    :meth:`head`. Training calls ``prepare`` once. The stem has no dropout: one computation serves
    the evaluation of a step and the forward of the next.

    Args:
        in_channels: Number of features.
        out_channels: Number of classes.
        options: Options of the model, see ``OPTIONS``.
    """

    #: Options with their defaults: floats are in [0, 1), whole numbers at least 1.
    OPTIONS: ClassVar[dict[str, Any]] = {}
    #: Training defaults of the model that differ from those of most: lr, weight_decay.
    TRAINING: ClassVar[dict[str, float]] = {}
    #: Scales of all weights are comparable, so one weight budget serves all, as in the paper.
    GLOBAL_BUDGET: ClassVar[bool] = True
    #: Unsupported parts of a search, with the reason; see :mod:`teddy.capabilities`.
    UNSUPPORTED: ClassVar[Mapping[str, str]] = {}
    #: Options that may be 0.
    MAY_BE_ZERO: ClassVar[tuple[str, ...]] = ()

    #: Whether ``stem`` takes ``nodes``, to compute the logits of these only.
    by_node: ClassVar[bool] = False
    #: Number of nodes in a training step; 0: all.
    batch_size: int = 0
    #: Nodes whose labels were not inputs of the last training forward; None: all.
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
        """True if training and evaluation compute the same outputs."""
        return self.dropout.p == 0

    @abstractmethod
    def reset_parameters(self) -> None:
        """Draw the initial weights."""

    @abstractmethod
    def structure(self, pattern: Pattern, weights: Tensor | None = None) -> Any:
        """Prepare the simple graph (row: target, column: source) for the layers.

        Weights, one for each entry, are for models that support edge weights.
        """

    @abstractmethod
    def stem(self, x: Any, structure: Any) -> Any:
        """Compute the part before the first dropout, for all nodes or for ``nodes``."""

    @abstractmethod
    def head(self, stem: Any, structure: Any) -> Tensor:
        """Compute the logits from the stem."""

    @abstractmethod
    def layer_macs(self, x: Any, structure: Any) -> list[int]:
        """Count the multiply-accumulates of each layer with the weights as they are."""

    #: Whether labels are inputs.
    uses_labels: bool = False

    def learn_labels(self, y: Tensor, nodes: Tensor) -> None:
        """Set the labels of these nodes as inputs, if the model has label inputs."""

    #: Whether a message depends on its source's degree, so that ``prepare`` takes ``degree``.
    uses_source_degree: ClassVar[bool] = False

    def prepare(
        self,
        x: Features,
        edge_index: Any,
        edge_weight: Tensor | None = None,
        degree: Tensor | None = None,
    ) -> tuple[Any, Any]:
        """Prepare inputs for the layers; prepared ones are returned unchanged.

        Args:
            x: Features.
            edge_index: Messages.
            edge_weight: Their weights, by default 1.
            degree: Sum of the absolute weights of each node's messages, for a part of a graph that
                lacks some of them.
        """
        x = as_features(x)
        if isinstance(edge_index, Tensor):
            pattern = edge_pattern(edge_index, x.shape[0])
            given = {} if degree is None else {"degree": degree}
            if edge_weight is None:
                return x, self.structure(pattern, **given)
            if "edge weights" in self.UNSUPPORTED:
                raise InputError(
                    f"a {type(self).__name__} does not support edge weights, expected data without "
                    "edge_weight, or a model of layers (gcn, gat, gin, sage, unimp)"
                )
            weights = entry_weights(edge_index, edge_weight, pattern)
            return x, self.structure(pattern, weights.to(next(self.parameters()).dtype), **given)
        return x, edge_index

    def feature_weights(self) -> Units | None:
        """Return the weights of each feature; None: unknown."""
        return None

    def units(self) -> list[Units]:
        """Return the hidden units that can be removed independently of the rest."""
        return []

    def freeze(self, structure: Any) -> Any:
        """Compute all that depends only on the graph and the weights."""
        return structure

    def forward(self, x: Features, edge_index: Any, edge_weight: Tensor | None = None) -> Tensor:
        """Compute the logits ``[N, C]``."""
        x, structure = self.prepare(x, edge_index, edge_weight)
        return self.head(self.stem(x, structure), structure)

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, {options})"


def as_features(x: Features) -> Features:
    """Return features for the layers: sparse if stored so, or if few entries are non-zero."""
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
    """Return the units between two linear layers, for an activation that is 0 at 0."""
    incoming = (Part(first.weight, 0), Part(first.bias, 0))
    return Units(first.weight.size(0), incoming, (Part(last.weight, 1),))


def entry_weights(edge_index: Tensor, edge_weight: Tensor, pattern: Pattern) -> Tensor:
    """Return the weights of messages in the order of their pattern's entries."""
    no_loop = edge_index[0] != edge_index[1]
    if edge_weight.shape != no_loop.shape:
        got, expected = list(edge_weight.shape), list(no_loop.shape)
        raise InputError(f"edge_weight has shape {got}, expected {expected}")
    source, target = edge_index[:, no_loop]
    if source.numel() != pattern.nnz:
        raise InputError("edge_index lists an edge twice, expected it once with edge_weight")
    return edge_weight[no_loop][torch.argsort(target * pattern.shape[1] + source)]


def product_macs(inputs: Features | int, weight: Tensor) -> int:
    """Return the multiply-accumulates of ``inputs @ weight`` over the non-zeros of both.

    ``inputs`` is the left factor, or the number of rows of a dense one.

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
