"""Groups of edges: the graphs of a batch, or the relations of a heterogeneous graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from teddy.errors import InputError

#: Edge type of PyG: type of the source, name, type of the target.
EdgeType = tuple[str, str, str]


def relation_text(edge_type: EdgeType) -> str:
    """Return the text of a relation for messages.

    Example:
        >>> relation_text(("author", "writes", "paper"))
        '(author, writes, paper)'
    """
    return f"({', '.join(edge_type)})"


#: Edge budgets: the sparsity holds for each group, or for all together.
BUDGETS = ("each", "all")


def check_budget(budget: str) -> str:
    """Return the budget, or raise unless it is ``each`` or ``all``.

    Example:
        >>> check_budget("every")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: budget is 'every', expected one of: each, all
    """
    if budget not in BUDGETS:
        raise InputError(f"budget is '{budget}', expected one of: {', '.join(BUDGETS)}")
    return budget


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of edges. They share no nodes, and nodes are sorted by group.

    A node of several relations occurs once in each of them, so that its degree, and the score of
    an edge, are those within the relation.

    Attributes:
        first: int64 ``[G + 1]``: group g has the nodes ``first[g]`` to ``first[g + 1]``.
        budget: ``each`` or ``all``.
        separate_draws: True if random scores draw for each group separately, not once for all.
        relations: Edge types of each group, a relation with its reverse; empty for graphs.
        node: int64 ``[N]``: index of each node in the whole graph, in which nodes of all types are
            numbered one type after the other; None: the same index.
        types: Number of nodes of each type, sorted by type.

    Example:
        >>> groups = Groups.from_batch(torch.tensor([0, 0, 0, 2, 2]), 3)
        >>> groups.first.tolist(), len(groups)
        ([0, 3, 3, 5], 3)
    """

    first: Tensor
    budget: str = "each"
    separate_draws: bool = False
    relations: tuple[tuple[EdgeType, ...], ...] = ()
    node: Tensor | None = None
    types: Mapping[str, int] = field(default_factory=dict)

    @staticmethod
    def from_batch(
        graph_of_node: Tensor,
        num_graphs: int,
        budget: str = "each",
        separate_draws: bool = False,
    ) -> Groups:
        """Return the groups of a batch, from the graph of each node, ascending."""
        counts = torch.bincount(graph_of_node, minlength=num_graphs)
        first = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        return Groups(first, check_budget(budget), separate_draws)

    def __len__(self) -> int:
        return self.first.numel() - 1

    def name(self, number: int) -> str:
        """Name of a group in a message."""
        if self.relations:
            return relation_text(self.relations[number][0])
        return f"training graph {number}"

    @property
    def offsets(self) -> dict[str, int]:
        """Index of the first node of each type among the nodes of all types."""
        before, offsets = 0, {}
        for name, count in self.types.items():
            offsets[name], before = before, before + count
        return offsets

    def group_of(self, nodes: Tensor) -> Tensor:
        """Return the group of each node."""
        return torch.searchsorted(self.first, nodes.contiguous(), right=True) - 1

    def spread(self, target: str, nodes: Tensor) -> Tensor:
        """Return a mask of all nodes from a mask of one type, bool ``[N]``.

        Args:
            target: The type; nodes of other types are kept.
            nodes: bool, mask of the nodes of this type.
        """
        return nodes if self.node is None else self._whole(target, nodes)[self.node]

    def induced(self, target: str, nodes: Tensor) -> Groups:
        """Return the groups of some nodes, which are renumbered; see :meth:`spread`."""
        kept, node, types = self.spread(target, nodes), self.node, {**self.types}
        before = torch.cat([self.first[:1], kept.long().cumsum(0)])
        if node is not None:
            number = self._whole(target, nodes).long().cumsum(0) - 1
            node, types[target] = number[node[kept]], int(nodes.sum())
        return replace(self, first=before[self.first], node=node, types=types)

    def _whole(self, target: str, nodes: Tensor) -> Tensor:
        """Return the same mask over the nodes of all types."""
        mask, first = nodes.new_ones(sum(self.types.values())), self.offsets[target]
        mask[first : first + nodes.numel()] = nodes
        return mask
