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

    with the degrees :math:`D` of the given graph, pruned or not; with edge weights
    :math:`D = 1 + \sum_j |a_{ij}|`. In a directed graph :math:`a_{ij}` is the edge from :math:`j`
    to :math:`i`, so degrees are in-degrees, as in PyG's ``GCNConv``. ReLU between layers,
    dropout on the hidden layers only, no bias. Options as in
    :class:`~teddy.models.layered.LayeredGNN`.

    Example:
        >>> model = GCN(3, 2, hidden_channels=4)
        >>> model(torch.ones(2, 3), torch.tensor([[0, 1], [1, 0]])).shape
        torch.Size([2, 2])
    """

    by_layer: ClassVar[bool] = True
    uses_source_degree: ClassVar[bool] = True
    PRODUCTS: ClassVar[tuple[str, ...]] = ("weights",)

    def __init__(self, in_channels: int, out_channels: int, **options: Any) -> None:
        super().__init__(in_channels, out_channels, **options)
        self.weights = nn.ParameterList(torch.empty(size) for size in self.layer_sizes)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw Glorot-uniform weights."""
        for weight in self.weights:
            nn.init.xavier_uniform_(weight)

    def adjacency(
        self, pattern: Pattern, weights: Tensor | None = None, degree: Tensor | None = None
    ) -> SparseMatrix:
        r"""Normalise: :math:`D^{-1/2} (A + I) D^{-1/2}`.

        Args:
            pattern: Messages.
            weights: Their weights, by default 1.
            degree: :math:`D - I`, where messages are missing; by default that of the messages.
        """
        if weights is None and degree is None:
            return normalised_adjacency(pattern, self.weights[0].dtype)
        pattern = pattern.with_self_loops
        if weights is None:
            values = torch.ones(pattern.nnz, dtype=self.weights[0].dtype, device=pattern.col.device)
        else:
            values = loop_weights(weights, pattern)
        sums = row_sums(values.abs(), pattern) if degree is None else 1 + degree.to(values)
        scale = sums.rsqrt()
        ends = scale.index_select(0, pattern.row) * scale.index_select(0, pattern.col)
        return SparseMatrix(pattern, values * ends)

    def layer(self, index: int, h: Input, adjacency: SparseMatrix) -> Tensor:
        """Compute one layer."""
        return propagate(adjacency, h, self.weights[index])

    def units(self) -> list[Units]:
        """Return columns of a layer's weight, with rows of the next one."""
        return [
            Units(weight.size(1), (Part(weight, 1),), (Part(following, 0),))
            for weight, following in pairwise(self.weights)
        ]

    def project(self, index: int, rows: Rows) -> Rows:
        """Compute H W."""
        (h,) = rows
        return (multiply(h if index == 0 else self.hidden(h), self.weights[index]),)

    def gather(self, index: int, neighbours: Rows, own: Rows, adjacency: SparseMatrix) -> Rows:
        """Compute rows of A (H W)."""
        return (adjacency @ neighbours[0],)

    def linear_terms(self, index: int, degree: Tensor) -> list[LinearTerm]:
        """Rows of A (H W), by the degrees."""
        scale = (1 + degree).rsqrt()
        return [LinearTerm(self.weights[index], scale * scale, scale, scale)]

    def layer_macs(self, x: Features, adjacency: SparseMatrix) -> list[int]:
        """Count per layer: H W, plus an entry of A times each output."""
        return [
            product_macs(h, weight) + adjacency.pattern.nnz * weight.size(1)
            for h, weight in zip(self.layer_inputs(x), self.weights, strict=True)
        ]
