"""The kinds of edge scores: made of node values, of edge values, and of signals of the nodes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Protocol

import torch
from torch import Tensor

from teddy.data.checks import check_features
from teddy.errors import InputError
from teddy.graph.edges import Edges
from teddy.graph.weighted_graph import WeightedGraph
from teddy.tensors import as_integers, as_tensor, shape_text


class Graph(Protocol):
    """The inputs of a node score: degrees, and the degrees of neighbours."""

    @property
    def num_nodes(self) -> int:
        """Number of nodes :math:`N`."""

    @property
    def degree(self) -> Tensor:
        """int64 ``[N]``: number of neighbours."""

    def sum_over_neighbours(self, table: Tensor) -> Tensor:
        """int64 ``[N]``: the sum of ``table[deg(u)]`` over the neighbours u of each node."""


@dataclass(frozen=True)
class NodeScore:
    """A value for each node and a symmetric operation that joins those of an edge's two ends.

    Such a score can be computed and selected in one pass over a large sorted graph.

    Args:
        values: From a graph to numbers ``[N]``; finite, except for nodes without edges.
        join: ``torch.mul`` or ``torch.add``.
        weighted: The same from weighted degrees; with weights of 1 the very same numbers. None:
            the score has no such form.

    Example:
        >>> import torch
        >>> from teddy.graph import Edges
        >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
        >>> NodeScore(lambda graph: graph.degree.double(), torch.add)(path, path.pairs)
        tensor([3., 3.], dtype=torch.float64)
    """

    values: Callable[[Graph], Tensor]
    join: Callable[[Tensor, Tensor], Tensor]
    weighted: Callable[[WeightedGraph], Tensor] | None = None

    def __call__(self, graph: Graph | WeightedGraph, pairs: Tensor, seed: int = 0) -> Tensor:
        """Score pairs of nodes ``[2, P]``."""
        compute: Any = self.weighted if isinstance(graph, WeightedGraph) else self.values
        values = compute(graph).double()
        return self.join(values[pairs[0]], values[pairs[1]])


def max_degree(graph: Graph) -> int:
    """The highest degree, 0 without nodes."""
    return int(graph.degree.max()) if graph.num_nodes else 0


@dataclass(frozen=True)
class EdgeScore:
    """A value for each edge of the graph.

    A self-loop (i, i) is no edge of the simple graph and is never pruned: its score is infinity.

    Args:
        values: From a graph and a seed to float64 ``[M]``, in the order of ``graph.pairs``.

    Example:
        >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
        >>> score = EdgeScore(lambda graph, seed: torch.tensor([0.5, 0.7], dtype=torch.float64))
        >>> score(path, torch.tensor([[2, 0, 1], [1, 0, 0]]))
        tensor([0.7000,    inf, 0.5000], dtype=torch.float64)
    """

    values: Callable[[Edges, int], Tensor]

    def __call__(self, graph: Edges, pairs: Tensor, seed: int = 0) -> Tensor:
        """Score pairs of nodes ``[2, P]``: edges of the graph, either way round, or self-loops."""
        no_loop = pairs[0] != pairs[1]
        scores = torch.full_like(pairs[0], math.inf, dtype=torch.float64)
        if no_loop.any():
            edges = positions(graph, pairs[:, no_loop])
            scores[no_loop] = self.values(graph, seed)[edges]
        return scores


def positions(graph: Edges, pairs: Tensor) -> Tensor:
    """Index of each pair in ``graph.pairs``."""
    keys = graph.pairs[0] * graph.num_nodes + graph.pairs[1]
    wanted = pairs.amin(dim=0) * graph.num_nodes + pairs.amax(dim=0)
    found = torch.searchsorted(keys, wanted)
    # What would come after the last key is none.
    if not torch.equal(torch.cat([keys, keys.new_tensor([-1])])[found], wanted):
        raise InputError("a pair to score is no edge of the graph, expected edges and self-loops")
    return found


@dataclass(frozen=True)
class SignalScore:
    """A value for each edge, from the graph and signals of its nodes.

    Args:
        values: From a graph and signals to float64 ``[M]``, in the order of ``graph.pairs``.
        needs: The fields of :class:`Signals` that it reads.

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


@dataclass(frozen=True)
class Signals:
    """Signals of the nodes; a score declares which it needs.

    Attributes:
        x: Features ``[N, F]``, dense or sparse.
        logits: Outputs of the dense model ``[N, C]``.
        alone: Outputs of the same model if no node gets a message: of the graph without edges.
        labels: int64 ``[N]``: classes of the training nodes, -1 for all others.

    Example:
        >>> Signals(x=torch.eye(2)).checked(2, "agreement", ("logits",))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: the score agreement looks at logits, expected logits=...
    """

    x: Tensor | None = None
    logits: Tensor | None = None
    alone: Tensor | None = None
    labels: Tensor | None = None

    def checked(self, num_nodes: int, score: str, needs: tuple[str, ...]) -> Signals:
        """The needed signals with a row for each node, sparse ``x`` as CSR, or raise."""
        found = {}
        for name in needs:
            value = getattr(self, name)
            if value is None:
                raise InputError(f"the score {score} looks at {name}, expected {name}=...")
            found[name] = _of_nodes(name, value, num_nodes)
        widths = [found[name].size(1) for name in ("logits", "alone") if name in found]
        if len(set(widths)) > 1:
            raise InputError(f"alone has {widths[1]} columns, expected {widths[0]}, as logits has")
        if widths and "labels" in found and (found["labels"] >= widths[0]).any():
            most = int(found["labels"].max())
            raise InputError(
                f"labels go up to {most}, expected classes of logits, below {widths[0]}"
            )
        return Signals(**found)

    def to(self, device: torch.device) -> Signals:
        """The same on a device."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return Signals(**{n: None if v is None else v.to(device) for n, v in values.items()})


def _of_nodes(name: str, value: Tensor, num_nodes: int) -> Tensor:
    """A signal as scores take it, or raise unless it has a row for each node."""
    value = as_tensor(value, name, "a row for each node", "signals").detach()
    if value.dim() != (1 if name == "labels" else 2) or value.size(0) != num_nodes:
        raise InputError(
            f"{name} has shape {shape_text(value)}, expected a row for each of the {num_nodes} "
            "nodes"
        )
    if name == "labels":
        return as_integers(value, name, "signals")
    if name == "x" and num_nodes:
        return check_features(value, "signals")
    return value if value.layout == torch.strided else value.to_dense()
