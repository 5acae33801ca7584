"""Specformer from its equations, in NumPy: one head and one layer at a time."""

from __future__ import annotations

import numpy as np
import torch
from scipy.special import erf

from models.graphs import laplacian
from teddy.kernels.pattern import edge_pattern
from teddy.models.spectrum import Spectrum


def linear(layer, x):
    return x @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()


def norm(layer, x):
    x = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + layer.eps)
    return x * layer.weight.detach().numpy() + layer.bias.detach().numpy()


def new_eigenvalues(transformer, values):
    d, heads = transformer.hidden, transformer.heads
    angles = [100 * values / 10000 ** (2 * i / d) for i in range(-(-d // 2))]
    z = linear(
        transformer.encoding, np.stack([values, *map(np.sin, angles), *map(np.cos, angles)], 1)
    )
    normed = norm(transformer.attention_norm, z)
    parts = (transformer.query, transformer.key, transformer.value)
    mixed = []
    for q, k, v in zip(
        *(np.split(linear(part, normed), heads, axis=1) for part in parts), strict=True
    ):
        scores = q @ k.T / np.sqrt(q.shape[1])
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        mixed.append(shares / shares.sum(axis=1, keepdims=True) @ v)
    z = z + linear(transformer.attended, np.concatenate(mixed, axis=1))
    fed = linear(transformer.feed, norm(transformer.feed_norm, z))
    z = z + linear(transformer.fed, fed * (1 + erf(fed / np.sqrt(2))) / 2)
    return linear(transformer.decoder, z)


def decomposed(edge_index, num_nodes, count=None):
    """In float64, as :math:`U^T U = I` has to hold to the last digits that are compared."""
    values, vectors = np.linalg.eigh(laplacian(edge_pattern(edge_index, num_nodes)))
    values = values.round(12)  # copies are equal
    return Spectrum(torch.tensor(values[:count]), torch.tensor(vectors[:, :count]))


def logits(model, x, structure):
    U, values = structure.vectors.numpy(), structure.values.numpy()
    new = new_eigenvalues(model.eigenvalues, values)
    h = linear(model.classifier, np.maximum(linear(model.encoder, x.numpy()), 0))
    for weights in model.combinations:
        w = weights.detach().numpy()
        bases = [h, *(U @ np.diag(new[:, m]) @ U.T @ h for m in range(new.shape[1]))]
        h = sum(w[m] * basis for m, basis in enumerate(bases))
    return h
