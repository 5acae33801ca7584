"""TEDDY's score: Eq. 6 to 8 of the paper."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from teddy.graph.weighted_graph import WeightedGraph, maximum
from teddy.prune.scores.score import Graph, max_degree, node_score


def node_values(graph: Graph) -> Tensor:
    r"""Node values :math:`\tilde g`, low for nodes and neighbours of high degree (Eq. 6, 7).

    .. math::
        g(v) = \frac{1}{\sqrt{\deg(v)}} \qquad
        \bar g(v) = \frac{1}{|N_v|} \sum_{u \in N_v} g(u) \qquad
        \tilde g(v) = \frac{\bar g(v)}{\deg(v)}

    The sum of Eq. 6 runs over integers (``g`` in units of :math:`2^{-s}`, rounded down, with
    :math:`s` such that no sum can overflow). Integer sums don't depend on their order, and square
    root, division and product are correctly rounded everywhere, so every engine and device returns
    the same bits. A node without edges has :math:`\tilde g = 0`.

    Example:
        >>> from teddy.graph import Edges
        >>> node_values(Edges(3, torch.tensor([[0, 1], [1, 2]])))  # a path
        tensor([0.7071, 0.5000, 0.7071], dtype=torch.float64)
    """
    highest = max_degree(graph)
    g = g_of_degrees(highest).to(graph.degree.device)
    return value_of_sums(graph.sum_over_neighbours(g), graph.degree, fraction_bits(highest))


def fraction_bits(highest: int) -> int:
    """Return the binary places of ``g`` with which no sum over neighbours can overflow.

    Example:
        >>> fraction_bits(3)
        60
    """
    return 62 - highest.bit_length()


def g_of_degrees(highest: int) -> Tensor:
    r"""Return :math:`g = 1 / \sqrt{\deg}` of each degree, in integers, int64 ``[highest + 1]``.

    Example:
        >>> (g_of_degrees(4).double() * 2.0 ** -fraction_bits(4)).tolist()
        [1.0, 1.0, 0.707106781186547..., 0.577350269189625..., 0.5]
    """
    degrees = np.arange(highest + 1, dtype=np.float64).clip(min=1)
    # torch.sqrt isn't correctly rounded on every CPU (with MKL not for 2); NumPy's is.
    g = np.floor(1.0 / np.sqrt(degrees) * 2.0 ** fraction_bits(highest))
    return torch.from_numpy(g.astype(np.int64))


def value_of_sums(sums: Tensor, degree: Tensor, bits: int) -> Tensor:
    r"""Return :math:`\tilde g` of nodes, from the integer sums over their neighbours.

    Example:
        >>> value_of_sums(torch.tensor([8]), torch.tensor([2]), 3)
        tensor([0.2500], dtype=torch.float64)
    """
    degree = degree.double().clamp_(min=1)
    g_bar = sums.double().mul_(2.0**-bits).div_(degree)  # Eq. 6
    return g_bar.div_(degree)  # Eq. 7


def weighted_node_values(graph: WeightedGraph) -> Tensor:
    r"""Node values with edge weights: weighted degrees, and a weighted mean in Eq. 6.

    .. math::
        \deg(v) = \sum_{u \in N_v} w_{uv} \qquad g(v) = \frac{1}{\sqrt{\deg(v)}} \qquad
        \bar g(v) = \frac{1}{\deg(v)} \sum_{u \in N_v} w_{uv} \, g(u) \qquad
        \tilde g(v) = \frac{\bar g(v)}{\deg(v)}

    With weights of 1 they equal :func:`node_values` bit for bit.

    Example:
        >>> from teddy.graph import Edges
        >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
        >>> weighted_node_values(WeightedGraph(path, torch.tensor([1.0, 3.0]).double()))
        tensor([0.5000, 0.1708, 0.1667], dtype=torch.float64)
    """
    degree = graph.degree.masked_fill(graph.degree == 0, 1.0)
    g = torch.from_numpy(1.0 / np.sqrt(degree.cpu().numpy())).to(degree.device)
    # g of the ends of the heaviest edge without other edges; 1 if all weights are 1.
    heaviest = float(1.0 / np.sqrt(maximum(graph.weight) or 1.0))
    g_bar = graph.sum_over_neighbours(g, max(maximum(g), heaviest)).div_(degree)  # Eq. 6
    return g_bar.div_(degree)  # Eq. 7


#: Eq. 8: :math:`T_{ij} = \tilde g(i) \, \tilde g(j)`.
teddy_score = node_score(node_values, torch.mul, weighted_node_values)
