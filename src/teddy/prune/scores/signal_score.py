"""Scores that look at the nodes as well as at the graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from teddy.graph.edges import Edges
from teddy.prune.scores.edge_score import EdgeScore
from teddy.prune.signals import Signals


@dataclass(frozen=True)
class SignalScore:
    """A value for each edge, from the graph and signals of its nodes.

    Args:
        values: From a graph and signals to float64 ``[M]``, in the order of ``graph.pairs``.
        needs: The fields of :class:`~teddy.prune.signals.Signals` that it looks at.

    Example:
        >>> import torch
        >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
        >>> score = SignalScore(lambda graph, signals: signals.x[graph.pairs[1], 0], ("x",))
        >>> score(path, torch.tensor([[2, 0], [1, 0]]), 0, Signals(x=torch.arange(3.0).view(3, 1)))
        tensor([2., inf], dtype=torch.float64)
    """

    values: Callable[[Edges, Signals], Tensor]
    needs: tuple[str, ...]

    def __call__(self, graph: Edges, pairs: Tensor, seed: int, signals: Signals) -> Tensor:
        """Score pairs of nodes ``[2, P]``: edges of the graph, either way round, or self-loops."""
        return EdgeScore(lambda graph, _: self.values(graph, signals).double())(graph, pairs, seed)
