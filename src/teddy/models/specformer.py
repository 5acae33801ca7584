"""Specformer: a spectral filter of the whole graph, learned by a transformer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from teddy.kernels.layer import multiply
from teddy.kernels.pattern import Pattern
from teddy.models.base import GNN, Features, draw_glorot, linear_units, product_macs
from teddy.models.spectrum import Spectrum, spectrum
from teddy.weights.units import Part, Units


@dataclass(frozen=True)
class Filter:
    r"""Spectral filter of all layers together.

    Attributes:
        passed: ``[C]``, :math:`\prod w_0`, the factor of the whole signal.
        response: ``[k, C]``, the additional factor of each eigenvalue.
        vectors: ``[N, k]``, :math:`U`.
    """

    passed: Tensor
    response: Tensor
    vectors: Tensor


class Specformer(GNN):
    r"""`Specformer <https://arxiv.org/abs/2303.01028>`_, as released for nodes of a graph.

    With :math:`L = U \Lambda U^\top` of the given graph, pruned or not, and new eigenvalues
    :math:`\bar\lambda_m` from a transformer over all eigenvalues for each head :math:`m`:

    .. math::
        H^{(0)} = \mathrm{ReLU}(X W_1 + b_1) W_2 + b_2, \qquad
        H^{(l+1)} = H^{(l)} \odot w^{(l)}_0 + \sum_m
        U\, \mathrm{diag}(\bar\lambda_m)\, U^\top H^{(l)} \odot w^{(l)}_m

    with one column for each class. Dropout on the features and on :math:`H^{(0)}`. Since layers are
    linear and :math:`U^\top U = I`, all are computed as one filter, with two products with
    :math:`U` for any number of layers and heads.

    With a part of the spectrum (``eigenvalues``) the rest of a signal is multiplied by :math:`w_0`.

    Args:
        in_channels: Number of features.
        out_channels: Number of classes.
        options: ``hidden_channels``, of features and of eigenvalues, ``num_layers``, ``heads``,
            ``dropout``, ``eigenvalues``: their number, 0 for all of them; see
            :func:`~teddy.models.spectrum.spectrum`.

    Example:
        >>> model = Specformer(3, 2, hidden_channels=4)
        >>> model(torch.ones(2, 3), torch.tensor([[0, 1], [1, 0]])).shape
        torch.Size([2, 2])
    """

    OPTIONS: ClassVar[dict[str, Any]] = {
        "hidden_channels": 32,
        "num_layers": 2,
        "dropout": 0.6,
        "heads": 4,
        "eigenvalues": 0,
    }
    MAY_BE_ZERO: ClassVar[tuple[str, ...]] = ("eigenvalues",)
    # The filter learns fast: with 0.01 it fits the training nodes within 20 epochs.
    TRAINING: ClassVar[dict[str, float]] = {"lr": 1e-3}
    UNSUPPORTED: ClassVar[Mapping[str, str]] = {
        "graph-classification": "its eigenvalues describe a single graph",
        "mini-batches": "its eigenvectors need the whole graph",
        "directed": "its eigenvectors need a symmetric matrix",
        "edge weights": "its spectrum is that of the unweighted Laplacian",
        "edge masks": "its eigenvectors are computed before the training",
        "whole units": "its residual connections share the hidden units of all layers",
    }

    def __init__(self, in_channels: int, out_channels: int, **options: Any) -> None:
        super().__init__(in_channels, out_channels, **options)
        hidden, heads = self.options["hidden_channels"], self.options["heads"]
        self.encoder = nn.Linear(in_channels, hidden)
        self.classifier = nn.Linear(hidden, out_channels)
        self.eigenvalues = EigenvalueTransformer(hidden, heads)
        self.combinations = nn.ParameterList(
            torch.empty(heads + 1, out_channels) for _ in range(self.options["num_layers"])
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw Glorot-uniform weights; a layer starts as the mean of its bases."""
        draw_glorot(self.encoder)
        draw_glorot(self.classifier)
        self.eigenvalues.reset_parameters()
        for weights in self.combinations:
            nn.init.constant_(weights, 1 / len(weights))

    def structure(self, pattern: Pattern, weights: Tensor | None = None) -> Spectrum:
        """Return the spectrum of the graph's Laplacian."""
        pairs, weight = spectrum(pattern, self.options["eigenvalues"]), self.encoder.weight
        return Spectrum(pairs.values.to(weight), pairs.vectors.to(weight))

    def feature_weights(self) -> Units:
        """Return columns of the encoder."""
        return Units(self.in_channels, (), (Part(self.encoder.weight, 1),))

    def units(self) -> list[Units]:
        """Return the units of the feature encoder, and of the eigenvalues' feed-forward network."""
        feed, fed = self.eigenvalues.feed, self.eigenvalues.fed
        return [linear_units(self.encoder, self.classifier), linear_units(feed, fed)]

    def freeze(self, structure: Spectrum) -> Filter:
        """Compute the filter of all layers; equal eigenvalues are computed once."""
        values, which, copies = _distinct(structure)
        new = self.eigenvalues(values, copies)
        passed, response = torch.ones_like(self.combinations[0][0]), torch.ones_like(new[:, :1])
        for weights in self.combinations:
            passed = passed * weights[0]
            response = response * (weights[0] + new @ weights[1:])
        return Filter(passed, (response - passed).index_select(0, which), structure.vectors)

    def stem(self, x: Features, structure: Spectrum | Filter) -> tuple[Features, Filter]:
        """Compute the filter, unless it is computed already."""
        return x, structure if isinstance(structure, Filter) else self.freeze(structure)

    def head(self, stem: tuple[Features, Filter], structure: Spectrum | Filter) -> Tensor:
        """Encode the features and filter them."""
        x, spectral_filter = stem
        h: Tensor = multiply(self.dropout(x), self.encoder.weight.t()) + self.encoder.bias
        h = self.dropout(multiply(h.relu(), self.classifier.weight.t()) + self.classifier.bias)
        # Few classes: with rows of them on the left of U all products, the gradient's too, are
        # several times as fast.
        coefficients = spectral_filter.response.t().contiguous() * (
            h.t().contiguous() @ spectral_filter.vectors
        )
        return h * spectral_filter.passed + (coefficients @ spectral_filter.vectors.t()).t()

    def layer_macs(self, x: Features, structure: Spectrum | Filter) -> list[int]:
        """Count the feature encoder, the eigenvalues' transformer, and the filter of all layers.

        The filter is two products of non-zero entries of U with each class, a weight of a layer
        for each distinct eigenvalue, and its products with coefficients and with H. A computed
        filter costs its products with U and H only.
        """
        rows, k = structure.vectors.shape
        distinct = 0 if isinstance(structure, Filter) else _distinct(structure)[0].numel()
        encoder = product_macs(x, self.encoder.weight.t())
        entries = 2 * int(torch.count_nonzero(structure.vectors)) + k + rows
        return [
            encoder + product_macs(rows, self.classifier.weight.t()),
            self.eigenvalues.macs(distinct),
            entries * self.out_channels
            + sum(product_macs(distinct, weights[1:]) for weights in self.combinations),
        ]


