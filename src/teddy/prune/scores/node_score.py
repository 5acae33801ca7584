"""Scores that are made of one value per node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from teddy.graph.weighted_graph import WeightedGraph


class Graph(Protocol):
    """What such a score may look at: degrees, and the degrees of neighbours."""

    @property
    def num_nodes(self) -> int:
        """Number of nodes :math:`N`."""

    @property
    def degree(self) -> Tensor:
        """int64 ``[N]``: number of neighbours."""

    def sum_over_neighbours(self, table: Tensor) -> Tensor:
        """int64 ``[N]``: the sum of ``table[deg(u)]`` over the neighbours u of each node."""


@dataclass(frozen=True)
class NodeScore:
    """A value for each node and an operation that joins those of an edge's two ends.

    Such a score can be computed and selected in one pass over a large graph (`SortedGraph`); the
    operation has to give the same bits either way round.

    Args:
        values: From a graph to numbers ``[N]``; finite, of lone nodes any.
        join: ``torch.mul`` or ``torch.add``.
        weighted: The same from weighted degrees; with weights of 1 the very same numbers. None:
            the score has no such form.

    Example:
        >>> import torch
        >>> from teddy.graph import Edges
        >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
        >>> NodeScore(lambda graph: graph.degree.double(), torch.add)(path, path.pairs)
        tensor([3., 3.], dtype=torch.float64)
    """

    values: Callable[[Graph], Tensor]
    join: Callable[[Tensor, Tensor], Tensor]
    weighted: Callable[[WeightedGraph], Tensor] | None = None

    def __call__(self, graph: Graph | WeightedGraph, pairs: Tensor, seed: int = 0) -> Tensor:
        """Score pairs of nodes ``[2, P]``."""
        if isinstance(graph, WeightedGraph):
            assert self.weighted is not None
            values = self.weighted(graph).double()
        else:
            values = self.values(graph).double()
        return self.join(values[pairs[0]], values[pairs[1]])


def max_degree(graph: Graph) -> int:
    """The highest degree, 0 without nodes."""
    return int(graph.degree.max()) if graph.num_nodes else 0
