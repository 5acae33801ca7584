"""GAT: graph attention network."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from teddy.kernels.layer import Input, multiply
from teddy.kernels.pattern import Pattern, loop_weights
from teddy.kernels.sparse import SparseMatrix
from teddy.models.base import Features, product_macs
from teddy.models.layered import AttentionGNN, Rows
from teddy.weights.units import Part, Units


class GAT(AttentionGNN):
    r"""`Graph attention network <https://arxiv.org/abs/1710.10903>`_.

    For each head, with :math:`G = H W` and over the neighbours :math:`j` of :math:`i` and
    :math:`i` itself:

    .. math::
        \alpha_{ij} = \mathrm{softmax}_j\big(\mathrm{LeakyReLU}(a_{\mathrm{target}}^\top g_i +
        a_{\mathrm{source}}^\top g_j)\big), \qquad h_i' = \sum_j \alpha_{ij} g_j

    Heads side by side and ELU in hidden layers, one head in the last. Dropout on the input, the
    hidden layers, and the attention of all layers but the last. A pruned edge isn't in the sum or
    in the softmax. With edge weights,
    :math:`\alpha_{ij} = a_{ij} \exp(e_{ij}) / \sum_k |a_{ik}| \exp(e_{ik})`. No bias.

    Args:
        in_channels: Number of features.
        out_channels: Number of classes.
        options: ``hidden_channels`` (of each head), ``num_layers``, ``dropout``, ``heads``.

    Example:
        >>> model = GAT(3, 2, hidden_channels=4)
        >>> model(torch.ones(2, 3), torch.tensor([[0, 1], [1, 0]])).shape
        torch.Size([2, 2])
    """

    OPTIONS: ClassVar[dict[str, Any]] = {
        "hidden_channels": 64,
        "num_layers": 2,
        "dropout": 0.6,
        "heads": 8,
    }

    by_layer: ClassVar[bool] = True
    PRODUCTS: ClassVar[tuple[str, ...]] = ("weights",)

    def __init__(self, in_channels: int, out_channels: int, **options: Any) -> None:
        super().__init__(in_channels, out_channels, **options)
        all_heads = [self.options["heads"]] * (self.num_layers - 1) + [1]
        self.weights = nn.ParameterList(torch.empty(size) for size in self.layer_sizes)
        shapes = [
            (heads, width // heads)
            for heads, width in zip(all_heads, self.channels[1:], strict=True)
        ]
        self.source_attention = nn.ParameterList(torch.empty(shape) for shape in shapes)
        self.target_attention = nn.ParameterList(torch.empty(shape) for shape in shapes)
        self.reset_parameters()

    @property
    def heads(self) -> list[int]:
        """Number of heads of each layer."""
        return [vectors.size(0) for vectors in self.source_attention]

    def reset_parameters(self) -> None:
        """Draw Glorot-uniform weights."""
        for weight in [*self.weights, *self.source_attention, *self.target_attention]:
            nn.init.xavier_uniform_(weight)

    def adjacency(self, pattern: Pattern, weights: Tensor | None = None) -> SparseMatrix:
        """Add self-loops; the values multiply the attention."""
        pattern = pattern.with_self_loops
        if weights is None:
            return SparseMatrix(pattern, self.weights[0].new_ones(pattern.nnz), unit=True)
        return SparseMatrix(pattern, loop_weights(weights, pattern))

    def layer(self, index: int, h: Input, adjacency: SparseMatrix) -> Tensor:
        """Compute one layer and its ELU; in training with dropout of its attention."""
        projected = self.project(index, (h,))
        output: Tensor = self.gather(index, projected, projected, adjacency)[0]
        return output

    def units(self) -> list[Units]:
        """Return whole heads, since each unit enters the attention of its head."""
        vectors = zip(self.source_attention, self.target_attention, strict=True)
        return [
            Units(
                source.size(0),
                (Part(weight, 1, source.size(1)),),
                (Part(following, 0, source.size(1)),),
                (Part(source, 0), Part(target, 0)),
            )
            for (weight, following), (source, target) in zip(
                pairwise(self.weights), vectors, strict=False
            )
        ]

    def project(self, index: int, rows: Rows) -> Rows:
        """Compute G = H W, and its products with both attention vectors, ``[N, heads]`` each."""
        g = multiply(rows[0], self.weights[index])
        per_node = multiply(g, self._attention_matrix(index))
        return g, *per_node.split(self.heads[index], dim=1)

    def gather(self, index: int, neighbours: Rows, own: Rows, adjacency: SparseMatrix) -> Rows:
        """Compute the attention over neighbours."""
        heads, last = self.heads[index], index == self.num_layers - 1
        (g, source, _), (_, _, target) = neighbours, own
        pattern = adjacency.pattern.repeat(heads)  # row and column: node and head
        scores = target.reshape(-1).index_select(0, pattern.row)
        scores = F.leaky_relu(scores + source.reshape(-1).index_select(0, pattern.col), 0.2)
        output = self.attend(index, scores, g.view(pattern.shape[1], -1), adjacency, pattern)
        output = output.view(target.size(0), -1)
        return (output if last else F.elu(output),)

    def layer_macs(self, x: Features, adjacency: SparseMatrix) -> list[int]:
        """Count per layer: H W, products with attention vectors, an entry times each output."""
        rows = x.shape[0]
        attention = self.source_attention, self.target_attention
        parts = zip(self.layer_inputs(x), self.weights, *attention, strict=True)
        return [
            product_macs(h, weight)
            + product_macs(rows, source)
            + product_macs(rows, target)
            + adjacency.pattern.nnz * weight.size(1)
            for h, weight, source, target in parts
        ]

    def _attention_matrix(self, layer: int) -> Tensor:
        """Return all attention vectors as one matrix ``[heads * width, 2 * heads]``."""
        own_head = torch.eye(self.heads[layer]).to(self.source_attention[layer])[:, None, :]
        blocks = [
            (vectors[layer][:, :, None] * own_head).flatten(0, 1)
            for vectors in (self.source_attention, self.target_attention)
        ]
        return torch.cat(blocks, dim=1)
