"""k-neighbor: k random edges of every node."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from teddy.graph.edges import Edges
from teddy.prune.scores.edge_values import ranks
from teddy.prune.scores.score import Score, Signals, max_degree


def k_neighbor_values(graph: Edges, signals: Signals | None = None, seed: int = 0) -> Tensor:
    r"""Better of the two random ranks of an edge at its ends.

    .. math::
        s_{ij} = -\min(r_i(j), r_j(i)) + u_{ij}

    where :math:`r_i` is a uniformly random order of the neighbours of :math:`i`, from 1 to
    :math:`|N_i|`, and :math:`u_{ij} \in [0, 1)` a random number that orders equal ranks. The edges
    with :math:`s_{ij} \ge -k` are those that are among the first k of an end: the kN
    sparsifier of `"Graph Sparsification Approaches for Laplacian Smoothing"
    <https://proceedings.mlr.press/v51/sadhanala16.html>`_ (Sadhanala et al. 2016), compared with
    others in "Demystifying Graph Sparsification Algorithms in Graph Properties Preservation" (Chen
    et al., VLDB 2024). Every node then keeps at least :math:`\min(k, |N_i|)` edges.

    Example:
        >>> star = Edges(5, torch.tensor([[0, 0, 0, 0], [1, 2, 3, 4]]))
        >>> k_neighbor_values(star).floor().tolist()  # the only edge of each leaf
        [-1.0, -1.0, -1.0, -1.0]
    """
    # In the canonical order of the edges, so the order of edge_index doesn't matter.
    draws = np.random.Generator(np.random.PCG64(seed)).random((3, graph.num_edges))
    first = ranks(graph, torch.from_numpy(-draws[:2])).amin(dim=0).cpu().numpy()
    # Limit the bits so that the sum is exact: rounding up could reach the next rank.
    bits = 52 - max_degree(graph).bit_length()
    ties = np.floor(draws[2] * 2.0**bits) * 2.0**-bits
    return torch.from_numpy(ties - first).to(graph.pairs.device)


#: Prune edges of a low rank at both ends first.
k_neighbor = Score(k_neighbor_values, draws=True)
