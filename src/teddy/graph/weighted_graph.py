"""Simple graph with edge weights, for scores of weighted degrees."""

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

# With weights in this range, no score leaves the range of floating point.
_LEAST, _MOST = 1e-30, 1e30


@dataclass(frozen=True)
class WeightedGraph:
    r"""Simple graph with a weight :math:`w_{uv} > 0` of each edge.

    All sums run over integers in units of a power of two such that none can overflow, so they
    don't depend on their order. With weights of 1 they equal those of
    :class:`~teddy.graph.Edges` bit for bit.

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
        """Return the graph in which an edge has the mean weight of its columns in ``edge_index``.

        Args:
            graph: The edges.
            pair_of_column: Edge of each column, -1 for a self-loop.
            edge_weight: ``[E]``; weights of self-loops are ignored.

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
        wrong = ~((weights >= _LEAST) & (weights <= _MOST))  # also for nan
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
        r"""Weighted degrees :math:`\deg(v) = \sum_{u \in N_v} w_{uv}`, float64 ``[N]``."""
        return _sums(self.weight.repeat(2), self.graph.pairs.flatten(), self.graph.degree)

    def sum_over_neighbours(self, values: Tensor, bound: float) -> Tensor:
        r"""Sum :math:`\sum_{u \in N_v} w_{uv} \, t(u)` with terms rounded down, float64 ``[N]``.

        Args:
            values: :math:`t \ge 0`, float64 ``[N]``.
            bound: Upper bound of the values; a tight bound gives a fine unit.
        """
        ends, other_ends = self.graph.pairs.flatten(), self.graph.pairs.flip(0).flatten()
        unit = _unit(maximum(self.degree) * bound)
        terms = (self.weight.repeat(2) * values[other_ends] / unit).floor().long()
        return _sum_at(terms, ends, self.num_nodes).double() * unit


def _sums(weights: Tensor, index: Tensor, terms: Tensor) -> Tensor:
    """Sum weights by index; ``terms`` is the number of weights of each index."""
    unit = _unit(maximum(weights) * maximum(terms))
    # Every edge keeps a positive weight, even if it is tiny relative to the heaviest.
    whole = (weights / unit).round().long().clamp(min=1)
    return _sum_at(whole, index, terms.numel()).double() * unit


def _sum_at(whole: Tensor, index: Tensor, size: int) -> Tensor:
    return torch.zeros(size, dtype=torch.long, device=index.device).index_add_(0, index, whole)


def _unit(most: float) -> float:
    """Power of two as a unit in which no sum up to ``most`` can overflow."""
    return 2.0 ** (math.frexp(most)[1] - 62)


def maximum(values: Tensor) -> float:
    """Return the maximum of a tensor, 0 for an empty one."""
    return float(values.max()) if values.numel() else 0.0


def message_weights(edges: Edges) -> Tensor:
    """Return the mean weight of the messages of each edge, float64 ``[M]``.

    Raises:
        InputError: if a relation has no weights.
    """
    parts: Any = edges.messages_by_type
    if None in parts:
        messages = parts[None]
        weight = messages.values["edge_weight"]
        return WeightedGraph.from_columns(edges, messages.pair, weight).weight
    assert edges.groups is not None
    means = []
    for kinds, (group, _, columns) in zip(edges.groups.relations, edges.each_group(), strict=True):
        for kind in kinds:
            check_has_weights(kind, parts[kind].values)
        pair = torch.cat([parts[kind].pair for kind in kinds])
        weights = torch.cat([parts[kind].values["edge_weight"] for kind in kinds])
        pair = torch.where(pair < 0, pair, pair - columns.start)
        means.append(WeightedGraph.from_columns(group, pair, weights).weight)
    return torch.cat(means)


def check_has_weights(kind: EdgeType, values: Any) -> None:
    """Raise if a relation has no ``edge_weight``, for weighted degrees."""
    if "edge_weight" not in values:
        raise InputError(
            f"{relation_text(kind)} has no edge_weight, expected one for each relation "
            "for weighted degrees"
        )
