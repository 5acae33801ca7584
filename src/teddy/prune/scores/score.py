"""Edge scores: one protocol for scores of degrees, of the graph, and of node signals."""

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
    """Inputs of node values: degrees, and sums over neighbours."""

    @property
    def num_nodes(self) -> int:
        """Number of nodes :math:`N`."""

    @property
    def degree(self) -> Tensor:
        """Number of neighbours, int64 ``[N]``."""

    def sum_over_neighbours(self, table: Tensor) -> Tensor:
        """Sum ``table[deg(u)]`` over the neighbours u of each node, int64 ``[N]``."""


@dataclass(frozen=True)
class Score:
    """Edge score: a number for each edge, from a graph, node signals and a seed.

    Edges of lowest score are removed first. A score made of one value per node also has
    ``node_values`` and ``join``: then a large sorted graph is scored and pruned in one pass. See
    :func:`node_score`.

    Args:
        values: ``(edges, signals, seed) -> float64 [M]``, in the order of ``edges.pairs``.
        needs: Names of the fields of :class:`Signals` that it needs.
        draws: True if the score depends on the seed.
        of_graph: True if the score depends on the two nodes of an edge only; False if edges of
            several relations between the same nodes have separate scores.
        node_values: Function from a graph to numbers ``[N]``, finite except for isolated nodes.
        join: ``torch.mul`` or ``torch.add``, from the values of both ends to the score.
        weighted: As ``node_values``, from weighted degrees; equal to it with weights of 1. None if
            the score does not support weights.

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
        """Return the score of each edge, float64 ``[M]``."""
        if not edges.num_edges:
            return torch.empty_like(edges.pairs[0], dtype=torch.float64)
        scores = self.values(edges, signals or Signals(), seed)
        if not isinstance(scores, Tensor) or scores.shape != edges.pairs[0].shape:
            got = list(scores.shape) if isinstance(scores, Tensor) else f"a {type(scores).__name__}"
            raise InputError(f"the score returned {got}, expected a tensor [{edges.num_edges}] "
                             "with a number for each edge")  # fmt: skip
        return scores.double()

    def of_pairs(self, graph: Graph | WeightedGraph, pairs: Tensor) -> Tensor:
        """Return scores of node pairs ``[2, P]``; infinity for a score without node values.

        For self-loops (i, i), which are never pruned.
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
    """Return a score that joins the node values of both ends of an edge.

    Args:
        node_values: Function from a graph to numbers ``[N]``.
        join: A symmetric operation, ``torch.mul`` or ``torch.add``.
        weighted: As ``node_values``, from weighted degrees.

    Example:
        >>> import torch
        >>> from teddy.graph import Edges
        >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
        >>> node_score(lambda graph: graph.degree.double(), torch.add)(path)
        tensor([3., 3.], dtype=torch.float64)
    """

    def values(edges: Edges, signals: Signals, seed: int) -> Tensor:
        by_node = node_values(edges).double()
        return join(by_node[edges.pairs[0]], by_node[edges.pairs[1]])

    return Score(values, node_values=node_values, join=join, weighted=weighted)


def as_score(entry: Score | Callable[[Edges, Signals, int], Tensor]) -> Score:
    """Return a registered entry as a score; a plain function may depend on the seed.

    Example:
        >>> as_score(lambda edges, signals, seed: edges.degree[edges.pairs[0]]).draws
        True
    """
    return entry if isinstance(entry, Score) else Score(entry, draws=True)


def max_degree(graph: Graph) -> int:
    """Return the highest degree, 0 without nodes."""
    return int(graph.degree.max()) if graph.num_nodes else 0


@dataclass(frozen=True)
class Signals:
    """Node signals; a score declares the ones that it needs.

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
        """Return the needed signals with a row for each node, sparse ``x`` as CSR, or raise."""
        checked = {}
        for name in needs:
            value = getattr(self, name)
            if value is None:
                raise InputError(f"score {score} needs {name}, pass {name}=...")
            checked[name] = _check_signal(name, value, num_nodes)
        outputs = ("logits", "isolated_logits")
        widths = [checked[name].size(1) for name in outputs if name in checked]
        if len(set(widths)) > 1:
            raise InputError(
                f"isolated_logits has {widths[1]} columns, expected {widths[0]} as logits"
            )
        if widths and "labels" in checked and (checked["labels"] >= widths[0]).any():
            most = int(checked["labels"].max())
            raise InputError(
                f"labels go up to {most}, expected classes below {widths[0]}, the columns of logits"
            )
        return Signals(**checked)

    def to(self, device: torch.device) -> Signals:
        """Return the same signals on a device."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return Signals(**{n: None if v is None else v.to(device) for n, v in values.items()})


def _check_signal(name: str, value: Tensor, num_nodes: int) -> Tensor:
    """Return a signal in the layout for scores, or raise unless it has a row for each node."""
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
