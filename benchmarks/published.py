"""Training in the style of published code for this method: the baseline for speed.

It has dense features, PyTorch's sparse products for the adjacency, `topk` over all parameters after
every step, a second forward for every evaluation, and plain Adam. It starts from the weights of one
of our models, and without dropout it gives the same logits (tests/test_benchmarks.py).
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.utils import softmax


class PublishedGCN(nn.Module):
    """GCN: A (H W), ReLU, dropout on the hidden layer."""

    def __init__(self, ours: Any, data: Data) -> None:
        super().__init__()
        self.linears = nn.ModuleList(linear(weight) for weight in ours.weights)
        self.dropout = ours.dropout.p
        source, target = with_self_loops(data)
        scale = torch.bincount(target, minlength=data.num_nodes).float().rsqrt()
        self.adjacency = csr(target, source, scale[source] * scale[target], data.num_nodes)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits."""
        h = (self.adjacency @ self.linears[0](x)).relu()
        h = F.dropout(h, self.dropout, self.training)
        z: Tensor = self.adjacency @ self.linears[1](h)
        return z


class PublishedGIN(nn.Module):
    """GIN: ((1 + eps) H + A H) W, ReLU, mean of both layers' outputs."""

    def __init__(self, ours: Any, data: Data) -> None:
        super().__init__()
        self.linears = nn.ModuleList(linear(weight) for weight in ours.weights)
        self.readout = linear(ours.readouts[0])
        self.eps = nn.ParameterList(eps.detach().clone() for eps in ours.eps)
        source, target = data.edge_index
        self.adjacency = csr(target, source, torch.ones(source.numel()), data.num_nodes)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits."""
        h1 = self.linears[0]((1 + self.eps[0]) * x + self.adjacency @ x).relu()
        h2 = self.linears[1]((1 + self.eps[1]) * h1 + self.adjacency @ h1).relu()
        z: Tensor = (self.readout(h1) + h2) / 2
        return z


class PublishedGAT(nn.Module):
    """GAT over a list of edges: gather, softmax by scatter, scatter."""

    def __init__(self, ours: Any, data: Data) -> None:
        super().__init__()
        self.linears = nn.ModuleList(linear(weight) for weight in ours.weights)
        self.sources = nn.ParameterList(a.detach().clone() for a in ours.source_attention)
        self.targets = nn.ParameterList(a.detach().clone() for a in ours.target_attention)
        self.dropout = ours.dropout.p
        self.source, self.target = with_self_loops(data)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits."""
        h = F.dropout(x, self.dropout, self.training)
        h = F.elu(self.attend(h, 0, self.dropout))
        h = F.dropout(h, self.dropout, self.training)
        return self.attend(h, 1, 0.0)

    def attend(self, h: Tensor, layer: int, dropout: float) -> Tensor:
        """Return the output of one attention layer."""
        heads, width = self.sources[layer].shape
        g = self.linears[layer](h).view(-1, heads, width)
        scores = (g * self.sources[layer]).sum(-1)[self.source]
        scores = F.leaky_relu(scores + (g * self.targets[layer]).sum(-1)[self.target], 0.2)
        attention = softmax(scores, self.target, num_nodes=g.size(0))
        attention = F.dropout(attention, dropout, self.training)
        messages = attention.unsqueeze(-1) * g[self.source]
        out = torch.zeros_like(g).index_add_(0, self.target, messages)
        return out.view(g.size(0), -1)


PUBLISHED = {"gcn": PublishedGCN, "gin": PublishedGIN, "gat": PublishedGAT}


class PublishedTraining:
    """Training loop: `epoch()` does one step, the projection and the evaluation."""

    def __init__(self, model: nn.Module, data: Data, teacher: Tensor, sparsity: float) -> None:
        self.model, self.data, self.teacher, self.sparsity = model, data, teacher, sparsity
        self.x = data.x.to_dense()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

    def epoch(self) -> Tensor:
        """Train one epoch; return the logits of its evaluation."""
        data = self.data
        logits: Tensor = self.model.train()(self.x)
        loss = F.nll_loss(F.log_softmax(logits, dim=1)[data.train_mask], data.y[data.train_mask])
        kl = F.kl_div(F.log_softmax(logits, dim=1), F.softmax(self.teacher, dim=1), reduction="sum")
        loss = loss + 10.0 * kl / logits.size(0)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        project_topk(list(self.model.parameters()), self.sparsity)
        with torch.no_grad():
            logits = self.model.eval()(self.x)
            for mask in (data.val_mask, data.test_mask):
                (logits[mask].argmax(dim=1) == data.y[mask]).float().mean().item()
        return logits


@torch.no_grad()
def project_topk(parameters: list[Tensor], sparsity: float) -> None:
    """Set the smallest magnitudes to zero, by `topk` over all of them."""
    magnitudes = torch.cat([p.abs().flatten() for p in parameters])
    count = int(sparsity * magnitudes.numel())
    _, smallest = torch.topk(magnitudes, count, largest=False)
    mask = torch.ones_like(magnitudes)
    mask[smallest] = 0
    for p, part in zip(parameters, mask.split([p.numel() for p in parameters]), strict=True):
        p.mul_(part.view_as(p))


def linear(weight: Tensor) -> nn.Linear:
    """Return a linear layer with one of our weights."""
    layer = nn.Linear(weight.size(0), weight.size(1), bias=False)
    with torch.no_grad():
        layer.weight.copy_(weight.t())
    return layer


def with_self_loops(data: Data) -> Tensor:
    """Return the edges with a self-loop at every node."""
    return torch.cat([data.edge_index, torch.arange(data.num_nodes).expand(2, -1)], dim=1)


def csr(row: Tensor, col: Tensor, values: Tensor, size: int) -> Tensor:
    """Return a sparse matrix in PyTorch's CSR layout."""
    return torch.sparse_coo_tensor(torch.stack([row, col]), values, (size, size)).to_sparse_csr()
