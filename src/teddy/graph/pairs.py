"""Canonical pairs of nodes: each undirected edge once, with degrees, groups and budgets."""

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

    Those of a batch, and of a heterogeneous graph, are the edges of several graphs side by side,
    each with nodes of its own (:class:`~teddy.graph.groups.Groups`).

    Attributes:
        num_nodes: Number of nodes :math:`N`.
        pairs: int64 ``[2, M]``, ``pairs[0] < pairs[1]``, sorted, no duplicates.
        groups: Graphs of a batch, or relations; None: one graph.
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
        """Nodes of the graph; of a heterogeneous one those of all types, each once."""
        types = {} if self.groups is None else self.groups.types
        return sum(types.values()) if types else self.num_nodes

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

    @cached_property
    def group(self) -> Tensor:
        """int64 ``[M]``: group of each edge, ascending."""
        if self.groups is None:
            return torch.zeros_like(self.pairs[0])
        return self.groups.group_of(self.pairs[0])

    @cached_property
    def num_in_group(self) -> Tensor:
        """int64 ``[G]``: undirected edges of each group."""
        count = 1 if self.groups is None else len(self.groups)
        return torch.bincount(self.group, minlength=count)

    def num_pruned(self, sparsity: float) -> Tensor:
        r"""int64 ``[G]``: edges to remove of each group, :math:`\lceil p_g M_g \rceil`.

        With a budget over all groups ``[1]``, :math:`\lceil p_g M \rceil`.
        """
        counts = self.num_in_group
        if self.groups is not None and self.groups.budget == "all":
            counts = counts.sum().view(1)
        known, place = torch.unique(counts, return_inverse=True)
        found = [num_pruned_edges(sparsity, count) for count in known.tolist()]
        return counts.new_tensor(found)[place]

    @cached_property
    def node_pairs(self) -> Tensor:
        """int64 ``[2, M]``: ends as nodes of the whole graph, the lower first."""
        if self.groups is None or self.groups.node is None:
            return self.pairs
        return self.groups.node[self.pairs].sort(dim=0).values
