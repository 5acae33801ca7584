"""NAGphormer: a transformer over the hop neighbourhoods of each node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from teddy.errors import InputError
from teddy.kernels.hidden import Dropout
from teddy.kernels.pattern import Pattern
from teddy.kernels.sparse import SparseMatrix, normalised_adjacency
from teddy.machine import free_memory
from teddy.models.base import GNN, Features, draw_glorot, linear_units, product_macs
from teddy.models.spectrum import positions
from teddy.weights.units import Part, Units

# Nodes that are evaluated together, so that hidden layers fit into the cache.
_CHUNK = 512


@dataclass(frozen=True)
class Hops:
    r"""Prepared graph of NAGphormer, from which tokens are computed.

    Attributes:
        adjacency: :math:`D^{-1/2} (A + I) D^{-1/2}`.
        positions: ``[N, P]``, the Laplacian positional encoding.
    """

    adjacency: SparseMatrix
    positions: Tensor


class NAGphormer(GNN):
    r"""`Neighborhood aggregation graph transformer <https://arxiv.org/abs/2206.04910>`_.

    A node's tokens are its rows of :math:`\hat A^k X'`, one for each hop :math:`k = 0 \dots K`,
    with :math:`\hat A = D^{-1/2} (A + I) D^{-1/2}` of the given graph and
    :math:`X' = [X \,\|\, P]`, the features and the Laplacian positional encoding. With
    :math:`Z = \hat A^k X' W + b` a transformer computes, for each node by itself and :math:`L`
    times,

    .. math::
        Z \leftarrow Z + \mathrm{MSA}(\mathrm{LN}(Z)), \qquad
        Z \leftarrow Z + \mathrm{FFN}(\mathrm{LN}(Z))

    where FFN has one layer of twice the width and GELU, and then, after a last LN, from the tokens
    :math:`z_k` of a node

    .. math::
        \alpha_k = \mathrm{softmax}_{k \ge 1}\big([z_0 \,\|\, z_k]\, w_a\big), \qquad
        z = z_0 + \sum_{k=1}^{K} \alpha_k z_k

    and its logits from :math:`z` by a layer of half the width and ReLU. (The half of :math:`w_a`
    that meets :math:`z_0` is the paper's; it cancels in the softmax.) Dropout on the attention and
    on the outputs of MSA and FFN, and, for graphs with few labels, on the features and :math:`Z`.

    Sparse features are multiplied with :math:`W` first, :math:`\hat A^k (X' W)`; of dense ones
    the tokens are computed once, in :meth:`prepare`.

    Args:
        in_channels: Number of features.
        out_channels: Number of classes.
        options: ``hidden_channels``, a multiple of ``heads``; ``num_layers`` :math:`L`,
            ``hops`` :math:`K`, ``positions``, the columns of :math:`P` (the paper has 3 to 15),
            ``dropout``, and ``batch``, the nodes of a training step (0: all): a node's logits
            need its own tokens only.

    Example:
        >>> model = NAGphormer(3, 2, hidden_channels=4, heads=2)
        >>> model(torch.ones(2, 3), torch.tensor([[0, 1], [1, 0]])).shape
        torch.Size([2, 2])
    """

    OPTIONS: ClassVar[dict[str, Any]] = {
        "hidden_channels": 64,
        "num_layers": 1,
        "dropout": 0.5,
        "heads": 8,
        "hops": 7,
        "positions": 0,
        "batch": 0,
    }
    MAY_BE_ZERO: ClassVar[tuple[str, ...]] = ("hops", "positions", "batch")
    TRAINING: ClassVar[dict[str, float]] = {"lr": 0.003, "weight_decay": 0.005}
    UNSUPPORTED: ClassVar[Mapping[str, str]] = {
        "graph-classification": "its hop tokens cover a single graph",
        "mini-batches": "its hop tokens need the whole graph; use nagphormer:batch=N",
        "directed": "its adjacency is normalised as an undirected one",
        "edge weights": "its hop tokens are means over unweighted edges",
        "edge masks": "its hop tokens are computed before the training",
        "whole units": "its residual connections share the hidden units of all layers",
    }

    by_node = True

    def __init__(self, in_channels: int, out_channels: int, **options: Any) -> None:
        super().__init__(in_channels, out_channels, **options)
        hidden, heads = self.options["hidden_channels"], self.options["heads"]
        if hidden % heads:
            raise InputError(f"hidden_channels is {hidden}, expected a multiple of heads, {heads}")
        self.batch_size = self.options["batch"]
        self.project = nn.Linear(in_channels + self.options["positions"], hidden)
        self.layers = nn.ModuleList(
            EncoderLayer(hidden, heads, self.dropout) for _ in range(self.options["num_layers"])
        )
        self.norm = nn.LayerNorm(hidden)
        # Without hops there is no attention.
        self.attention = nn.Linear(2 * hidden, 1, bias=False) if self.options["hops"] else None
        self.narrow = nn.Linear(hidden, max(1, hidden // 2))
        self.classify = nn.Linear(max(1, hidden // 2), out_channels)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw Glorot-uniform weights."""
        draw_glorot(self)

    def structure(self, pattern: Pattern, weights: Tensor | None = None) -> Hops:
        """Normalise the adjacency, and compute the positional encoding."""
        weight, count = self.project.weight, self.options["positions"]
        encoding = weight.new_zeros(pattern.shape[0], 0)
        if count:
            encoding = positions(pattern, count).to(weight)
        return Hops(normalised_adjacency(pattern, weight.dtype), encoding)

    def prepare(
        self,
        x: Features,
        edge_index: Any,
        edge_weight: Tensor | None = None,
        degree: Tensor | None = None,
    ) -> tuple[Features, Any]:
        """Prepare the inputs; dense features become tokens ``[N, K + 1, F + P]``."""
        if isinstance(x, Tensor) and x.dim() == 3:
            return x, edge_index
        x, structure = super().prepare(x, edge_index, edge_weight, degree)
        if isinstance(x, Tensor):
            x = torch.cat([x, structure.positions], dim=1)
            x = hop_tokens(structure.adjacency, x, self.options["hops"])
        return x, structure

    def stem(self, x: Features, structure: Hops, nodes: Tensor | None = None) -> Tensor:
        """Project the tokens of all nodes, or of these: ``[N, K + 1, hidden]``."""
        if isinstance(x, Tensor):
            z: Tensor = self.project(self.dropout(x if nodes is None else x[nodes]))
            return z
        of_features, of_positions = self._project_weights()
        hops = [self.dropout(x) @ of_features.t() + structure.positions @ of_positions.t()]
        for _ in range(self.options["hops"]):
            hops.append(structure.adjacency @ hops[-1])
        if nodes is not None:
            hops = [h.index_select(0, nodes) for h in hops]
        return torch.stack(hops, dim=1) + self.project.bias

    def head(self, stem: Tensor, structure: Hops) -> Tensor:
        """Compute the logits of the nodes of these projected tokens."""
        if self.training or torch.is_grad_enabled():
            return self._logits(stem)
        return torch.cat([self._logits(part) for part in stem.split(_CHUNK)])

    def _logits(self, z: Tensor) -> Tensor:
        z = self.dropout(z)
        for layer in self.layers:
            z = layer(z)
        z = self.norm(z)
        output = z[:, 0]
        if self.attention is not None:
            node, hop = self.attention.weight.view(2, -1)
            scores = z[:, 1:] @ hop + (output @ node)[:, None]
            output = output + (scores.softmax(dim=1)[:, None] @ z[:, 1:]).squeeze(1)
        logits: Tensor = self.classify(self.narrow(output).relu())
        return logits

    def feature_weights(self) -> Units:
        """Return columns of the projection, without those of positions."""
        return Units(self.in_channels, (), (Part(self.project.weight, 1),))

    def units(self) -> list[Units]:
        """Return the units of each feed-forward network, and of the classifier."""
        layers: list[Any] = list(self.layers)
        networks = [linear_units(layer.widen, layer.narrow) for layer in layers]
        return [*networks, linear_units(self.narrow, self.classify)]

    def _project_weights(self) -> tuple[Tensor, Tensor]:
        widths = [self.in_channels, self.options["positions"]]
        of_features, of_positions = self.project.weight.split(widths, dim=1)
        return of_features, of_positions

    def layer_macs(self, x: Features, structure: Hops) -> list[int]:
        """Count tokens, each encoder layer, and readout with classifier.

        Tokens are the projection, and an entry of A times each column of the features: projected
        ones if they are sparse. A layer is four products with weights, and two products of each
        pair of a node's tokens in the hidden width. The readout is a score and a weighted token
        for each hop.
        """
        weight, rows, hops = self.project.weight, x.shape[0], self.options["hops"]
        tokens, hidden = rows * (hops + 1), self.options["hidden_channels"]
        entries = hops * structure.adjacency.pattern.nnz
        if isinstance(x, SparseMatrix):
            of_features, of_positions = self._project_weights()
            first = product_macs(x, of_features.t()) + product_macs(rows, of_positions)
            first += entries * hidden
        else:
            first = product_macs(tokens, weight) + entries * weight.size(1)
        pairs = 2 * tokens * (hops + 1) * hidden
        layers = [
            pairs + sum(product_macs(tokens, p) for p in layer.parameters() if p.dim() == 2)
            for layer in self.layers
        ]
        last = sum(product_macs(rows, layer.weight) for layer in (self.narrow, self.classify))
        if self.attention is not None:
            node, hop = self.attention.weight.split(hidden, dim=1)
            last += product_macs(rows, node) + product_macs(rows * hops, hop) + rows * hops * hidden
        return [first, *layers, last]


class EncoderLayer(nn.Module):
    """Pre-norm transformer layer: multi-head attention and a feed-forward network.

    Dropout is on the attention and on both outputs. ``heads`` divides ``hidden_channels``.
    """

    def __init__(self, hidden: int, heads: int, dropout: Dropout) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.attention_norm, self.forward_norm = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.attend = nn.Linear(hidden, 3 * hidden)  # queries, keys and values
        self.merge = nn.Linear(hidden, hidden)
        self.widen, self.narrow = nn.Linear(hidden, 2 * hidden), nn.Linear(2 * hidden, hidden)

    def forward(self, z: Tensor) -> Tensor:
        """Compute the layer on ``[N, tokens, hidden]``."""
        z = z + self.dropout(self.merge(self._attention(self.attention_norm(z))))
        output: Tensor = self.dropout(self.narrow(F.gelu(self.widen(self.forward_norm(z)))))
        return z + output

    def _attention(self, z: Tensor) -> Tensor:
        split = self.attend(z).unflatten(-1, (3, self.heads, -1))
        q, k, v = split.permute(2, 0, 3, 1, 4)  # each [N, heads, tokens, width]
        # Keys by queries: a softmax over rows is the faster one where rows are this short.
        scores = k @ (q * q.size(-1) ** -0.5).transpose(-1, -2)
        attention = self.dropout(scores.softmax(dim=-2))
        output: Tensor = attention.transpose(-1, -2) @ v
        return output.transpose(1, 2).reshape(z.shape)


def hop_tokens(adjacency: SparseMatrix, x: Tensor, hops: int) -> Tensor:
    r"""Stack :math:`\hat A^k X` for :math:`k = 0 \dots K`: ``[N, K + 1, F]``, of dense features."""
    _check_memory(x, hops)
    tokens = x.new_empty(x.size(0), hops + 1, x.size(1))
    tokens[:, 0] = x
    for hop in range(1, hops + 1):
        x = adjacency @ x
        tokens[:, hop] = x
    return tokens


def _check_memory(x: Tensor, hops: int) -> None:
    """Raise if the tokens, and two temporary products, exceed the free memory."""
    need = (hops + 3) * x.numel() * x.itemsize
    free = free_memory()
    if x.device.type == "cpu" and need > free:
        raise InputError(
            f"the tokens of {x.size(0)} nodes and {hops} hops need {need / 2**30:.1f} GiB of "
            f"memory, {free / 2**30:.1f} GiB are free: use fewer hops"
        )
