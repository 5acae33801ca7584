"""The simple undirected graph behind an ``edge_index``: each edge once, no self-loops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from teddy.data.checks import check_edges
from teddy.errors import InputError

# Both ends of an edge are packed into one int64 key.
_MAX_NODES = 3_037_000_499


@dataclass(frozen=True)
class SimpleGraph:
    """Each undirected edge once, in canonical order.

    Two ``edge_index`` tensors that list the same edges, in whatever order, direction and number of
    times, give the same ``pairs``.

    Attributes:
        num_nodes: Number of nodes :math:`N`.
        pairs: int64 ``[2, M]``, ``pairs[0] < pairs[1]``, sorted, no duplicates.

    Example:
        >>> graph, pair_of_column = SimpleGraph.of(torch.tensor([[1, 0, 2, 2], [0, 1, 2, 1]]))
        >>> graph.pairs.tolist(), graph.degree.tolist()
        ([[0, 1], [1, 2]], [1, 2, 1])
        >>> pair_of_column.tolist()  # -1: a self-loop
        [0, 0, -1, 1]
    """

    num_nodes: int
    pairs: Tensor

    @staticmethod
    def of(edge_index: Tensor, num_nodes: int | None = None) -> tuple[SimpleGraph, Tensor]:
        """Return the graph, and for each column of ``edge_index`` its edge (-1 for a self-loop)."""
        edges, num_nodes = check_edge_index(edge_index, num_nodes)
        low, high = edges.amin(dim=0), edges.amax(dim=0)
        no_loop = low != high
        keys, pair_of_edge = torch.unique((low * num_nodes + high)[no_loop], return_inverse=True)
        pair_of_column = torch.full_like(low, -1)
        pair_of_column[no_loop] = pair_of_edge
        pairs = torch.stack([keys // max(num_nodes, 1), keys % max(num_nodes, 1)])
        return SimpleGraph(num_nodes, pairs), pair_of_column

    @property
    def num_edges(self) -> int:
        """Number of undirected edges :math:`M`."""
        return self.pairs.size(1)

    @cached_property
    def degree(self) -> Tensor:
        """int64 ``[N]``: number of neighbours."""
        return torch.bincount(self.pairs.flatten(), minlength=self.num_nodes)

    def sum_over_neighbours(self, table: Tensor) -> Tensor:
        """int64 ``[N]``: the sum of ``table[deg(u)]`` over the neighbours u of each node.

        Sums of integers are exact, whatever their order.
        """
        ends, other_ends = self.pairs.flatten(), self.pairs.flip(0).flatten()
        values = table[self.degree]
        return torch.zeros_like(values).index_add_(0, ends, values[other_ends])

    def edge_index(self, keep: Tensor | None = None) -> Tensor:
        """Both directions of all edges or of those to keep, sorted by source, then target."""
        pairs = self.pairs if keep is None else self.pairs[:, keep]
        both = torch.cat([pairs, pairs.flip(0)], dim=1)
        return both[:, torch.argsort(both[0] * self.num_nodes + both[1])]


def check_edge_index(edge_index: Tensor, num_nodes: int | None = None) -> tuple[Tensor, int]:
    """Return the edges as int64 and the number of nodes, or raise if they can't be edges."""
    if not isinstance(num_nodes, int | None):
        raise InputError(f"num_nodes is {num_nodes!r}, expected a whole number")
    edges = check_edges(edge_index, _MAX_NODES if num_nodes is None else num_nodes)
    if num_nodes is None:
        num_nodes = int(edges.max()) + 1 if edges.numel() else 0
    if num_nodes > _MAX_NODES:
        raise InputError(f"num_nodes is {num_nodes}, expected at most {_MAX_NODES}")
    return edges, num_nodes
