"""One-hop edge degree of Section 4, (deg(i) + deg(j)) / 2; lowest or highest removed first."""

from __future__ import annotations

import torch
from torch import Tensor

from teddy.graph.weighted_graph import WeightedGraph
from teddy.prune.scores.score import Graph, node_score


def half_degree(graph: Graph | WeightedGraph) -> Tensor:
    r"""Part of one end in :math:`(|N_i| + |N_j|) / 2`, or in :math:`(\deg(i) + \deg(j)) / 2`.

    Example:
        >>> from teddy.graph import Edges
        >>> star = Edges(4, torch.tensor([[0, 0, 0], [1, 2, 3]]))
        >>> half_degree(star).tolist()
        [1.5, 0.5, 0.5, 0.5]
    """
    return graph.degree.double() / 2


#: Prune the edges of lowest degree first.
degree_low_first = node_score(half_degree, torch.add, half_degree)
#: Prune the edges of highest degree first.
degree_high_first = node_score(
    lambda graph: -half_degree(graph), torch.add, lambda graph: -half_degree(graph)
)
