"""Models of message-passing layers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from teddy.errors import InputError
from teddy.kernels.hidden import Hidden
from teddy.kernels.layer import Input, SparseWeight
from teddy.kernels.pattern import Pattern, row_softmax
from teddy.kernels.sparse import SparseMatrix
from teddy.models.base import GNN, Features
from teddy.weights.units import Part, Units, declared_units

#: Rows of nodes between two layers; before the first layer, the features.
Rows = tuple[Any, ...]


@dataclass(frozen=True)
class LinearTerm:
    r"""One term of a layer that sums neighbours and multiplies.

    .. math::
        z_i = \Big(l_i \sum_j a_{ij} r_j h_j + o_i h_i\Big) W

    Attributes:
        weight: :math:`W`.
        own: :math:`o`, a number for each node.
        left: :math:`l`; None: neighbours are not in this term, and :math:`o` is 1.
        right: :math:`r`.
    """

    weight: Tensor | SparseWeight
    own: Tensor
    left: Tensor | None = None
    right: Tensor | None = None


class LayeredGNN(GNN):
    """Graph neural network of message-passing layers, with edge weights.

    Args:
        in_channels: Number of features.
        out_channels: Number of classes.
        options: ``hidden_channels`` (of each head, for attention), ``num_layers``, at least 1,
            ``dropout``.
    """

    OPTIONS: ClassVar[dict[str, Any]] = {"hidden_channels": 512, "num_layers": 2, "dropout": 0.5}

    #: Whether ``project`` and ``gather`` evaluate a layer for some nodes at a time.
    by_layer: ClassVar[bool] = False
    #: Lists of weights that inputs are multiplied with; compilation may make them sparse.
    PRODUCTS: ClassVar[tuple[str, ...]] = ()

    @property
    def num_layers(self) -> int:
        """Number of layers."""
        return int(self.options["num_layers"])

    @property
    def channels(self) -> list[int]:
        """Width before, between and after the layers."""
        hidden = self.options["hidden_channels"] * self.options.get("heads", 1)
        return [self.in_channels, *[hidden] * (self.num_layers - 1), self.out_channels]

    @property
    def layer_sizes(self) -> list[tuple[int, int]]:
        """Input and output width of each layer: the shape of its weight."""
        return list(zip(self.channels[:-1], self.channels[1:], strict=True))

    @abstractmethod
    def adjacency(self, pattern: Pattern, weights: Tensor | None = None) -> SparseMatrix:
        """Return the matrix of propagation for the simple graph (row: target, column: source).

        Args:
            pattern: Messages.
            weights: Weight of each entry, by default 1; it may be learned. An edge of weight 0 has
                no effect, as if it were absent.
        """

    def structure(
        self, pattern: Pattern, weights: Tensor | None = None, **given: Tensor
    ) -> SparseMatrix:
        """Return the matrix of propagation."""
        return self.adjacency(pattern, weights, **given)

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
        """Compute the part of a layer that needs a node's own row only; in evaluation."""
        raise NotImplementedError

    def gather(self, index: int, neighbours: Rows, own: Rows, adjacency: SparseMatrix) -> Rows:
        """Compute a layer for some nodes; in evaluation.

        Args:
            index: Index of the layer.
            neighbours: Projected rows of all nodes, or of those in the columns of ``adjacency``.
            own: Projected rows of these nodes.
            adjacency: Rows of these nodes.
        """
        raise NotImplementedError

    def logits(self, rows: Rows) -> Tensor:
        """Return the logits from the rows after the last layer."""
        logits: Tensor = rows[0]
        return logits

    def linear_terms(self, index: int, degree: Tensor) -> list[LinearTerm]:
        """Terms whose sum is a layer, for nodes of these degrees; in evaluation.

        Only of a model whose layers are linear, with a ReLU between two of them.

        Args:
            index: Index of the layer.
            degree: Sum of the absolute weights of a node's neighbours.
        """
        raise NotImplementedError

    def read_out(self, outputs: list[Tensor]) -> Tensor:
        """Return the logits of nodes, from their outputs of all layers before the ReLU."""
        return outputs[-1]

    def hidden(self, z: Tensor) -> Hidden:
        """Apply ReLU and, in training, dropout to a layer's output."""
        return Hidden(z, self.dropout.p if self.training else 0.0)

    def feature_weights(self) -> Units:
        """Return the rows of the first weights."""
        first = (getattr(self, name)[0] for name in self.PRODUCTS)
        return Units(self.in_channels, (), tuple(Part(weight, 0) for weight in first))

    def layer_inputs(self, x: Features) -> list[Features | int]:
        """Return the input of each layer, for :func:`~teddy.models.base.product_macs`."""
        return [x, *[x.shape[0]] * (self.num_layers - 1)]


class AttentionGNN(LayeredGNN):
    """Graph neural network of attention layers; dropout comes first."""

    def stem(self, x: Features, adjacency: SparseMatrix) -> Features:
        """Return the features."""
        return x

    def head(self, stem: Features, adjacency: SparseMatrix) -> Tensor:
        """Compute all layers, each after dropout."""
        h = stem
        for index in range(self.num_layers):
            h = self.layer(index, self.dropout(h), adjacency)
        assert isinstance(h, Tensor)
        return h

    def attend(
        self, index: int, scores: Tensor, values: Tensor, adjacency: SparseMatrix, pattern: Pattern
    ) -> Tensor:
        """Sum values by the softmax of the scores, in training with dropout but in the last layer.

        Args:
            index: Index of the layer.
            scores: Score of each entry of the pattern.
            values: Row of each node and head.
            adjacency: Edges, whose weights multiply the attention.
            pattern: Pattern of the edges, repeated for the heads.
        """
        weights = None if adjacency.unit else adjacency.values
        if weights is not None and pattern is not adjacency.pattern:
            assert pattern.origin is not None
            weights = weights.index_select(0, pattern.origin)
        attention = row_softmax(scores, pattern, weights)
        if index < self.num_layers - 1:
            attention = self.dropout(attention)
        return SparseMatrix(pattern, attention) @ values


def hidden_units(model: nn.Module) -> list[Units]:
    """Return the units that a structured projection keeps or removes, or raise.

    Example:
        >>> hidden_units(nn.Linear(1, 1))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: a Linear has no removable hidden units, expected gcn, ...
    """
    units = model.units() if isinstance(model, LayeredGNN) else []
    if not isinstance(model, GNN):
        units = declared_units(model)
    if not units:
        raise InputError(
            f"a {type(model).__name__} has no removable hidden units, expected gcn, gat, "
            "gin or sage with 2 layers or more, or a module with units(), for structure=neurons"
        )
    return units
