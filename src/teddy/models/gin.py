"""GIN: graph isomorphism network."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from teddy.kernels.layer import Input, multiply, multiply_both, propagate
from teddy.kernels.pattern import Pattern
from teddy.kernels.sparse import SparseMatrix, shifted_product
from teddy.models.base import Features, product_macs
from teddy.models.layered import LayeredGNN, LinearTerm, Rows
from teddy.weights.units import Part, Units


class GIN(LayeredGNN):
    r"""`Graph isomorphism network <https://arxiv.org/abs/1810.00826>`_, one linear map per layer.

    .. math::
        H^{(l+1)} = \mathrm{ReLU}\big(((1 + \varepsilon^{(l)}) I + A) (H^{(l)} W^{(l)})\big), \qquad
        Z = \frac{1}{L} \Big(\sum_{l=1}^{L-1} H^{(l)} P^{(l)} + H^{(L)}\Big)

    Sum aggregation, learnable :math:`\varepsilon`, ReLU after each layer, no bias. Options as in
    :class:`~teddy.models.layered.LayeredGNN`; dropout, on the hidden layers, is 0 by
    default.

    Example:
        >>> model = GIN(3, 2, hidden_channels=4)
        >>> model(torch.ones(2, 3), torch.tensor([[0, 1], [1, 0]])).shape
        torch.Size([2, 2])
    """

    OPTIONS: ClassVar[dict[str, Any]] = {"hidden_channels": 512, "num_layers": 2, "dropout": 0.0}

    by_layer: ClassVar[bool] = True
    PRODUCTS: ClassVar[tuple[str, ...]] = ("weights",)

    def __init__(self, in_channels: int, out_channels: int, **options: Any) -> None:
        super().__init__(in_channels, out_channels, **options)
        self.weights = nn.ParameterList(torch.empty(size) for size in self.layer_sizes)
        self.eps = nn.Parameter(torch.empty(self.num_layers))
        self.readouts = nn.ParameterList(
            torch.empty(width, out_channels) for width in self.channels[1:-1]
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights as ``nn.Linear`` does; eps starts at zero."""
        for weight in [*self.weights, *self.readouts]:
            bound = weight.size(0) ** -0.5
            nn.init.uniform_(weight, -bound, bound)
        nn.init.zeros_(self.eps)

    def adjacency(self, pattern: Pattern, weights: Tensor | None = None) -> SparseMatrix:
        """Return the adjacency without normalisation."""
        values = self.eps.new_ones(pattern.nnz) if weights is None else weights
        return SparseMatrix(pattern, values)

    def layer(self, index: int, h: Input, adjacency: SparseMatrix) -> Tensor:
        """Compute one layer."""
        return propagate(adjacency, h, self.weights[index], 1 + self.eps[index])

    def head(self, stem: Tensor, adjacency: SparseMatrix) -> Tensor:
        """Compute the layers after the first, and the mean of all layers' outputs."""
        h, outputs = stem, []
        for layer in range(1, self.num_layers):
            # Both the layer's output and the next layer's input.
            output, g = multiply_both(self.hidden(h), self.readouts[layer - 1], self.weights[layer])
            outputs.append(output)
            h = shifted_product(adjacency, 1 + self.eps[layer], g)
        return sum(outputs, h.relu()) / self.num_layers

    def units(self) -> list[Units]:
        """Return columns of a layer's weight, with rows of the next one and of the readout."""
        return [
            Units(weight.size(1), (Part(weight, 1),), (Part(following, 0), Part(readout, 0)))
            for (weight, following), readout in zip(
                pairwise(self.weights), self.readouts, strict=True
            )
        ]

    def project(self, index: int, rows: Rows) -> Rows:
        """Compute H W and, after the first layer, the sum of readouts so far."""
        if index == 0:
            return (multiply(rows[0], self.weights[0]),)
        z, *total = rows
        h = self.hidden(z)
        output = multiply(h, self.readouts[index - 1])
        return multiply(h, self.weights[index]), sum(total, output)

    def gather(self, index: int, neighbours: Rows, own: Rows, adjacency: SparseMatrix) -> Rows:
        """Compute rows of ((1 + eps) I + A) (H W), with unchanged readouts."""
        g, *total = own
        return (adjacency @ neighbours[0] + (1 + self.eps[index]) * g, *total)

    def logits(self, rows: Rows) -> Tensor:
        """Return the mean of all layers' outputs."""
        z, *total = rows
        logits: Tensor = sum(total, z.relu()) / self.num_layers
        return logits

    def linear_terms(self, index: int, degree: Tensor) -> list[LinearTerm]:
        """Rows of ((1 + eps) I + A) (H W)."""
        ones = torch.ones_like(degree)
        return [LinearTerm(self.weights[index], (1 + self.eps[index]) * ones, ones, ones)]

    def read_out(self, outputs: list[Tensor]) -> Tensor:
        """Return the mean of all layers' outputs."""
        *hidden, last = (z.relu() for z in outputs)
        total = last
        for h, readout in zip(hidden, self.readouts, strict=True):
            total = total + multiply(h, readout)
        return total / self.num_layers

    def layer_macs(self, x: Features, adjacency: SparseMatrix) -> list[int]:
        """Count per layer: H W, an entry of (1 + eps) I + A times each output, and the readout."""
        rows = x.shape[0]
        entries = adjacency.pattern.nnz + rows
        convolutions = [
            product_macs(h, weight) + entries * weight.size(1)
            for h, weight in zip(self.layer_inputs(x), self.weights, strict=True)
        ]
        readouts = [product_macs(rows, weight) for weight in self.readouts]
        return [a + b for a, b in zip(convolutions, [0, *readouts], strict=True)]
