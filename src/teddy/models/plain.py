"""Built-in models as plain tensor operations, for export.

They compute the same as the models, for evaluation on dense features, without compiled kernels,
sparse matrices or custom gradients, so that ``torch.export`` can trace them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from teddy.errors import InputError
from teddy.models.base import GNN
from teddy.models.gat import GAT
from teddy.models.gcn import GCN
from teddy.models.gin import GIN
from teddy.models.sage import SAGE
from teddy.models.unimp import UniMP


class Plain(nn.Module):
    """Built-in model in plain tensor operations, for evaluation.

    ``edge_index`` lists each message once, as :meth:`teddy.ticket.Ticket.edge_index` returns it.
    Self-loops in it are ignored. ``edge_weight`` ``[E]`` are weights of its columns. Weights are
    shared with the model: a GCN, GAT, GIN, SAGE, or a UniMP without label inputs.

    Example:
        >>> model = GCN(3, 2, hidden_channels=4).eval()
        >>> x, edge_index = torch.ones(3, 3), torch.tensor([[0, 1], [1, 0]])
        >>> bool(torch.allclose(Plain(model)(x, edge_index), model(x, edge_index)))
        True
    """

    def __init__(self, model: GNN) -> None:
        super().__init__()
        if type(model) not in _FORWARD:
            raise InputError(
                f"a {type(model).__name__} cannot be exported, expected a GCN, GAT, GIN, SAGE, "
                "UniMP, or your own module"
            )
        if model.uses_labels or getattr(model, "known_nodes", torch.empty(0)).numel():
            raise InputError(
                "a UniMP with label inputs cannot be exported, since labels belong to its graph, "
                "expected one with label_rate=0"
            )
        self.model = model

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Compute the logits ``[N, C]``."""
        return _FORWARD[type(self.model)](self.model, x, _Edges(x, edge_index, edge_weight))


def plain_readout(kind: str, outputs: Tensor, batch: Tensor) -> Tensor:
    """Pool the outputs of each graph's nodes to one row, ``[G, C]``: mean, sum or max.

    Args:
        kind: ``mean``, ``sum`` or ``max``.
        outputs: Outputs of the nodes, ``[N, C]``.
        batch: Graph of each node, int64 ``[N]``.
    """
    graphs = batch.max().item() + 1  # not int(), which torch.export would take as fixed
    size, place = (graphs, outputs.size(1)), batch[:, None].expand_as(outputs)
    if kind == "max":
        lowest = outputs.new_full(size, -torch.inf)  # type: ignore[arg-type]
        return lowest.scatter_reduce(0, place, outputs, "amax")
    total = outputs.new_zeros(size).scatter_add(0, place, outputs)  # type: ignore[arg-type]
    if kind == "sum":
        return total
    count = torch.zeros_like(total).scatter_add(0, place, torch.ones_like(outputs))
    return total / count.clamp(min=1)


