"""Connectivity, degrees and homophily of a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from teddy.graph.edges import Edges


@dataclass(frozen=True)
class GraphHealth:
    """Connectivity, degrees and homophily of a simple undirected graph.

    Attributes:
        edges: Undirected edges.
        components: Connected components, including isolated nodes.
        largest_component: Number of nodes in the largest one.
        isolated: Nodes without an edge.
        degree: Minimum, quartiles, maximum and mean of the degrees.
        homophily: Share of edges that join nodes of the same class, among edges between labelled
            nodes; None without classes or such edges.
    """

    edges: int
    components: int
    largest_component: int
    isolated: int
    degree: dict[str, float]
    homophily: float | None


def graph_health(
    edges: Tensor | Edges, num_nodes: int | None = None, y: Tensor | None = None
) -> GraphHealth:
    r"""Return the health of a graph, to compare it before and after pruning.

    The homophily is :math:`|\{(u, v) : y_u = y_v\}| / |E|`, as in
    :func:`torch_geometric.utils.homophily` with ``method="edge"``.

    Args:
        edges: An ``edge_index``, or canonical edges.
        num_nodes: Number of nodes; by default the highest index plus one.
        y: Class of each node for homophily, -1 for no label.

    Example:
        >>> import torch
        >>> health = graph_health(torch.tensor([[0, 1], [1, 2]]), 4, torch.tensor([0, 0, 1, 1]))
        >>> health.components, health.largest_component, health.isolated, health.homophily
        (2, 3, 1, 0.5)
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = edges if isinstance(edges, Edges) else Edges.from_columns(edges, num_nodes)[0]
    rows, cols = graph.pairs.cpu().numpy()
    matrix = coo_array((np.ones(rows.size, bool), (rows, cols)), shape=(graph.num_nodes,) * 2)
    count, component = connected_components(matrix, directed=False)
    degree = graph.degree.cpu().numpy()
    names = ("min", "25%", "50%", "75%", "max")
    levels = np.quantile(degree, [0, 0.25, 0.5, 0.75, 1]) if degree.size else np.zeros(5)
    spread = dict(zip(names, map(float, levels), strict=True))
    return GraphHealth(
        edges=graph.num_edges,
        components=int(count),
        largest_component=int(np.bincount(component).max(initial=0)),
        isolated=int((degree == 0).sum()),
        degree=spread | {"mean": float(degree.mean()) if degree.size else 0.0},
        homophily=_homophily(graph, y),
    )


def _homophily(graph: Edges, y: Tensor | None) -> float | None:
    if y is None or y.dim() != 1 or y.is_floating_point():  # several labels, or numbers
        return None
    ends = y[graph.pairs]
    same = (ends[0] == ends[1])[(ends >= 0).all(dim=0)]
    return float(same.double().mean()) if same.numel() else None
