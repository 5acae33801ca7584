"""Canonical node pairs: each undirected edge once, with degrees, groups and budgets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from teddy.graph.groups import Groups
from teddy.sparsity import num_pruned_edges


@dataclass(frozen=True, eq=False)
class Pairs:
    """Undirected edges, each once, in canonical order.

    A batch or a heterogeneous graph has the edges of several groups, which share no nodes
    (:class:`~teddy.graph.groups.Groups`).

    Attributes:
        num_nodes: Number of nodes :math:`N`.
        pairs: int64 ``[2, M]``, ``pairs[0] < pairs[1]``, sorted, no duplicates.
        groups: Graphs of a batch, or relations; None for one graph.
    """

    num_nodes: int
    pairs: Tensor
    groups: Groups | None = None

    @property
    def num_edges(self) -> int:
        """Number of undirected edges :math:`M`."""
        return self.pairs.size(1)

    @property
    def graph_nodes(self) -> int:
        """Number of nodes of the graph; in a heterogeneous graph nodes of all types, each once."""
        types = {} if self.groups is None else self.groups.types
        return sum(types.values()) if types else self.num_nodes

    @cached_property
    def degree(self) -> Tensor:
        """Number of neighbours, int64 ``[N]``."""
        return torch.bincount(self.pairs.flatten(), minlength=self.num_nodes)

    def sum_over_neighbours(self, table: Tensor) -> Tensor:
        """Sum ``table[deg(u)]`` over the neighbours u of each node, int64 ``[N]``.

        Sums of integers are exact in any order.
        """
        ends, other_ends = self.pairs.flatten(), self.pairs.flip(0).flatten()
        values = table[self.degree]
        return torch.zeros_like(values).index_add_(0, ends, values[other_ends])

    @cached_property
    def group(self) -> Tensor:
        """Group of each edge, int64 ``[M]``, ascending."""
        if self.groups is None:
            return torch.zeros_like(self.pairs[0])
        return self.groups.group_of(self.pairs[0])

    @cached_property
    def num_in_group(self) -> Tensor:
        """Number of undirected edges of each group, int64 ``[G]``."""
        count = 1 if self.groups is None else len(self.groups)
        return torch.bincount(self.group, minlength=count)

    def num_pruned(self, sparsity: float) -> Tensor:
        r"""Return the number of removed edges :math:`\lceil p_g M_g \rceil` of each group.

        It is int64 ``[G]``; with a budget over all groups :math:`\lceil p_g M \rceil`, ``[1]``.
        """
        counts = self.num_in_group
        if self.groups is not None and self.groups.budget == "all":
            counts = counts.sum().view(1)
        unique, index = torch.unique(counts, return_inverse=True)
        budgets = [num_pruned_edges(sparsity, count) for count in unique.tolist()]
        return counts.new_tensor(budgets)[index]

    @cached_property
    def node_pairs(self) -> Tensor:
        """Ends of each edge as nodes of the whole graph, int64 ``[2, M]``, the lower first."""
        if self.groups is None or self.groups.node is None:
            return self.pairs
        return self.groups.node[self.pairs].sort(dim=0).values
