"""GraphSAGE with mean aggregation."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from teddy.kernels.layer import Input, multiply, propagate
from teddy.kernels.pattern import Pattern, row_sums
from teddy.kernels.sparse import SparseMatrix
from teddy.models.base import Features, product_macs
from teddy.models.layered import LayeredGNN, LinearTerm, Rows
from teddy.weights.units import Part, Units


class SAGE(LayeredGNN):
    r"""`GraphSAGE <https://arxiv.org/abs/1706.02216>`_ with the mean of the neighbours.

    .. math::
        H^{(l+1)} = \sigma\big(H^{(l)} W_{\mathrm{self}}^{(l)} +
        D^{-1} A (H^{(l)} W_{\mathrm{neighbours}}^{(l)})\big)

    With edge weights, :math:`D = \max(\sum_j |a_{ij}|, 1)`. ReLU between layers, dropout on
    the hidden layers only, no bias. Options as in
    :class:`~teddy.models.layered.LayeredGNN`.

    Example:
        >>> model = SAGE(3, 2, hidden_channels=4)
        >>> model(torch.ones(2, 3), torch.tensor([[0, 1], [1, 0]])).shape
        torch.Size([2, 2])
    """

    by_layer: ClassVar[bool] = True
    PRODUCTS: ClassVar[tuple[str, ...]] = ("self_weights", "neighbour_weights")

    def __init__(self, in_channels: int, out_channels: int, **options: Any) -> None:
        super().__init__(in_channels, out_channels, **options)
        self.self_weights = nn.ParameterList(torch.empty(size) for size in self.layer_sizes)
        self.neighbour_weights = nn.ParameterList(torch.empty(size) for size in self.layer_sizes)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw Glorot-uniform weights."""
        for weight in [*self.self_weights, *self.neighbour_weights]:
            nn.init.xavier_uniform_(weight)

    def adjacency(self, pattern: Pattern, weights: Tensor | None = None) -> SparseMatrix:
        r"""Average: :math:`D^{-1} A`."""
        if weights is None:
            degree = pattern.crow.diff().clamp(min=1).to(self.self_weights[0].dtype)
            return SparseMatrix(pattern, (1.0 / degree)[pattern.row])
        degree = row_sums(weights.abs(), pattern).clamp(min=1)
        return SparseMatrix(pattern, weights / degree.index_select(0, pattern.row))

    def layer(self, index: int, h: Input, adjacency: SparseMatrix) -> Tensor:
        """Compute one layer."""
        neighbours = propagate(adjacency, h, self.neighbour_weights[index])
        return multiply(h, self.self_weights[index]) + neighbours

    def units(self) -> list[Units]:
        """Return columns of both weights of a layer, with rows of the next ones."""
        weights = zip(self.self_weights, self.neighbour_weights, strict=True)
        return [
            Units(own[0].size(1), tuple(Part(w, 1) for w in own), tuple(Part(w, 0) for w in other))
            for own, other in pairwise(weights)
        ]

    def project(self, index: int, rows: Rows) -> Rows:
        """Compute both products with H."""
        h = rows[0] if index == 0 else self.hidden(rows[0])
        weights = self.self_weights[index], self.neighbour_weights[index]
        return tuple(multiply(h, weight) for weight in weights)

    def gather(self, index: int, neighbours: Rows, own: Rows, adjacency: SparseMatrix) -> Rows:
        """Add the mean of the neighbours to each node."""
        return (own[0] + adjacency @ neighbours[1],)

    def linear_terms(self, index: int, degree: Tensor) -> list[LinearTerm]:
        """Nodes themselves, and the mean of their neighbours."""
        ones, none = torch.ones_like(degree), torch.zeros_like(degree)
        return [
            LinearTerm(self.self_weights[index], ones),
            LinearTerm(self.neighbour_weights[index], none, 1 / degree.clamp(min=1), ones),
        ]

    def layer_macs(self, x: Features, adjacency: SparseMatrix) -> list[int]:
        """Count per layer: both products with H, plus an entry of A times each output."""
        weights = zip(self.layer_inputs(x), self.self_weights, self.neighbour_weights, strict=True)
        return [
            product_macs(h, own) + product_macs(h, other) + adjacency.pattern.nnz * own.size(1)
            for h, own, other in weights
        ]
