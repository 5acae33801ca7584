"""The two-hop edge degree of Section 5.1's toy example."""

from __future__ import annotations

import torch
from torch import Tensor

from teddy.edges.scores.node_score import Graph, NodeScore, max_degree


def half_neighbour_degree(graph: Graph) -> Tensor:
    r"""An end's share of the mean degree of the neighbours of an edge's ends.

    .. math::
        \big(\mathbb E_{a \in N_i} |N_a| + \mathbb E_{b \in N_j} |N_b|\big) / 2

    Example:
        >>> from teddy.edges import SimpleGraph
        >>> path = SimpleGraph(4, torch.tensor([[0, 1, 2], [1, 2, 3]]))
        >>> half_neighbour_degree(path).tolist()  # means: 2, 1.5, 1.5, 2
        [1.0, 0.75, 0.75, 1.0]
    """
    degrees = torch.arange(max_degree(graph) + 1, device=graph.degree.device)
    mean = graph.sum_over_neighbours(degrees).double() / graph.degree.clamp(min=1)
    return mean / 2


#: Prune the edges of highest two-hop degree first.
two_hop_high_first = NodeScore(lambda graph: -half_neighbour_degree(graph), torch.add)
