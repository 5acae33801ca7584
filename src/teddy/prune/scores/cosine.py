"""Similarity of the features of both ends of an edge."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from torch import Tensor

from teddy.graph.edges import Edges
from teddy.prune.scores.edge_values import parts
from teddy.prune.scores.score import Score, Signals
from teddy.prune.scores.teddy import teddy_score


def cosine_values(graph: Edges, signals: Signals) -> Tensor:
    r"""Cosine of the angle between the features of an edge's ends; 0 if one has no features.

    Example:
        >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
        >>> x = torch.tensor([[1.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
        >>> cosine_values(path, Signals(x=x)).tolist()
        [1.0, 0.0]
        >>> cosine_values(path, Signals(x=x.to_sparse_csr())).tolist()
        [1.0, 0.0]
    """
    assert signals.x is not None
    x = _unit_rows(signals.x)
    one, other = graph.pairs.cpu().numpy()
    products = np.zeros(graph.num_edges)
    for part in parts(graph.num_edges, x.shape[1]):
        if isinstance(x, csr_matrix):
            products[part] = x[one[part]].multiply(x[other[part]]).sum(axis=1).A1
        else:
            products[part] = np.einsum("ef,ef->e", x[one[part]], x[other[part]])
    return torch.from_numpy(products).to(graph.pairs.device)


def weighted_cosine(graph: Edges, signals: Signals, seed: int = 0) -> Tensor:
    r"""Similarity times TEDDY's score (Eq. 6 to 8), :math:`\max(\cos(x_i, x_j), 0) \, T_{ij}`."""
    return cosine_values(graph, signals).clamp(min=0) * teddy_score(graph)


def _unit_rows(x: Tensor) -> NDArray[np.float64] | csr_matrix:
    """Return rows of length 1, in NumPy or SciPy; rows of zeros don't change."""
    if x.layout == torch.strided:
        rows = x.detach().cpu().double().numpy()
        return rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(min=1e-300)
    matrix = csr_matrix(
        (x.values().cpu().double().numpy(), x.col_indices().cpu().numpy(),
         x.crow_indices().cpu().numpy()), tuple(x.shape),
    )  # fmt: skip
    length = np.sqrt(matrix.multiply(matrix).sum(axis=1).A1).clip(min=1e-300)
    return csr_matrix(diags(1 / length) @ matrix)


#: Prune edges between nodes of different features, or between hubs, first.
cosine = Score(weighted_cosine, ("x",))
