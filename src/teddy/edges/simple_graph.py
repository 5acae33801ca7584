"""The simple undirected graph behind an ``edge_index``: each edge once, no self-loops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

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
        num_nodes = check_edge_index(edge_index, num_nodes)
        low, high = edge_index.amin(dim=0).long(), edge_index.amax(dim=0).long()
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

    def sum_neighbours(self, values: Tensor) -> Tensor:
        """Sum an int64 value per node over each node's neighbours; exact, whatever the order."""
        ends, other_ends = self.pairs.flatten(), self.pairs.flip(0).flatten()
        return torch.zeros_like(values).index_add_(0, ends, values[other_ends])


def check_edge_index(edge_index: Tensor, num_nodes: int | None = None) -> int:
    """Raise unless ``edge_index`` is an integer ``[2, E]`` within ``num_nodes``; return that."""
    shape = tuple(edge_index.shape)
    if edge_index.dim() != 2 or shape[0] != 2:
        raise InputError(f"edge_index has shape {list(shape)}, expected [2, num_edges]")
    if edge_index.is_floating_point() or edge_index.dtype in (torch.bool, torch.complex64):
        raise InputError(f"edge_index holds {edge_index.dtype}, expected integers")
    smallest = int(edge_index.min()) if edge_index.numel() else 0
    largest = int(edge_index.max()) if edge_index.numel() else -1
    if num_nodes is None:
        num_nodes = largest + 1
    if smallest < 0 or largest >= num_nodes:
        node = smallest if smallest < 0 else largest
        raise InputError(f"edge_index holds node {node}, expected 0 to {num_nodes - 1}")
    if num_nodes > _MAX_NODES:
        raise InputError(f"num_nodes is {num_nodes}, expected at most {_MAX_NODES}")
    return num_nodes
