"""TEDDY's score: Eq. 6 to 8 of the paper."""

from __future__ import annotations

import torch
from torch import Tensor

from teddy.edges.simple_graph import SimpleGraph


def teddy_score(graph: SimpleGraph, pairs: Tensor, seed: int = 0) -> Tensor:
    r"""Score edges by the degrees of their ends and of their ends' neighbours.

    .. math::
        g(v) = \frac{1}{\sqrt{\deg(v)}} \qquad
        \bar g(v) = \frac{1}{|N_v|} \sum_{u \in N_v} g(u) \qquad
        \tilde g(v) = \frac{\bar g(v)}{\deg(v)} \qquad
        T_{ij} = \tilde g(i) \, \tilde g(j)

    The sum of Eq. 6 runs over integers (``g`` in units of :math:`2^{-s}`, rounded down, with
    :math:`s` such that no sum can overflow). Integer sums don't depend on their order, and square
    root, division and product are correctly rounded everywhere, so every engine and device gives
    the same bits. A node without edges has :math:`\tilde g = 0`.

    Example:
        >>> path = SimpleGraph(3, torch.tensor([[0, 1], [1, 2]]))
        >>> teddy_score(path, path.pairs)  # both: 1/sqrt(2) x 1/2
        tensor([0.3536, 0.3536], dtype=torch.float64)
    """
    degree = graph.degree.clamp(min=1).double()
    bits = 62 - int(graph.degree.max() if graph.num_nodes else 0).bit_length()
    g = torch.floor(1.0 / degree.sqrt() * 2.0**bits).long()
    g_bar = graph.sum_neighbours(g).double() * 2.0**-bits / degree  # Eq. 6
    g_tilde = g_bar / degree  # Eq. 7
    return g_tilde[pairs[0]] * g_tilde[pairs[1]]  # Eq. 8
