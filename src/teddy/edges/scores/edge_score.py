"""Scores that are one value per edge, some of them computed by NetworKit (an optional extra)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from teddy.edges.simple_graph import SimpleGraph
from teddy.errors import InputError


@dataclass(frozen=True)
class EdgeScore:
    """A value for each edge of the graph, looked up for the pairs that are asked for.

    A self-loop (i, i) is no edge of the simple graph and is never pruned: its score is infinity.

    Args:
        values: From a graph and a seed to float64 ``[M]``, in the order of ``graph.pairs``.

    Example:
        >>> path = SimpleGraph(3, torch.tensor([[0, 1], [1, 2]]))
        >>> score = EdgeScore(lambda graph, seed: torch.tensor([0.5, 0.7], dtype=torch.float64))
        >>> score(path, torch.tensor([[2, 0, 1], [1, 0, 0]]))
        tensor([0.7000,    inf, 0.5000], dtype=torch.float64)
    """

    values: Callable[[SimpleGraph, int], Tensor]

    def __call__(self, graph: SimpleGraph, pairs: Tensor, seed: int = 0) -> Tensor:
        """Score pairs of nodes ``[2, P]``: edges of the graph, either way round, or self-loops."""
        no_loop = pairs[0] != pairs[1]
        scores = torch.full_like(pairs[0], math.inf, dtype=torch.float64)
        if no_loop.any():
            edges = _positions(graph, pairs[:, no_loop])
            scores[no_loop] = self.values(graph, seed)[edges]
        return scores


def _positions(graph: SimpleGraph, pairs: Tensor) -> Tensor:
    """Where in ``graph.pairs`` each of these pairs is."""
    keys = graph.pairs[0] * graph.num_nodes + graph.pairs[1]
    wanted = pairs.amin(dim=0) * graph.num_nodes + pairs.amax(dim=0)
    positions = torch.searchsorted(keys, wanted)
    # What would come after the last key is none.
    if not torch.equal(torch.cat([keys, keys.new_tensor([-1])])[positions], wanted):
        raise InputError("a pair to score is no edge of the graph, expected edges and self-loops")
    return positions


def import_networkit(score: str) -> Any:
    """Import NetworKit, or say which score needs it and how to get it."""
    try:
        import networkit
    except ModuleNotFoundError as error:
        raise InputError(
            f"edge score '{score}' needs NetworKit: pip install 'teddy-glt[networkit]'"
        ) from error
    return networkit


def networkit_graph(networkit: Any, graph: SimpleGraph, order: Tensor | None = None) -> Any:
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


def run_networkit(algorithm: Any, graph: SimpleGraph) -> Tensor:
    """Run an edge score of NetworKit on a graph of :func:`networkit_graph`; float64 ``[M]``."""
    return torch.tensor(algorithm.run().scores(), dtype=torch.float64, device=graph.pairs.device)
