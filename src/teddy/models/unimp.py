"""UniMP: a graph transformer with attention along edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from teddy.kernels.layer import Input, multiply
from teddy.kernels.pattern import Pattern
from teddy.kernels.sparse import SparseMatrix, sampled_product
from teddy.models.base import Features, product_macs
from teddy.models.layered import AttentionGNN, Rows
from teddy.weights.units import Part, Units


class UniMP(AttentionGNN):
    r"""`Unified message passing <https://arxiv.org/abs/2009.03509>`_.

    For each head, over the neighbours :math:`j` of :math:`i`, with :math:`q = h W_q + b_q`,
    the same for :math:`v`, and :math:`k = h W_k` (a bias would cancel in the softmax):

    .. math::
        \alpha_{ij} = \mathrm{softmax}_j\big(q_i^\top k_j / \sqrt d\big), \qquad
        m_i = \sum_j \alpha_{ij} v_j

    and with :math:`r_i = h_i W_r + b_r` the residual is gated,

    .. math::
        \beta_i = \mathrm{sigmoid}\big(w^\top [m_i; r_i; m_i - r_i]\big), \qquad
        h_i' = (1 - \beta_i)\, m_i + \beta_i\, r_i

    or, with ``gated=False``, :math:`h_i' = m_i + r_i`. Heads side by side, layer norm and ReLU in
    hidden layers, the mean of the heads in the last. Dropout on the input, the hidden layers, and
    the attention of all layers but the last. A pruned edge isn't in the sum or in the softmax; a
    node without edges has :math:`m_i = 0`. With edge weights,
    :math:`\alpha_{ij} = a_{ij} \exp(e_{ij}) / \sum_k |a_{ik}| \exp(e_{ik})`.

    With ``label_rate`` above 0, labels of training nodes are inputs, too: an embedding of its
    label is added to a node's features. In each training step this share of them, drawn again,
    are inputs, and the others are predicted. After training all are inputs.

    Args:
        in_channels: Number of features.
        out_channels: Number of classes.
        options: ``hidden_channels`` (of each head), ``num_layers``, ``dropout``, ``heads``,
            ``gated``, ``label_rate`` (0: no label inputs; the paper has 0.625).

    Example:
        >>> model = UniMP(3, 2, hidden_channels=4)
        >>> model(torch.ones(2, 3), torch.tensor([[0, 1], [1, 0]])).shape
        torch.Size([2, 2])
    """

    OPTIONS: ClassVar[dict[str, Any]] = {
        "hidden_channels": 64, "num_layers": 2, "dropout": 0.6, "heads": 2, "gated": True,
        "label_rate": 0.0,
    }  # fmt: skip
    TRAINING: ClassVar[dict[str, float]] = {"lr": 0.003, "weight_decay": 0.02}
    UNSUPPORTED: ClassVar[Mapping[str, str]] = {
        "whole units": "its attention compares the hidden units of a head with each other",
    }

    queries: nn.ParameterList
    keys: nn.ParameterList
    values: nn.ParameterList

    def __init__(self, in_channels: int, out_channels: int, **options: Any) -> None:
        super().__init__(in_channels, out_channels, **options)
        self.heads: int = self.options["heads"]
        widths = [*self.channels[1:-1], self.heads * out_channels]
        sizes = list(zip(self.channels[:-1], widths, self.channels[1:], strict=True))
        for name in ("queries", "keys", "values"):
            weights = nn.ParameterList(torch.empty(n, width) for n, width, _ in sizes)
            setattr(self, name, weights)
        self.skips = nn.ParameterList(torch.empty(n, out) for n, _, out in sizes)
        self.biases = nn.ParameterList(torch.empty(2 * width + out) for _, width, out in sizes)
        gates = [torch.empty(3 * out, 1) for _, _, out in sizes] if self.options["gated"] else []
        self.gates = nn.ParameterList(gates)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for width in self.channels[1:-1])
        self.labels: nn.Parameter | None = None
        if self.options["label_rate"] > 0:
            self.labels = nn.Parameter(torch.empty(out_channels, in_channels))
        for name in ("known_nodes", "known_labels"):
            self.register_buffer(name, torch.empty(0, dtype=torch.long))
        self.to_predict: Tensor | None = None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw Glorot-uniform weights; biases and labels start at 0, norms at the identity."""
        for weight in [*self.queries, *self.keys, *self.values, *self.skips, *self.gates]:
            nn.init.xavier_uniform_(weight)
        for bias in self.biases:
            nn.init.zeros_(bias)
        for norm in self.norms:
            assert isinstance(norm, nn.LayerNorm)
            norm.reset_parameters()
        if self.labels is not None:
            nn.init.zeros_(self.labels)

    @property
    def deterministic(self) -> bool:
        """True if training and evaluation compute the same outputs."""
        return super().deterministic and self.labels is None

    def learn_labels(self, y: Tensor, nodes: Tensor) -> None:
        """Set the labels of these nodes as inputs."""
        if self.labels is not None:
            self.known_nodes, self.known_labels = nodes, y.index_select(0, nodes)
            self.uses_labels = True

    def adjacency(self, pattern: Pattern, weights: Tensor | None = None) -> SparseMatrix:
        """Return the edges; the values multiply the attention."""
        if weights is None:
            return SparseMatrix(pattern, self.queries[0].new_ones(pattern.nnz), unit=True)
        return SparseMatrix(pattern, weights)

    def feature_weights(self) -> Units:
        """Return rows of all four first weights, with columns of the label embedding."""
        labels = () if self.labels is None else (Part(self.labels, 1),)
        first = tuple(Part(weight, 0) for weight in self._weights(0))
        return Units(self.in_channels, (), first, labels)

    def layer(self, index: int, h: Input, adjacency: SparseMatrix) -> Tensor:
        """Compute one layer, its norm and ReLU; in training with dropout of its attention."""
        weight = torch.cat(self._weights(index), dim=1)
        g = multiply(h, weight)
        if index == 0 and self.labels is not None:
            g = g.index_add(0, *self._label_inputs(weight))
        parts = self._parts(index, g)
        output: Tensor = self.gather(index, parts, parts, adjacency)[0]
        return output

    def project(self, index: int, rows: Rows) -> Rows:
        """Compute keys, queries, values and residuals."""
        return self._parts(index, multiply(rows[0], torch.cat(self._weights(index), dim=1)))

    def gather(self, index: int, neighbours: Rows, own: Rows, adjacency: SparseMatrix) -> Rows:
        """Compute the attention over neighbours, and add the residual."""
        last = index == self.num_layers - 1
        (key, _, value, _), (_, query, _, residual) = neighbours, own
        pattern = adjacency.pattern.repeat(self.heads)  # row and column: node and head
        query, key, value = (t.reshape(t.size(0) * self.heads, -1) for t in (query, key, value))
        scores = sampled_product(query, key, pattern) / query.size(1) ** 0.5
        message = self.attend(index, scores, value, adjacency, pattern)
        message = message.view(residual.size(0), self.heads, -1)
        message = message.mean(dim=1) if last else message.flatten(1)

        if self.options["gated"]:
            both = torch.cat([message, residual, message - residual], dim=1)
            beta = torch.sigmoid(both @ self.gates[index])
            output = (1 - beta) * message + beta * residual
        else:
            output = message + residual
        return (output if last else F.relu(self.norms[index](output)),)

    def layer_macs(self, x: Features, adjacency: SparseMatrix) -> list[int]:
        """Count per layer: H W of all four, q k and alpha v along each entry, the gate."""
        return [
            sum(product_macs(h, weight) for weight in self._weights(index))
            + 2 * adjacency.pattern.nnz * self.values[index].size(1)
            + sum(product_macs(x.shape[0], gate) for gate in self.gates[index : index + 1])
            for index, h in enumerate(self.layer_inputs(x))
        ]

    def _parts(self, index: int, g: Tensor) -> Rows:
        """Split the product of a layer into keys, queries, values and residuals."""
        parts = self._weights(index)
        width = parts[0].size(1)
        rest = g[:, width:] + self.biases[index]
        return g[:, :width], *rest.split([width, width, parts[-1].size(1)], dim=1)

    def _weights(self, index: int) -> list[Tensor]:
        """Return the weights of keys, queries, values and residuals."""
        return [part[index] for part in (self.keys, self.queries, self.values, self.skips)]

    def _label_inputs(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Return the nodes with a label input, and its contribution to their product."""
        assert self.labels is not None
        nodes, labels, self.to_predict = self.known_nodes, self.known_labels, None
        if self.training and nodes.numel():
            drawn = torch.rand(nodes.numel(), device=nodes.device) < self.options["label_rate"]
            drawn[torch.randint(nodes.numel(), (1,), device=nodes.device)] = False  # one at least
            self.to_predict = nodes[~drawn]
            nodes, labels = nodes[drawn], labels[drawn]
        return nodes, (self.labels @ weight).index_select(0, labels)

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *args: Any) -> None:
        for name in ("known_nodes", "known_labels"):  # of any length
            stored = state.get(prefix + name)
            if stored is not None:
                setattr(self, name, stored.new_empty(stored.shape))
        super()._load_from_state_dict(state, prefix, *args)
