"""A plain training loop in the published style: dense features, scatter, topk, two forwards.

Written from the equations on its own: it shares no code with the library but the draw of dropout
factors, so that both drop the same entries.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from teddy.kernels.hidden import dropout


def dropout_factors(count, p, like):
    return dropout(like.new_ones(count), p)


class Reference:
    def __init__(self, name, model, data, edge_index, dropout):
        self.name, self.dropout = name, dropout
        self.params = {k: v.detach().clone().requires_grad_() for k, v in model.named_parameters()}
        self.layers = model.num_layers
        self.kinks = []  # of each step: how near to 0 each first hidden unit came, as a share
        self.heads = getattr(model, "heads", None)
        self.x = data.x.to_dense()
        self.nodes = self.x.size(0)
        edges = {(int(s), int(t)) for s, t in edge_index.t() if s != t}
        if name in ("gcn", "gat"):
            edges |= {(v, v) for v in range(self.nodes)}
        ordered = sorted(edges, key=lambda e: (e[1], e[0]))  # by target, then source
        self.source, self.target = torch.tensor(ordered, dtype=torch.long).reshape(-1, 2).t()
        counts = torch.unique_consecutive(self.target, return_counts=True)[1]
        self.entries_of_targets = torch.arange(len(ordered)).split(counts.tolist())
        ones = self.x.new_ones(len(ordered))
        self.degree = self.x.new_zeros(self.nodes).index_add_(0, self.target, ones)
        # Of each node's neighbours, the features' sum: the same in every step.
        self.sums = self.scatter(self.x[self.source]) if name in ("gin", "sage") else None

    def weight(self, name, layer):
        return self.params[f"{name}.{layer}"]

    def drop(self, h, training):
        if not training or self.dropout == 0:
            return h
        return h * dropout_factors(h.numel(), self.dropout, h).view_as(h)

    def drop_nonzeros(self, x, training):
        if not training or self.dropout == 0:
            return x
        factors = torch.zeros_like(x)
        factors[x != 0] = dropout_factors(int((x != 0).sum()), self.dropout, x)
        return x * factors

    def scatter(self, messages):
        out = messages.new_zeros(self.nodes, *messages.shape[1:])
        return out.index_add(0, self.target, messages)

    def forward(self, training):
        return getattr(self, self.name)(training)

    def gcn(self, training):
        h = self.x
        norm = self.degree[self.source].rsqrt() * self.degree[self.target].rsqrt()
        for layer in range(self.layers):
            h = self.drop(h, training) if layer else h
            h = h @ self.weight("weights", layer)
            h = self.scatter(norm[:, None] * h[self.source])
            h = h.relu() if layer < self.layers - 1 else h
        return h

    def gin(self, training):
        h, outputs = self.x, []
        for layer in range(self.layers):
            if layer:
                h = self.drop(h, training)
                outputs.append(h @ self.weight("readouts", layer - 1))
            sums = self.scatter(h[self.source]) if layer else self.sums
            h = (1 + self.params["eps"][layer]) * h + sums
            h = h @ self.weight("weights", layer)
            if training and layer == 0:
                size = h.detach().abs()
                self.kinks.append(size.masked_fill(size == 0, torch.inf).amin(0) / size.max())
            h = h.relu()
        return (sum(outputs) + h) / self.layers if outputs else h

    def sage(self, training):
        h = self.x
        for layer in range(self.layers):
            h = self.drop(h, training) if layer else h
            sums = self.scatter(h[self.source]) if layer else self.sums
            mean = sums / self.degree.clamp(min=1)[:, None]
            h = h @ self.weight("self_weights", layer) + mean @ self.weight(
                "neighbour_weights", layer
            )
            h = h.relu() if layer < self.layers - 1 else h
        return h

    def gat(self, training):
        h = self.x
        for layer in range(self.layers):
            heads, last = self.heads[layer], layer == self.layers - 1
            h = self.drop(h, training) if layer else self.drop_nonzeros(h, training)
            g = (h @ self.weight("weights", layer)).view(self.nodes, heads, -1)
            a = (g * self.weight("source_attention", layer)).sum(-1)[self.source]
            a = F.leaky_relu(
                a + (g * self.weight("target_attention", layer)).sum(-1)[self.target], 0.2
            )
            a = a.exp()
            a = a / self.scatter(a)[self.target]
            if not last and training and self.dropout:
                a = a * self.attention_factors(heads, a)
            h = self.scatter(a[:, :, None] * g[self.source]).reshape(self.nodes, -1)
            h = h if last else F.elu(h)
        return h

    def unimp(self, training):
        h, heads = self.x, self.heads
        for layer in range(self.layers):
            last = layer == self.layers - 1
            h = self.drop(h, training) if layer else self.drop_nonzeros(h, training)
            q, k, v, r = (
                h @ self.weight(name, layer) for name in ("queries", "keys", "values", "skips")
            )
            width = q.size(1)
            bias = self.weight("biases", layer)
            r = r + bias[2 * width :]
            q, k, v = (
                t.view(self.nodes, heads, -1)
                for t in (q + bias[:width], k, v + bias[width : 2 * width])
            )
            a = (q[self.target] * k[self.source]).sum(-1) / math.sqrt(q.size(2))
            a = (a - a.max()).exp()
            a = a / self.scatter(a)[self.target]
            if not last and training and self.dropout:
                a = a * self.attention_factors(heads, a)
            m = self.scatter(a[:, :, None] * v[self.source])
            m = m.mean(1) if last else m.reshape(self.nodes, -1)
            gate = torch.sigmoid(torch.cat([m, r, m - r], dim=1) @ self.weight("gates", layer))
            h = (1 - gate) * m + gate * r
            if not last:
                h = (h - h.mean(1, keepdim=True)) / (h.var(1, correction=0)[:, None] + 1e-5).sqrt()
                norm = f"norms.{layer}"
                h = (h * self.params[f"{norm}.weight"] + self.params[f"{norm}.bias"]).relu()
        return h

    def attention_factors(self, heads, like):
        """Factors drawn in the order target, head, source."""
        drawn = dropout_factors(like.numel(), self.dropout, like)
        factors, first = torch.empty_like(like), 0
        for entries in self.entries_of_targets:
            count = entries.numel() * heads
            factors[entries] = drawn[first : first + count].view(heads, -1).t()
            first += count
        return factors


def reference_loop(reference, data, config, teacher, weight_sparsity):
    """Yield the evaluation logits and the weights after each step."""
    parameters = list(reference.params.values())
    optimizer = torch.optim.Adam(parameters, lr=config.lr, weight_decay=config.weight_decay)
    total = sum(p.numel() for p in parameters)
    zeros = total - math.ceil(round((1 - weight_sparsity) * total, 6))
    for _ in range(config.epochs):
        logits = reference.forward(training=True)
        loss = F.nll_loss(logits[data.train_mask].log_softmax(1), data.y[data.train_mask])
        if teacher is not None:
            kl = F.kl_div(logits.log_softmax(1), teacher.softmax(1), reduction="sum")
            loss = loss + config.distill * kl / logits.size(0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            flat = torch.cat([p.abs().flatten() for p in parameters])
            mask = torch.ones_like(flat)
            mask[torch.topk(flat, zeros, largest=False).indices] = 0
            sizes = [p.numel() for p in parameters]
            for p, m in zip(parameters, mask.split(sizes), strict=True):
                p.mul_(m.view_as(p))
            yield (
                reference.forward(training=False),
                torch.cat([p.detach().flatten() for p in parameters]),
            )
