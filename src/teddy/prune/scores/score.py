"""Edge score: one protocol for scores of degrees, of the graph, and of signals of the nodes."""

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
    """Inputs of node values: degrees, and the degrees of neighbours."""

    @property
    def num_nodes(self) -> int:
        """Number of nodes :math:`N`."""

    @property
    def degree(self) -> Tensor:
        """int64 ``[N]``: number of neighbours."""

    def sum_over_neighbours(self, table: Tensor) -> Tensor:
        """int64 ``[N]``: the sum of ``table[deg(u)]`` over the neighbours u of each node."""


@dataclass(frozen=True)
class Score:
    """A number for each edge, from a graph, signals of its nodes and a seed; the lowest are pruned.

    A score of the ends alone also has ``node_values`` and ``join``: then a large sorted graph is
    scored and pruned in one pass. See :func:`node_score`.

    Args:
        values: ``(edges, signals, seed) -> float64 [M]``, in the order of ``edges.pairs``.
        needs: Fields of :class:`Signals` that it reads.
        draws: Whether the seed matters.
        of_graph: Whether an edge between two nodes has one value in a graph; False: one each time
            that it is listed, as in several relations.
        node_values: From a graph to numbers ``[N]``; finite, except for nodes without edges.
        join: ``torch.mul`` or ``torch.add``, from the values of both ends to the score.
        weighted: As ``node_values``, from weighted degrees; with weights of 1 the very same
            numbers. None: the score has no such form.

    Example:
        >>> import torch
        >>> from teddy.graph import Edges
        >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
        >>> score = Score(lambda edges, signals, seed: signals.x[edges.pairs[1], 0], ("x",))
        >>> score(path, Signals(x=torch.arange(3.0).view(3, 1)))
        tensor([1., 2.], dtype=torch.float64)
    """

    values: Callable[[Edges, Signals, int], Tensor]
    needs: tuple[str, ...] = ()
    draws: bool = False
    of_graph: bool = True
    node_values: Callable[[Graph], Tensor] | None = None
    join: Callable[[Tensor, Tensor], Tensor] | None = None
    weighted: Callable[[WeightedGraph], Tensor] | None = None

    def __call__(self, edges: Edges, signals: Signals | None = None, seed: int = 0) -> Tensor:
        """Score all edges, float64 ``[M]``."""
        if not edges.num_edges:
            return torch.empty_like(edges.pairs[0], dtype=torch.float64)
        found = self.values(edges, signals or Signals(), seed)
        if not isinstance(found, Tensor) or found.shape != edges.pairs[0].shape:
            got = list(found.shape) if isinstance(found, Tensor) else f"a {type(found).__name__}"
            raise InputError(f"a score gave {got}, expected a number for each of the "
                             f"{edges.num_edges} edges: a tensor [{edges.num_edges}]")  # fmt: skip
        return found.double()

    def of_pairs(self, graph: Graph | WeightedGraph, pairs: Tensor) -> Tensor:
        """Score pairs of nodes ``[2, P]`` by the values of both ends; others are infinity.

        A self-loop (i, i) is no edge, and is never pruned.
        """
        compute: Any = self.weighted if isinstance(graph, WeightedGraph) else self.node_values
        if compute is None or self.join is None:
            return torch.full_like(pairs[0], math.inf, dtype=torch.float64)
        values = compute(graph).double()
        return self.join(values[pairs[0]], values[pairs[1]])


def node_score(
    node_values: Callable[[Graph], Tensor],
    join: Callable[[Tensor, Tensor], Tensor],
    weighted: Callable[[WeightedGraph], Tensor] | None = None,
) -> Score:
    """Return the score that joins a value of each of an edge's two ends.

    Args:
        node_values: See :class:`Score`, as for the others.
        join: A symmetric operation.
        weighted: The same from weighted degrees.

    Example:
        >>> import torch
        >>> from teddy.graph import Edges
        >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
        >>> node_score(lambda graph: graph.degree.double(), torch.add)(path)
        tensor([3., 3.], dtype=torch.float64)
    """

    def values(edges: Edges, signals: Signals, seed: int) -> Tensor:
        own = node_values(edges).double()
        return join(own[edges.pairs[0]], own[edges.pairs[1]])

    return Score(values, node_values=node_values, join=join, weighted=weighted)


def as_score(found: Score | Callable[[Edges, Signals, int], Tensor]) -> Score:
    """Return a registered score; a plain function is one that draws.

    Example:
        >>> as_score(lambda edges, signals, seed: edges.degree[edges.pairs[0]]).draws
        True
    """
    return found if isinstance(found, Score) else Score(found, draws=True)


def max_degree(graph: Graph) -> int:
    """The highest degree, 0 without nodes."""
    return int(graph.degree.max()) if graph.num_nodes else 0


@dataclass(frozen=True)
class Signals:
    """Signals of the nodes; a score declares which it needs.

    Attributes:
        x: Features ``[N, F]``, dense or sparse.
        logits: Outputs of the dense model ``[N, C]``.
        isolated_logits: Outputs of the same model on the graph without edges.
        labels: int64 ``[N]``: classes of the training nodes, -1 for all others.

    Example:
        >>> Signals(x=torch.eye(2)).checked(2, "agreement", ("logits",))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: score agreement needs logits, pass logits=...
    """

    x: Tensor | None = None
    logits: Tensor | None = None
    isolated_logits: Tensor | None = None
    labels: Tensor | None = None

    def checked(self, num_nodes: int, score: str, needs: tuple[str, ...]) -> Signals:
        """The needed signals with a row for each node, sparse ``x`` as CSR, or raise."""
        found = {}
        for name in needs:
            value = getattr(self, name)
            if value is None:
                raise InputError(f"score {score} needs {name}, pass {name}=...")
            found[name] = _of_nodes(name, value, num_nodes)
        widths = [found[name].size(1) for name in ("logits", "isolated_logits") if name in found]
        if len(set(widths)) > 1:
            raise InputError(
                f"isolated_logits has {widths[1]} columns, expected {widths[0]} as logits"
            )
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