class _Edges:
    """Edges for sums over neighbours.

    Attributes:
        absent: Mask of self-loops and of edges of weight 0, bool ``[E, 1]``.
        weight: Weights ``[E, 1]``, by default 1; 0 where absent.
        size: Absolute values of the weights.
    """

    def __init__(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> None:
        self.source, self.target = edge_index[0], edge_index[1]
        self.num_nodes = x.size(0)
        # The number of self-loops is unknown at tracing: they remain, with weight 0.
        self.absent = (self.source == self.target)[:, None]
        if edge_weight is None:
            self.weight = torch.ones_like(self.absent, dtype=x.dtype).masked_fill(self.absent, 0)
            self.size = self.weight
        else:
            self.weight = edge_weight.to(x.dtype)[:, None].masked_fill(self.absent, 0)
            self.absent, self.size = self.weight == 0, self.weight.abs()

    def sum(self, messages: Tensor) -> Tensor:
        """Sum messages at each target; ``[E, C]`` to ``[N, C]``."""
        # Not index_add: in ONNX that is ScatterND, whose threads in onnxruntime overwrite each
        # other's sums; ScatterElements adds one after the other.
        target = self.target[:, None].expand_as(messages)
        return messages.new_zeros(self.num_nodes, messages.size(1)).scatter_add(0, target, messages)

    def neighbours(self, h: Tensor) -> Tensor:
        """Return A H."""
        return self.sum(self.weight * h.index_select(0, self.source))

    def degree(self) -> Tensor:
        """Return the degrees ``[N, 1]``."""
        return self.sum(self.size)

    def attend(self, scores: Tensor, values: Tensor) -> Tensor:
        """Sum values ``[N, heads * d]`` by the softmax of scores ``[E, heads]`` at each target."""
        scores = scores.masked_fill(self.absent, torch.finfo(scores.dtype).min)
        target = self.target[:, None].expand_as(scores)
        lowest = scores.new_full((self.num_nodes, scores.size(1)), torch.finfo(scores.dtype).min)
        highest = lowest.scatter_reduce(0, target, scores, "amax")
        shares = (scores - highest.index_select(0, self.target)).exp()
        totals = self.sum(self.size * shares)
        totals = totals.masked_fill(totals == 0, 1.0)  # a node without edges
        attention = self.weight * shares / totals.index_select(0, self.target)
        messages = values.index_select(0, self.source).unflatten(1, (scores.size(1), -1))
        return self.sum((attention[:, :, None] * messages).flatten(1))


class _LoopedEdges(_Edges):
    """Edges with a self-loop for each node."""

    def __init__(self, edges: _Edges) -> None:
        nodes = torch.arange(edges.num_nodes, device=edges.target.device)
        self.source = torch.cat([edges.source, nodes])
        self.target = torch.cat([edges.target, nodes])
        self.num_nodes = edges.num_nodes
        none = torch.zeros_like(nodes, dtype=torch.bool)[:, None]
        ones = torch.ones_like(none, dtype=edges.weight.dtype)
        self.absent = torch.cat([edges.absent, none])
        self.weight = torch.cat([edges.weight, ones])
        self.size = torch.cat([edges.size, ones])


def _gcn(model: Any, x: Tensor, edges: _Edges) -> Tensor:
    scale = (1 + edges.degree()).rsqrt()
    h = x
    for index, weight in enumerate(model.weights):
        g = scale * ((h.relu() if index else h) @ weight)
        h = scale * (edges.neighbours(g) + g)
    return h


def _gin(model: Any, x: Tensor, edges: _Edges) -> Tensor:
    h, logits = x, torch.zeros((), dtype=x.dtype)
    for index, weight in enumerate(model.weights):
        g = h @ weight
        h = (edges.neighbours(g) + (1 + model.eps[index]) * g).relu()
        last = index == model.num_layers - 1
        logits = logits + (h if last else h @ model.readouts[index])
    return logits / len(model.weights)


def _sage(model: Any, x: Tensor, edges: _Edges) -> Tensor:
    degree = edges.degree().clamp(min=1)
    h = x
    for index in range(model.num_layers):
        h = h.relu() if index else h
        total = edges.neighbours(h @ model.neighbour_weights[index])
        h = h @ model.self_weights[index] + total / degree
    return h


def _gat(model: Any, x: Tensor, edges: _Edges) -> Tensor:
    edges = _LoopedEdges(edges)
    h = x
    for index, heads in enumerate(model.heads):
        g = (F.elu(h) if index else h) @ model.weights[index]
        by_head = g.unflatten(1, (heads, -1))
        source = (by_head * model.source_attention[index]).sum(dim=2)
        target = (by_head * model.target_attention[index]).sum(dim=2)
        scores = source.index_select(0, edges.source) + target.index_select(0, edges.target)
        h = edges.attend(F.leaky_relu(scores, 0.2), g)
    return h


def _unimp(model: Any, x: Tensor, edges: _Edges) -> Tensor:
    h = x
    for index in range(model.num_layers):
        last, heads = index == model.num_layers - 1, model.heads
        width, out = model.keys[index].size(1), model.skips[index].size(1)
        biases = model.biases[index].split([width, width, out])
        key = (h @ model.keys[index]).unflatten(1, (heads, -1))
        query = (h @ model.queries[index] + biases[0]).unflatten(1, (heads, -1))
        value = h @ model.values[index] + biases[1]
        residual = h @ model.skips[index] + biases[2]
        pairs = query.index_select(0, edges.target) * key.index_select(0, edges.source)
        message = edges.attend(pairs.sum(dim=2) / (width // heads) ** 0.5, value)
        if last:
            message = message.unflatten(1, (heads, -1)).mean(dim=1)
        if model.options["gated"]:
            both = torch.cat([message, residual, message - residual], dim=1)
            beta = torch.sigmoid(both @ model.gates[index])
            h = (1 - beta) * message + beta * residual
        else:
            h = message + residual
        if not last:
            h = F.relu(model.norms[index](h))
    return h


_FORWARD: dict[type[GNN], Callable[[Any, Tensor, _Edges], Tensor]] = {
    GCN: _gcn,
    GAT: _gat,
    GIN: _gin,
    SAGE: _sage,
    UniMP: _unimp,
}
