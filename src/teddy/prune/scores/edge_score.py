"""Scores that are one value per edge."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.graph.edges import Edges


@dataclass(frozen=True)
class EdgeScore:
    """A value for each edge of the graph, looked up for the pairs that are asked for.

    A self-loop (i, i) is no edge of the simple graph and is never pruned: its score is infinity.

    Args:
        values: From a graph and a seed to float64 ``[M]``, in the order of ``graph.pairs``.

    Example:
        >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
        >>> score = EdgeScore(lambda graph, seed: torch.tensor([0.5, 0.7], dtype=torch.float64))
        >>> score(path, torch.tensor([[2, 0, 1], [1, 0, 0]]))
        tensor([0.7000,    inf, 0.5000], dtype=torch.float64)
    """

    values: Callable[[Edges, int], Tensor]

    def __call__(self, graph: Edges, pairs: Tensor, seed: int = 0) -> Tensor:
        """Score pairs of nodes ``[2, P]``: edges of the graph, either way round, or self-loops."""
        no_loop = pairs[0] != pairs[1]
        scores = torch.full_like(pairs[0], math.inf, dtype=torch.float64)
        if no_loop.any():
            edges = positions(graph, pairs[:, no_loop])
            scores[no_loop] = self.values(graph, seed)[edges]
        return scores


def positions(graph: Edges, pairs: Tensor) -> Tensor:
    """Where in ``graph.pairs`` each of these pairs is."""
    keys = graph.pairs[0] * graph.num_nodes + graph.pairs[1]
    wanted = pairs.amin(dim=0) * graph.num_nodes + pairs.amax(dim=0)
    found = torch.searchsorted(keys, wanted)
    # What would come after the last key is none.
    if not torch.equal(torch.cat([keys, keys.new_tensor([-1])])[found], wanted):
        raise InputError("a pair to score is no edge of the graph, expected edges and self-loops")
    return found
