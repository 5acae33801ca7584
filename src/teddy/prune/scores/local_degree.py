"""Local degree: every node keeps the edges to its hubs, computed by NetworKit."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from teddy.graph.edges import Edges
from teddy.prune.scores.edge_values import (
    import_networkit,
    networkit_graph,
    run_networkit,
)
from teddy.prune.scores.score import Score, Signals


def local_degree_values(graph: Edges, signals: Signals | None = None, seed: int = 0) -> Tensor:
    r"""One minus the lowest exponent with which one end keeps the edge.

    From `"Structure-preserving sparsification methods for social networks"
    <https://doi.org/10.1007/s13278-016-0332-2>`_ (Hamann et al. 2016), where each node keeps the
    edges to its :math:`\lfloor |N_i|^\alpha \rfloor` neighbours of highest degree:

    .. math::
        s_{ij} = \max\Big(1 - \frac{\log r_i(j)}{\log |N_i|}, \,
        1 - \frac{\log r_j(i)}{\log |N_j|}\Big)

    where :math:`r_i(j)` is the rank of :math:`j` among the neighbours of :math:`i`, the highest
    degree first, from 1. The edges with :math:`s_{ij} \ge 1 - \alpha` are those kept at
    :math:`\alpha`. Every node with edges has one of score 1.

    NetworKit ranks neighbours of equal degree in the order of the edges, which is therefore random:
    by node id, early nodes, in many data sets the training nodes, would keep more edges.
    """
    networkit = import_networkit("local-degree")
    shuffled = np.random.Generator(np.random.PCG64(seed)).permutation(graph.num_edges)
    order = torch.from_numpy(shuffled).to(graph.pairs.device)
    hubs = networkit_graph(networkit, graph, order)
    values = torch.empty(graph.num_edges, dtype=torch.float64, device=order.device)
    values[order] = run_networkit(networkit.sparsification.LocalDegreeScore(hubs), graph)
    return values


#: Prune the edges to neighbours of low degree first.
local_degree = Score(local_degree_values, draws=True)
