"""GCN: graph convolutional network."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from teddy.kernels.layer import Input, multiply, propagate
from teddy.kernels.pattern import Pattern, loop_weights, row_sums
from teddy.kernels.sparse import SparseMatrix, normalised_adjacency
from teddy.models.base import Features, product_macs
from teddy.models.layered import LayeredGNN, LinearTerm, Rows
from teddy.weights.units import Part, Units


class GCN(LayeredGNN):
    r"""`Graph convolutional network <https://arxiv.org/abs/1609.02907>`_.

    .. math::
        H^{(l+1)} = \sigma\big(\hat A (H^{(l)} W^{(l)})\big), \qquad
        \hat A = D^{-1/2} (A + I) D^{-1/2}

    with the degrees :math:`D` of the graph it is given, pruned or not; where edges have weights,
    :math:`D = 1 + \sum_j |a_{ij}|`. Of a directed graph :math:`a_{ij}` is the edge from :math:`j`
    to :math:`i`, so degrees count what comes in, as PyG's ``GCNConv`` does. ReLU between layers,
    dropout on the hidden layers only, no bias. Options as in
    :class:`~teddy.models.layered.LayeredGNN`.

    Example:
        >>> model = GCN(3, 2, hidden_channels=4)
        >>> model(torch.ones(2, 3), torch.tensor([[0, 1], [1, 0]])).shape
        torch.Size([2, 2])
    """

    by_layer: ClassVar[bool] = True
    PRODUCTS: ClassVar[tuple[str, ...]] = ("weights",)

    def __init__(self, in_channels: int, out_channels: int, **options: Any) -> None:
        super().__init__(in_channels, out_channels, **options)
        self.weights = nn.ParameterList(torch.empty(size) for size in self.layer_sizes)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw Glorot-uniform weights."""
        for weight in self.weights:
            nn.init.xavier_uniform_(weight)

    def adjacency(self, pattern: Pattern, weights: Tensor | None = None) -> SparseMatrix:
        r"""Normalise: :math:`D^{-1/2} (A + I) D^{-1/2}`."""
        if weights is None:
            return normalised_adjacency(pattern, self.weights[0].dtype)
        pattern = pattern.with_self_loops
        values = loop_weights(weights, pattern)
        scale = row_sums(values.abs(), pattern).rsqrt()
        ends = scale.index_select(0, pattern.row) * scale.index_select(0, pattern.col)
        return SparseMatrix(pattern, values * ends)

    def layer(self, index: int, h: Input, adjacency: SparseMatrix) -> Tensor:
        """Compute one layer."""
        return propagate(adjacency, h, self.weights[index])

    def units(self) -> list[Units]:
        """A column of a layer's weight, and the row of the next."""
        return [
            Units(own.size(1), (Part(own, 1),), (Part(other, 0),))
            for own, other in pairwise(self.weights)
        ]

    def project(self, index: int, rows: Rows) -> Rows:
        """H W."""
        (h,) = rows
        return (multiply(h if index == 0 else self.hidden(h), self.weights[index]),)

    def gather(self, index: int, given: Rows, own: Rows, adjacency: SparseMatrix) -> Rows:
        """Rows of A (H W)."""
        return (adjacency @ given[0],)

    def linear_terms(self, index: int, degree: Tensor) -> list[LinearTerm]:
        """Rows of A (H W), by the degrees."""
        scale = (1 + degree).rsqrt()
        return [LinearTerm(self.weights[index], scale * scale, scale, scale)]

    def layer_macs(self, x: Features, adjacency: SparseMatrix) -> list[int]:
        """Per layer: H W, plus an entry of A times each output."""
        return [
            product_macs(h, weight) + adjacency.pattern.nnz * weight.size(1)
            for h, weight in zip(self.layer_inputs(x), self.weights, strict=True)
        ]
