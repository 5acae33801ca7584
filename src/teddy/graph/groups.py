"""Groups of edges: the graphs of a batch, or the relations of a heterogeneous graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from teddy.errors import InputError

#: Type of the source, name, type of the target; as PyG calls a relation.
EdgeType = tuple[str, str, str]


def relation_text(edge_type: EdgeType) -> str:
    """A relation as it is named in a message.

    Example:
        >>> relation_text(("author", "writes", "paper"))
        '(author, writes, paper)'
    """
    return f"({', '.join(edge_type)})"


#: A budget over each group by itself, or over all together.
BUDGETS = ("each", "all")


def check_budget(budget: str) -> str:
    """Return it, or raise unless it is ``each`` or ``all``.

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
    """Groups of edges. Each has nodes of its own, one group after the other.

    A node of several relations stands once in each of them, so that its degree, and the score of
    an edge, are those within the relation.

    Attributes:
        first: int64 ``[G + 1]``: group g has the nodes ``first[g]`` to ``first[g + 1]``.
        budget: ``each`` or ``all``.
        separate_draws: Whether scores that draw do so for each group by itself, not once for all.
        relations: Edge types of each group, a relation with its reverse; empty for graphs.
        node: int64 ``[N]``: node of the whole graph that each node stands for, where nodes of all
            types are numbered one after the other; None: itself.
        types: Nodes of each type, sorted by type.

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
        """Groups of a batch, from the graph of each node, ascending."""
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
        """Number of the first node of each type among the nodes of all types."""
        before, found = 0, {}
        for name, count in self.types.items():
            found[name], before = before, before + count
        return found

    def group_of(self, nodes: Tensor) -> Tensor:
        """Group of each of these nodes."""
        return torch.searchsorted(self.first, nodes.contiguous(), right=True) - 1

    def spread(self, target: str, nodes: Tensor) -> Tensor:
        """Nodes that stay where only some of one type do, bool ``[N]``.

        Args:
            target: The type; nodes of others stay.
            nodes: bool, of the nodes of this type.
        """
        return nodes if self.node is None else self._whole(target, nodes)[self.node]

    def induced(self, target: str, nodes: Tensor) -> Groups:
        """The groups of some nodes, which are numbered anew; see :meth:`spread`."""
        stays, node, types = self.spread(target, nodes), self.node, {**self.types}
        before = torch.cat([self.first[:1], stays.long().cumsum(0)])
        if node is not None:
            number = self._whole(target, nodes).long().cumsum(0) - 1
            node, types[target] = number[node[stays]], int(nodes.sum())
        return replace(self, first=before[self.first], node=node, types=types)

    def _whole(self, target: str, nodes: Tensor) -> Tensor:
        """The same choice among the nodes of all types."""
        everyone, first = nodes.new_ones(sum(self.types.values())), self.offsets[target]
        everyone[first : first + nodes.numel()] = nodes
        return everyone
