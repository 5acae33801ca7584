"""Two-hop edge degree, of the toy example in Section 5.1."""

from __future__ import annotations

import torch
from torch import Tensor

from teddy.graph.weighted_graph import WeightedGraph, maximum
from teddy.prune.scores.score import Graph, max_degree, node_score


def half_neighbour_degree(graph: Graph) -> Tensor:
    r"""Part of one end in the mean degree of the neighbours of both ends.

    .. math::
        \big(\mathbb E_{a \in N_i} |N_a| + \mathbb E_{b \in N_j} |N_b|\big) / 2

    Example:
        >>> from teddy.graph import Edges
        >>> path = Edges(4, torch.tensor([[0, 1, 2], [1, 2, 3]]))
        >>> half_neighbour_degree(path).tolist()  # means: 2, 1.5, 1.5, 2
        [1.0, 0.75, 0.75, 1.0]
    """
    degrees = torch.arange(max_degree(graph) + 1, device=graph.degree.device)
    mean = graph.sum_over_neighbours(degrees).double() / graph.degree.clamp(min=1)
    return mean / 2


def half_neighbour_weight(graph: WeightedGraph) -> Tensor:
    r"""Part of one end with weighted degrees and a weighted mean.

    .. math::
        \frac{1}{2 \deg(v)} \sum_{u \in N_v} w_{uv} \deg(u)

    Example:
        >>> from teddy.graph import Edges
        >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
        >>> half_neighbour_weight(WeightedGraph(path, torch.tensor([1.0, 3.0]).double())).tolist()
        [2.0, 1.25, 2.0]
    """
    degree = graph.degree
    sums = graph.sum_over_neighbours(degree, maximum(degree))
    return sums / degree.masked_fill(degree == 0, 1.0) / 2


#: Prune the edges of highest two-hop degree first.
two_hop_high_first = node_score(
    lambda graph: -half_neighbour_degree(graph),
    torch.add,
    lambda graph: -half_neighbour_weight(graph),
)