class EigenvalueTransformer(nn.Module):
    r"""Transformer from all eigenvalues of a graph to new ones, one for each head.

    An eigenvalue is encoded as itself with the sine and cosine of
    :math:`100 \lambda / 10000^{2i / d}` for the width :math:`d`. Self-attention and a feed-forward
    network follow, each with layer norm and residual connection, then a linear decoder.
    """

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.hidden, self.heads = hidden, heads
        attended = -(-hidden // heads) * heads
        self.encoding = nn.Linear(1 + 2 * -(-hidden // 2), hidden)
        self.attention_norm = nn.LayerNorm(hidden)
        self.query, self.key, self.value = (nn.Linear(hidden, attended) for _ in range(3))
        self.attended = nn.Linear(attended, hidden)
        self.feed_norm = nn.LayerNorm(hidden)
        self.feed = nn.Linear(hidden, hidden)
        self.fed = nn.Linear(hidden, hidden)
        self.decoder = nn.Linear(hidden, heads)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        r"""Draw Glorot-uniform weights with which new eigenvalues start near 1 - lambda.

        That is a low-pass filter as in GCN, which few labels do not learn from a random filter.
        One hidden unit carries it from the encoding to the decoder.
        """
        draw_glorot(self)
        with torch.no_grad():
            for linear in (self.encoding, self.attended, self.fed):
                linear.weight[0] = 0
            self.encoding.weight[0, 0] = -1
            self.decoder.weight *= 0.1
            self.decoder.weight[:, 0] = 1
            self.decoder.bias.fill_(1)

    def forward(self, values: Tensor, copies: Tensor) -> Tensor:
        """Compute the new eigenvalues ``[k, heads]``.

        Args:
            values: Distinct eigenvalues ``[k]``.
            copies: Multiplicity of each.
        """
        powers = torch.arange(0, self.hidden, 2, device=values.device, dtype=values.dtype)
        angles = 100 * values[:, None] * torch.exp(powers * (-math.log(10000) / self.hidden))
        z = self.encoding(torch.cat([values[:, None], angles.sin(), angles.cos()], dim=1))
        normed = self.attention_norm(z)
        query, key, value = (
            linear(normed).view(1, z.size(0), self.heads, -1).transpose(1, 2)
            for linear in (self.query, self.key, self.value)
        )
        # A key with multiplicity c counts c times: log c is added to its score.
        often = copies.to(z.dtype).log().view(1, 1, 1, -1)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=often)
        z = z + self.attended(mixed.transpose(1, 2).reshape(z.size(0), -1))
        z = z + self.fed(F.gelu(self.feed(self.feed_norm(z))))
        new: Tensor = self.decoder(z)
        return new

    def macs(self, count: int) -> int:
        """Count products of distinct eigenvalues with weights, and with each other."""
        linears = [module for module in self.modules() if isinstance(module, nn.Linear)]
        weights = sum(product_macs(count, linear.weight.t()) for linear in linears)
        return weights + 2 * count * count * self.query.out_features


def _distinct(structure: Spectrum) -> tuple[Tensor, Tensor, Tensor]:
    """Return distinct eigenvalues, the index of each eigenvalue, and multiplicities."""
    distinct: tuple[Tensor, Tensor, Tensor] = torch.unique_consecutive(
        structure.values, return_inverse=True, return_counts=True
    )
    return distinct
