"""The one-hop edge degree of Section 4, (deg(i) + deg(j)) / 2, pruned from either end."""

from __future__ import annotations

from torch import Tensor

from teddy.edges.simple_graph import SimpleGraph


def edge_degree(graph: SimpleGraph, pairs: Tensor) -> Tensor:
    r"""Mean degree of an edge's ends, :math:`(|N_i| + |N_j|) / 2`.

    Example:
        >>> import torch
        >>> star = SimpleGraph(4, torch.tensor([[0, 0, 0], [1, 2, 3]]))
        >>> edge_degree(star, star.pairs).tolist()
        [2.0, 2.0, 2.0]
    """
    return (graph.degree[pairs[0]] + graph.degree[pairs[1]]).double() / 2


def degree_high_first(graph: SimpleGraph, pairs: Tensor, seed: int = 0) -> Tensor:
    """Prune the edges of highest degree first."""
    return -edge_degree(graph, pairs)


def degree_low_first(graph: SimpleGraph, pairs: Tensor, seed: int = 0) -> Tensor:
    """Prune the edges of lowest degree first."""
    return edge_degree(graph, pairs)
