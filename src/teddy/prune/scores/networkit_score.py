"""Scores that NetworKit computes, an optional extra."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.graph.edges import Edges


def import_networkit(score: str) -> Any:
    """Import NetworKit, or say which score needs it and how to get it."""
    try:
        import networkit
    except ModuleNotFoundError as error:
        raise InputError(
            f"edge score '{score}' needs NetworKit: pip install 'teddy-glt[networkit]'"
        ) from error
    return networkit


def networkit_graph(networkit: Any, graph: Edges, order: Tensor | None = None) -> Any:
    """Build NetworKit's graph of the same edges; an edge's id is its place in ``graph.pairs``.

    Nodes without edges are left out, and those that stay keep their order: no edge score sees lone
    nodes, but a fire that starts at one would burn nothing and cost time.

    Args:
        networkit: The module.
        graph: The graph.
        order: int64 ``[M]``, another order of the edges; then ids are places in it.
    """
    has_edges = graph.degree > 0
    label = has_edges.cumsum(dim=0) - 1
    pairs = graph.pairs if order is None else graph.pairs[:, order]
    low, high = label[pairs].cpu().numpy()
    # Indexed from the start, edges are numbered as they are added; `indexEdges` would go by node.
    return networkit.GraphFromCoo((low, high), n=int(has_edges.sum()), edgesIndexed=True)


def run_networkit(algorithm: Any, graph: Edges) -> Tensor:
    """Run an edge score of NetworKit on a graph of :func:`networkit_graph`; float64 ``[M]``."""
    return torch.tensor(algorithm.run().scores(), dtype=torch.float64, device=graph.pairs.device)
