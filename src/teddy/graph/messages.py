"""Messages: the directed edges of message passing, each with its undirected edge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from teddy.graph.canonical import value_per_message


@dataclass(frozen=True, eq=False)
class Messages:
    """Directed edges of message passing, each once, sorted by source, then target.

    Attributes:
        index: int64 ``[2, E]``, source and target.
        pair: int64 ``[E]``: undirected edge of each; -1 for a self-loop.
        values: ``edge_weight`` ``[E]`` and ``edge_attr`` ``[E, ...]``, if the model takes them.
    """

    index: Tensor
    pair: Tensor
    values: Mapping[str, Tensor] = field(default_factory=dict)

    def where(self, kept: Tensor) -> Messages:
        """Return some messages.

        Args:
            kept: bool ``[E]``.
        """
        values = {name: value[kept] for name, value in self.values.items()}
        return Messages(self.index[:, kept], self.pair[kept], values)

    def induced(self, nodes: Tensor, ends: Iterable[int], new_pair: Tensor) -> Messages:
        """Return the messages between kept nodes, which are renumbered in the same order.

        Args:
            nodes: bool, True for kept nodes.
            ends: Rows of the index, 0 or 1, that refer to these nodes; ends in others are kept.
            new_pair: int64 ``[M]``: new index of each kept undirected edge.
        """
        number, index = nodes.long().cumsum(0) - 1, self.index.clone()
        inside = torch.ones_like(self.pair, dtype=torch.bool)
        for end in ends:
            inside &= nodes[index[end]]
            index[end] = number[index[end]]
        part = Messages(index, self.pair, self.values).where(inside)
        pair, joins = part.pair.clone(), part.pair >= 0
        pair[joins] = new_pair[pair[joins]]
        return Messages(part.index, pair, part.values)


def listed_messages(
    index: Tensor,
    pair: Tensor,
    values: Mapping[str, Tensor],
    num_nodes: int,
    directed: bool,
    self_loops: bool,
) -> Messages:
    """Return the messages of an ``edge_index``, both directions unless directed.

    Args:
        index: int64 ``[2, E]``.
        pair: int64 ``[E]``, undirected edge of each column; -1 for a self-loop.
        values: Values of each column by name.
        num_nodes: Number of nodes.
        directed: True if only the listed direction has messages.
        self_loops: True if self-loops are messages.
    """
    if not self_loops:
        kept = pair >= 0
        index, values, pair = index[:, kept], {n: v[kept] for n, v in values.items()}, pair[kept]
    if not directed:
        index = torch.cat([index, index.flip(0)], dim=1)
        values, pair = {n: torch.cat([v, v]) for n, v in values.items()}, pair.repeat(2)
    return unique_messages(index, pair, values, num_nodes, directed)


def unique_messages(
    index: Tensor, pair: Tensor, values: Mapping[str, Tensor], targets: int, directed: bool,
    where: str = "",
) -> Messages:  # fmt: skip
    """Return each message once, sorted by source, then target, with its edge and values.

    Args:
        index: int64 ``[2, E]``.
        pair: int64 ``[E]``, undirected edge of each column.
        values: Values of each column by name.
        targets: Number of nodes of the target type.
        directed: True if both directions may have different values, for the error.
        where: Location of the values, for the error.
    """
    keys, message = torch.unique(index[0] * targets + index[1], return_inverse=True)
    unique = torch.stack([keys // max(targets, 1), keys % max(targets, 1)])
    unique_pair = torch.full_like(keys, -1)
    unique_pair[message] = pair
    unique_values = {
        name: value_per_message(f"{where}{name}", value, unique, message, directed)
        for name, value in values.items()
    }
    return Messages(unique, unique_pair, unique_values)


def keep_columns(keep: Tensor, pair_of_column: Tensor) -> Tensor:
    """Return the mask of columns for a mask of edges; self-loops are kept.

    Args:
        keep: bool ``[M]``.
        pair_of_column: int64 ``[E]``, -1 for a self-loop.

    Example:
        >>> keep_columns(torch.tensor([False, True]), torch.tensor([1, 0, -1]))
        tensor([ True, False,  True])
    """
    return torch.cat([keep, keep.new_ones(1)])[pair_of_column]
