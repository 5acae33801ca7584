"""NAGphormer from its equations, in NumPy: a node at a time, a head at a time."""

from __future__ import annotations

import numpy as np
import torch
from scipy.special import erf

from teddy.kernels.pattern import edge_pattern
from teddy.models.nagphormer import NAGphormer
from teddy.models.spectrum import positions


def make(features=12, **options):
    torch.manual_seed(0)
    options = {"hidden_channels": 8, "heads": 2, "hops": 3, "positions": 3, **options}
    model = NAGphormer(features, 3, **options).double()
    for parameter in model.parameters():  # biases and LayerNorms too
        torch.nn.init.normal_(parameter, std=0.5)
    return model.eval()


def forms(x):
    return {"dense": x + 1.0, "sparse": x.to_sparse_csr()}


def dense(x):
    return x.to_dense() if x.layout != torch.strided else x


def softmax(scores):
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


def reference(model, x, edge_index):
    """A node at a time, a head at a time, tokens first."""
    own = {name: p.detach().numpy() for name, p in model.named_parameters()}
    n, width = x.size(0), model.options["hidden_channels"] // model.options["heads"]

    def linear(name, z):
        return z @ own[f"{name}.weight"].T + own[f"{name}.bias"]

    def norm(name, z):
        centred = z - z.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
        return scaled * own[f"{name}.weight"] + own[f"{name}.bias"]

    A = np.eye(n)
    for source, target in edge_index.t().tolist():
        A[target, source] = 1.0
    degrees = A.sum(axis=1)
    A = A / np.sqrt(np.outer(degrees, degrees))
    encoding = positions(edge_pattern(edge_index, n), model.options["positions"])
    X = np.concatenate([dense(x).numpy(), encoding.numpy()], axis=1)
    hops = [np.linalg.matrix_power(A, k) @ X for k in range(model.options["hops"] + 1)]

    logits = []
    for node in range(n):
        z = linear("project", np.stack([hop[node] for hop in hops]))
        for layer in range(model.options["num_layers"]):
            name = f"layers.{layer}"
            q, k, v = np.split(linear(f"{name}.attend", norm(f"{name}.attention_norm", z)), 3, 1)
            heads = [
                softmax(q[:, here] @ k[:, here].T / np.sqrt(width)) @ v[:, here]
                for start in range(0, q.shape[1], width)
                for here in [slice(start, start + width)]
            ]
            z = z + linear(f"{name}.merge", np.concatenate(heads, axis=1))
            wide = linear(f"{name}.widen", norm(f"{name}.forward_norm", z))
            z = z + linear(f"{name}.narrow", 0.5 * wide * (1 + erf(wide / np.sqrt(2))))
        z = norm("norm", z)
        output = z[0]
        if len(z) > 1:
            pairs = np.stack([np.concatenate([z[0], other]) for other in z[1:]])
            output = output + softmax(pairs @ own["attention.weight"][0]) @ z[1:]
        logits.append(linear("classify", np.maximum(linear("narrow", output), 0)))
    return torch.tensor(np.stack(logits))
