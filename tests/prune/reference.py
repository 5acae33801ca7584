"""Eq. 6 to 8 and the degrees of Section 5.1 with dense NumPy matrices, straight from the paper."""

from __future__ import annotations

import numpy as np


def adjacency(edge_index: np.ndarray, num_nodes: int) -> np.ndarray:
    A = np.zeros((num_nodes, num_nodes))
    for i, j in edge_index.T:
        if i != j:
            A[i, j] = A[j, i] = 1
    return A


def teddy_matrix(A: np.ndarray) -> np.ndarray:
    degree = A.sum(axis=1)
    inverse = np.where(degree > 0, 1 / np.maximum(degree, 1), 0)
    g = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1)), 0)
    g_bar = np.diag(inverse) @ A @ g
    g_tilde = np.diag(inverse) @ g_bar
    return np.outer(g_tilde, g_tilde)


def degree_matrix(A: np.ndarray) -> np.ndarray:
    degree = A.sum(axis=1)
    return (degree[:, None] + degree[None, :]) / 2


def two_hop_matrix(A: np.ndarray) -> np.ndarray:
    degree = A.sum(axis=1)
    mean = np.array([degree[A[i] > 0].mean() if degree[i] else 0.0 for i in range(len(A))])
    return (mean[:, None] + mean[None, :]) / 2


def resistance_matrix(A: np.ndarray) -> np.ndarray:
    degree = np.maximum(A.sum(axis=1), 1)
    return 1 / degree[:, None] + 1 / degree[None, :]
