"""A simple graph whose edges have weights, for scores of weighted degrees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.graph.groups import EdgeType, relation_text

if TYPE_CHECKING:
    from teddy.graph.edges import Edges

# Within these, no score leaves the range of floating point.
_LEAST, _MOST = 1e-30, 1e30


@dataclass(frozen=True)
class WeightedGraph:
    r"""A simple graph and the weight :math:`w_{uv} > 0` of each edge.

    All sums run over integers, in units of a power of two that is chosen such that none can
    overflow, so they don't depend on their order. With weights of 1 they are those of
    :class:`~teddy.graph.Edges`, bit for bit.

    Attributes:
        graph: The edges.
        weight: float64 ``[M]``.

    Example:
        >>> from teddy.graph import Edges
        >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
        >>> graph = WeightedGraph(path, torch.tensor([0.5, 2.0]).double())
        >>> graph.degree.tolist()
        [0.5, 2.5, 2.0]
        >>> graph.sum_over_neighbours(graph.degree, bound=2.5).tolist()
        [1.25, 4.25, 5.0]
    """

    graph: Edges
    weight: Tensor

    @staticmethod
    def from_columns(graph: Edges, pair_of_column: Tensor, edge_weight: Tensor) -> WeightedGraph:
        """From a weight of each column of an ``edge_index``: an edge has the mean of its columns'.

        Args:
            graph: The edges.
            pair_of_column: The edge of each column, -1 for a self-loop.
            edge_weight: ``[E]``; what a self-loop has doesn't matter.

        Example:
            >>> from teddy.graph import Edges
            >>> graph, pair_of_column = Edges.from_columns(torch.tensor([[0, 1], [1, 0]]))
            >>> WeightedGraph.from_columns(graph, pair_of_column, torch.tensor([1.0, 3.0])).weight
            tensor([2.], dtype=torch.float64)
        """
        if edge_weight.shape != pair_of_column.shape:
            got, expected = list(edge_weight.shape), list(pair_of_column.shape)
            raise InputError(f"edge_weight has shape {got}, expected {expected}")
        no_loop = pair_of_column >= 0
        pairs, weights = pair_of_column[no_loop], edge_weight.detach()[no_loop].double()
        wrong = ~((weights >= _LEAST) & (weights <= _MOST))  # a nan is wrong, too
        if wrong.any():
            column = int(no_loop.nonzero().flatten()[wrong][0])
            raise InputError(
                f"edge_weight[{column}] is {edge_weight[column].item()}, expected a number from "
                f"{_LEAST:g} to {_MOST:g} for weighted degrees"
            )
        columns = torch.bincount(pairs, minlength=graph.num_edges)
        sums = _sums(weights, pairs, columns)
        return WeightedGraph(graph, sums / columns)

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.graph.num_nodes

    @cached_property
    def degree(self) -> Tensor:
        r"""float64 ``[N]``: :math:`\deg(v) = \sum_{u \in N_v} w_{uv}`."""
        return _sums(self.weight.repeat(2), self.graph.pairs.flatten(), self.graph.degree)

    def sum_over_neighbours(self, values: Tensor, bound: float) -> Tensor:
        r"""float64 ``[N]``: :math:`\sum_{u \in N_v} w_{uv} \, t(u)`, its terms rounded down.

        Args:
            values: :math:`t \ge 0`, float64 ``[N]``.
            bound: No value is above it; the closer, the finer the unit.
        """
        ends, other_ends = self.graph.pairs.flatten(), self.graph.pairs.flip(0).flatten()
        unit = _unit(maximum(self.degree) * bound)
        terms = (self.weight.repeat(2) * values[other_ends] / unit).floor().long()
        return _sum_at(terms, ends, self.num_nodes).double() * unit


def _sums(weights: Tensor, place: Tensor, terms: Tensor) -> Tensor:
    """Sum weights at each place, of which ``terms`` says how many it has."""
    unit = _unit(maximum(weights) * maximum(terms))
    # An edge that is there has a weight, however light beside the heaviest.
    whole = (weights / unit).round().long().clamp(min=1)
    return _sum_at(whole, place, terms.numel()).double() * unit


def _sum_at(whole: Tensor, place: Tensor, size: int) -> Tensor:
    return torch.zeros(size, dtype=torch.long, device=place.device).index_add_(0, place, whole)


def _unit(most: float) -> float:
    """The power of two in which no sum up to ``most`` can overflow."""
    return 2.0 ** (math.frexp(most)[1] - 62)


def maximum(values: Tensor) -> float:
    """The highest of some values, 0 of none."""
    return float(values.max()) if values.numel() else 0.0


def message_weights(edges: Edges) -> Tensor:
    """float64 ``[M]``: mean weight of the messages of each edge, relation by relation.

    Raises:
        InputError: if a relation has no weights.
    """
    listed: Any = edges.messages_by_type
    if None in listed:
        messages = listed[None]
        weight = messages.values["edge_weight"]
        return WeightedGraph.from_columns(edges, messages.pair, weight).weight
    assert edges.groups is not None
    found = []
    for kinds, (alone, _, own) in zip(edges.groups.relations, edges.each_group(), strict=True):
        for kind in kinds:
            check_has_weights(kind, listed[kind].values)
        pair = torch.cat([listed[kind].pair for kind in kinds])
        weights = torch.cat([listed[kind].values["edge_weight"] for kind in kinds])
        pair = torch.where(pair < 0, pair, pair - own.start)
        found.append(WeightedGraph.from_columns(alone, pair, weights).weight)
    return torch.cat(found)


def check_has_weights(kind: EdgeType, values: Any) -> None:
    """Raise if a relation has no ``edge_weight``, for weighted degrees."""
    if "edge_weight" not in values:
        raise InputError(
            f"{relation_text(kind)} has no edge_weight, expected one of each relation "
            "for weighted degrees"
        )
