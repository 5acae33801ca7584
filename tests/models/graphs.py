"""Graphs with spectra that are hard to get right, and their Laplacians."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import torch

from teddy.kernels.pattern import edge_pattern


def pattern(edges, num_nodes):
    edge_index = torch.tensor(list(edges), dtype=torch.long).reshape(-1, 2).t()
    return edge_pattern(torch.cat([edge_index, edge_index.flip(0)], dim=1), num_nodes)


def path(n):
    return [(i, i + 1) for i in range(n - 1)]


def grid(side):
    """A torus: most eigenvalues come four or eight times."""
    nodes = [(i, j) for i in range(side) for j in range(side)]
    right = [(i * side + j, i * side + (j + 1) % side) for i, j in nodes]
    return right + [(i * side + j, (i + 1) % side * side + j) for i, j in nodes]


def cube(dimension):
    """A hypercube: the eigenvalue 2i / d comes (d over i) times."""
    return [
        (i, i | 1 << b) for i in range(2**dimension) for b in range(dimension) if not i >> b & 1
    ]


def random_edges(seed, num_nodes, count):
    return np.random.default_rng(seed).integers(0, num_nodes, (count, 2)).tolist()


def shifted(edges, by):
    return [(i + by, j + by) for i, j in edges]


GRAPHS = {
    "one node": ([], 1),
    "no edge": ([], 5),
    "one edge": ([(0, 1)], 2),
    "one edge and lone nodes": ([(1, 3)], 6),
    "path": (path(30), 30),
    "star": ([(0, i) for i in range(1, 40)], 40),
    "complete": (list(combinations(range(20), 2)), 20),
    "bipartite": ([(i, j) for i in range(8) for j in range(8, 20)], 20),
    "torus": (grid(9), 81),
    "hypercube": (cube(6), 64),
    "many components": ([e for k in range(30) for e in shifted(path(1 + k % 5), 5 * k)], 150),
    "random": (random_edges(0, 90, 200), 90),
    "random and sparse": (random_edges(1, 120, 70), 120),
}


def laplacian(pattern):
    """The definition, dense; a node without edges has L_ii = 0."""
    N = pattern.shape[0]
    A = np.zeros((N, N))
    A[pattern.row, pattern.col] = 1
    A = np.maximum(A, A.T)
    degree = A.sum(axis=1)
    scale = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1)), 0)
    return np.diag((degree > 0).astype(float)) - scale[:, None] * A * scale
