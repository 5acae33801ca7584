"""Effective resistance of an edge, approximated by the degrees of its ends."""

from __future__ import annotations

import torch
from torch import Tensor

from teddy.prune.scores.score import Graph, node_score


def inverse_degrees(graph: Graph) -> Tensor:
    r"""Inverse degrees :math:`1 / \deg(v)`; the score is the sum over both ends.

    .. math::
        R_{ij} \approx \frac{1}{\deg(i)} + \frac{1}{\deg(j)}

    is the limit of the effective resistance of an edge in large dense graphs (`von Luxburg et al.
    2014 <https://jmlr.org/papers/v15/vonluxburg14a.html>`_), and half of it is a lower bound in any
    graph. Sampling by effective resistance preserves the Laplacian (Spielman and Srivastava 2011).

    Example:
        >>> from teddy.graph import Edges
        >>> inverse_degrees(Edges(3, torch.tensor([[0, 1], [1, 2]])))
        tensor([1.0000, 0.5000, 1.0000], dtype=torch.float64)
    """
    return 1.0 / graph.degree.clamp(min=1).double()


#: Prune the edges of lowest resistance first.
resistance = node_score(inverse_degrees, torch.add)
