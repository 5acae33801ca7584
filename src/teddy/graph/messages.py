"""Messages: directed edges that a network sees, and the undirected edge that each belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from teddy.graph.canonical import value_per_message


@dataclass(frozen=True, eq=False)
class Messages:
    """Directed edges that a model sees, each once, sorted by source, then target.

    Attributes:
        index: int64 ``[2, E]``, source and target.
        pair: int64 ``[E]``: undirected edge of each; -1: a self-loop.
        values: ``edge_weight`` ``[E]``, ``edge_attr`` ``[E, ...]``; those that the model takes.
    """

    index: Tensor
    pair: Tensor
    values: Mapping[str, Tensor] = field(default_factory=dict)

    def where(self, stays: Tensor) -> Messages:
        """Some of them.

        Args:
            stays: bool ``[E]``.
        """
        values = {name: value[stays] for name, value in self.values.items()}
        return Messages(self.index[:, stays], self.pair[stays], values)

    def induced(self, nodes: Tensor, ends: Iterable[int], new_pair: Tensor) -> Messages:
        """Messages between some nodes, which are numbered anew in the same order.

        Args:
            nodes: bool, the nodes that stay.
            ends: Ends of messages, 0 or 1, that are such nodes; the others all stay.
            new_pair: int64 ``[M]``: new number of each undirected edge that stays.
        """
        number, index = nodes.long().cumsum(0) - 1, self.index.clone()
        inside = torch.ones_like(self.pair, dtype=torch.bool)
        for end in ends:
            inside &= nodes[index[end]]
            index[end] = number[index[end]]
        some = Messages(index, self.pair, self.values).where(inside)
        pair = torch.where(some.pair < 0, some.pair, new_pair[some.pair.clamp(min=0)])
        return Messages(some.index, pair, some.values)


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
        pair: int64 ``[E]``, undirected edge of each column; -1: a self-loop.
        values: Values of each column by name.
        num_nodes: Number of nodes.
        directed: Whether messages run along the listed direction only.
        self_loops: Whether self-loops are messages.
    """
    own = dict(values)
    if not self_loops:
        stays = pair >= 0
        index, own, pair = index[:, stays], {n: v[stays] for n, v in own.items()}, pair[stays]
    if not directed:
        index = torch.cat([index, index.flip(0)], dim=1)
        own, pair = {n: torch.cat([v, v]) for n, v in own.items()}, pair.repeat(2)
    return unique_messages(index, pair, own, num_nodes, directed)


def unique_messages(
    index: Tensor, pair: Tensor, values: Mapping[str, Tensor], targets: int, directed: bool,
    where: str = "",
) -> Messages:  # fmt: skip
    """Return each message once, sorted by source, then target, with its edge and values.

    Args:
        index: int64 ``[2, E]``.
        pair: int64 ``[E]``, undirected edge of each column.
        values: Values of each column by name.
        targets: Number of nodes that a target can be.
        directed: Whether both directions may have different values, for the message.
        where: Place of the values, for the message.
    """
    keys, place = torch.unique(index[0] * targets + index[1], return_inverse=True)
    unique = torch.stack([keys // max(targets, 1), keys % max(targets, 1)])
    own = torch.full_like(keys, -1)
    own[place] = pair
    found = {
        n: value_per_message(f"{where}{n}", v, unique, place, directed) for n, v in values.items()
    }
    return Messages(unique, own, found)


def keep_columns(keep: Tensor, pair_of_column: Tensor) -> Tensor:
    """Spread the choice of edges to columns; self-loops stay.

    Args:
        keep: bool ``[M]``.
        pair_of_column: int64 ``[E]``, -1 for a self-loop.

    Example:
        >>> keep_columns(torch.tensor([False, True]), torch.tensor([1, 0, -1]))
        tensor([ True, False,  True])
    """
    return torch.cat([keep, keep.new_ones(1)])[pair_of_column]
