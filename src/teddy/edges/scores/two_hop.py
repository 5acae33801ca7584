"""The two-hop edge degree of Section 5.1's toy example."""

from __future__ import annotations

from torch import Tensor

from teddy.edges.simple_graph import SimpleGraph


def two_hop_degree(graph: SimpleGraph, pairs: Tensor) -> Tensor:
    r"""Mean degree of the neighbours of an edge's ends.

    .. math::
        \big(\mathbb E_{a \in N_i} |N_a| + \mathbb E_{b \in N_j} |N_b|\big) / 2

    Example:
        >>> import torch
        >>> path = SimpleGraph(4, torch.tensor([[0, 1, 2], [1, 2, 3]]))
        >>> two_hop_degree(path, path.pairs).tolist()  # node means: 2, 1.5, 1.5, 2
        [1.75, 1.5, 1.75]
    """
    mean = graph.sum_neighbours(graph.degree).double() / graph.degree.clamp(min=1)
    return (mean[pairs[0]] + mean[pairs[1]]) / 2


def two_hop_high_first(graph: SimpleGraph, pairs: Tensor, seed: int = 0) -> Tensor:
    """Prune the edges of highest two-hop degree first."""
    return -two_hop_degree(graph, pairs)
