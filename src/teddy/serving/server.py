"""The server: a network and its graph in memory, for many small questions."""

from __future__ import annotations

import copy
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from teddy.errors import InputError, warn
from teddy.kernels.sparse import SparseMatrix
from teddy.models import GNN
from teddy.models.base import as_features
from teddy.models.compact import NotSmallerError, compact, compact_module
from teddy.models.layered import AttentionGNN, LayeredGNN
from teddy.serving.answers import (
    Answers,
    AttentionAnswers,
    LinearAnswers,
    SubgraphAnswers,
    TokenAnswers,
)
from teddy.serving.graph import ServedGraph
from teddy.serving.workspace import SharedLock
from teddy.training.adapters import ModuleAdapter

Array = NDArray[Any]
Nodes = Tensor | Sequence[int] | Array

# Nodes whose answers are compared with a pass over the whole graph, to learn how far a module looks.
_COMPARED = 32
_MORE_HOPS = 3
_TOLERANCE = 1e-4

_servers: weakref.WeakSet[Server] = weakref.WeakSet()


@dataclass(frozen=True)
class Gathered:
    """Size of the neighbourhood that an answer is computed from.

    Attributes:
        nodes: Nodes whose features are read.
        edges: Messages that are summed; each is counted once, whatever the layers.
    """

    nodes: int
    edges: int


class Server:
    """Exact answers for a few nodes at a time, from their neighbourhoods alone.

    The outputs of a node equal those of a pass over the whole graph, up to rounding. Their cost is
    that of the neighbourhood within as many hops as the network has layers. Dead hidden units and
    features are removed first. It runs on the CPU. Several threads may use one server at once, and
    a server can be pickled and forked.

    The graph can be changed in place: the next answer is that of a server of the changed graph. An
    edge that was pruned stays pruned when it is added again; any other new edge is kept (the rule
    ``training`` of :meth:`teddy.Ticket.transfer`).

    Args:
        model: A built-in model but Specformer, or a module with ``forward(x, edge_index)`` whose
            output at a node depends on its neighbourhood alone; it is copied.
        x: Features ``[N, F]``, dense or sparse; dense ones in a memory-mapped file stay there.
        edge_index: The kept edges, both directions of each, or as messages run if ``directed``.
        edge_values: Values of messages by name, such as ``edge_weight``.
        node_values: Values of nodes that a module takes, by name.
        graph_values: Values of the graph that a module takes, by name.
        directed: Whether a new edge carries a message in one direction only.
        removed: Pruned edges, int64 ``[2, P]``.
        hops: Hops that a module's output depends on; None: found by comparing answers.
        shrink: Whether to remove dead hidden units and features.
        order: For each column that the network expects, the column of ``x`` in later changes.

    Example:
        >>> from teddy.models import GCN
        >>> model, path = GCN(3, 2), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> server = Server(model, torch.eye(3), path)
        >>> torch.allclose(server.logits([2]), model.eval()(torch.eye(3), path)[2:], atol=1e-6)
        True
        >>> server.add_edges(torch.tensor([[0], [2]]))
        1
        >>> server.gathered([2])
        Gathered(nodes=3, edges=6)
    """

    @torch.no_grad()
    def __init__(
        self,
        model: nn.Module,
        x: Tensor,
        edge_index: Tensor,
        edge_values: Mapping[str, Tensor] | None = None,
        *,
        node_values: Mapping[str, Tensor] | None = None,
        graph_values: Mapping[str, Any] | None = None,
        directed: bool = False,
        removed: Tensor | None = None,
        hops: int | None = None,
        shrink: bool = True,
        order: Tensor | None = None,
    ) -> None:
        if not isinstance(edge_index, Tensor):
            raise InputError("cannot serve a HeteroData, expected a graph of one node type")
        model = copy.deepcopy(model).cpu().eval().requires_grad_(False)
        x, edge_index = x.detach().cpu(), edge_index.cpu()
        edge_values = {name: value.detach().cpu() for name, value in (edge_values or {}).items()}
        self._order, self._kept, self._width = order, None, tuple(x.shape[1:])
        self._lock = SharedLock()
        self._answers: Answers
        if isinstance(model, GNN):
            features = self._features_of(model, x, shrink)
            loops = edge_index[0] == edge_index[1]
            edge_values = {name: value[~loops] for name, value in edge_values.items()}
            dtype = next(self.model.parameters()).dtype
            if "edge_weight" in edge_values:
                edge_values["edge_weight"] = edge_values["edge_weight"].to(dtype)
            weighted = "edge_weight" in edge_values
            graph = ServedGraph(
                features, edge_index[:, ~loops], edge_values, weighted, directed, removed
            )
            self._answers, self.num_outputs = _answers(self.model, graph), model.out_channels
        else:
            values = {**edge_values, **(node_values or {}), **(graph_values or {})}

            def adapter(network: nn.Module) -> ModuleAdapter:
                return ModuleAdapter(network, x, edge_index, values)

            self.model = _smaller(model, adapter) if shrink else model
            whole = adapter(self.model)
            graph = ServedGraph(whole.x, edge_index, edge_values, None, directed, removed)
            self._answers = _module_answers(whole, graph, node_values or {}, hops)
            self.num_outputs = self._answers.num_outputs
        self.graph = graph
        _servers.add(self)

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.graph.num_nodes

    @property
    def nbytes(self) -> int:
        """Bytes of the graph, its features and the weights."""
        weights = sum(p.nbytes for p in self.model.parameters())
        return self.graph.nbytes + weights

    @torch.no_grad()
    def logits(self, nodes: Nodes) -> Tensor:
        """Return the logits ``[B, C]`` of some nodes, in their order.

        Args:
            nodes: Numbers of nodes, perhaps repeated.
        """
        with self._lock.reading():
            queries = self._queries(nodes)
            if not queries.size:
                return torch.empty(0, self.num_outputs)
            with self.graph.workspaces.take(self.graph.num_nodes) as workspace:
                return self._answers.outputs(queries, workspace)

    def gathered(self, nodes: Nodes) -> Gathered:
        """Return the size of the neighbourhood that an answer is computed from."""
        with self._lock.reading():
            queries = self._queries(nodes)
            with self.graph.workspaces.take(self.graph.num_nodes) as workspace:
                return Gathered(*self._answers.gathered(queries, workspace))

    def add_nodes(self, x: Tensor) -> Tensor:
        """Add nodes without edges, and return their numbers.

        Args:
            x: Their features, in columns as the data that the server was made of.
        """
        x = self._new_features(x)
        with self._lock.writing():
            self._check_can_grow()
            first, count = self.graph.num_nodes, x.size(0)
            self.graph.features.append(x)
            self.graph.rows.append_rows(count)
            self._answers.changed(np.arange(first, first + count))
        return torch.arange(first, first + count)

    def set_features(self, nodes: Nodes, x: Tensor) -> None:
        """Replace the features of some nodes.

        Args:
            nodes: Numbers of nodes.
            x: Their features ``[B, F]``, in columns as the data that the server was made of.
        """
        x = self._new_features(x)
        with self._lock.writing():
            queries = self._queries(nodes)
            if queries.size != x.size(0):
                raise InputError(f"x has {x.size(0)} rows, expected {queries.size}, one for a node")
            self.graph.features.set(queries, x)
            self._answers.changed(queries[:0])

    def add_edges(self, edge_index: Tensor, **values: Tensor) -> int:
        """Add edges, unless they are there or were pruned; return how many are new.

        Args:
            edge_index: int64 ``[2, P]``, each edge in one direction or both.
            values: ``edge_weight`` and others ``[P, ...]``, where the network takes them.
        """
        with self._lock.writing():
            edges, added = self._edges(edge_index), 0
            self._check_values(values, edges.shape[1])
            touched: list[int] = []
            numbers = dict(zip(map(tuple, edges.T.tolist()), range(edges.shape[1]), strict=True))
            for source, target in self.graph.directions(edges):
                if self.graph.is_removed(source, target) or (
                    source == target and isinstance(self.model, GNN)
                ):
                    continue
                column = numbers.get((source, target))
                column = numbers[target, source] if column is None else column
                if self.graph.add_message(source, target, values, column):
                    touched += [source, target]
                    added += 1
            self._touch(touched)
        return added if self.graph.directed else -(-added // 2)

    def remove_edges(self, edge_index: Tensor) -> int:
        """Remove edges, where they are; return how many there were.

        Args:
            edge_index: int64 ``[2, P]``, each edge in one direction or both.
        """
        with self._lock.writing():
            edges, removed = self._edges(edge_index), 0
            touched: list[int] = []
            for source, target in self.graph.directions(edges):
                if self.graph.rows.remove(target, source):
                    touched += [source, target]
                    removed += 1
            self._touch(touched)
        return removed if self.graph.directed else -(-removed // 2)

    def _touch(self, nodes: list[int]) -> None:
        self._answers.changed(np.unique(np.array(nodes, np.int64)))

    def _queries(self, nodes: Nodes) -> Array:
        queries = np.asarray(nodes.cpu() if isinstance(nodes, Tensor) else nodes)
        if queries.size and (queries.dtype.kind not in "iu" or queries.ndim != 1):
            raise InputError(
                f"nodes are {queries.dtype} of shape {list(queries.shape)}, expected integers [B]"
            )
        queries = queries.reshape(-1).astype(np.int64)
        self.graph.check_nodes(queries)
        return queries

    def _edges(self, edge_index: Tensor) -> Array:
        edges = edge_index.cpu().numpy()
        if edges.ndim != 2 or edges.shape[0] != 2 or edges.dtype.kind not in "iu":
            raise InputError(
                f"edge_index is {edges.dtype} of shape {list(edges.shape)}, expected integers [2, P]"
            )
        self.graph.check_nodes(edges.ravel(), "edge_index")
        return edges

    def _check_values(self, values: Mapping[str, Tensor], count: int) -> None:
        expected, got = sorted(self.graph.values), sorted(values)
        if expected != got:
            raise InputError(
                f"edges came with {', '.join(got) or 'no values'}, "
                f"expected {', '.join(expected) or 'no values'}, as the network takes"
            )
        for name, value in values.items():
            if value.size(0) != count:
                raise InputError(f"{name} has {value.size(0)} rows, expected {count}")

    def _new_features(self, x: Tensor) -> Tensor:
        """Features of new or changed nodes, as the network takes them."""
        x = x.detach().cpu()
        x = x.to_dense() if x.layout != torch.strided else x
        if x.dim() != 1 + len(self._width) or tuple(x.shape[1:]) != self._width:
            raise InputError(
                f"x has shape {list(x.shape)}, expected {['B', *self._width]}".replace("'", "")
            )
        if x.is_floating_point() and not bool(torch.isfinite(x).all()):
            raise InputError("x has values that are not finite, expected numbers")
        if self._order is not None:
            x = x[:, self._order]
        if self._kept is not None:
            x = x[:, self._kept]
        return x.to(self.graph.features.dtype)

    def _features_of(self, model: GNN, x: Tensor, shrink: bool) -> Tensor | SparseMatrix:
        """Features that a built-in model looks at; the model without its dead parts."""
        self.model: nn.Module = model
        features = as_features(x)
        if shrink:
            self.model, kept = compact(model)
            if kept.numel() < x.size(1):
                self._kept = kept
                if isinstance(features, Tensor):
                    features = features[:, kept]
                else:
                    features = features.columns(kept)
        dtype = next(self.model.parameters()).dtype
        if isinstance(features, Tensor):
            return features.to(dtype)
        return SparseMatrix(features.pattern, features.values.to(dtype))

    def _check_can_grow(self) -> None:
        if isinstance(self._answers, SubgraphAnswers) and self._answers.node_values:
            names = ", ".join(self._answers.node_values)
            raise InputError(f"the network takes {names} of nodes, expected no new nodes")

    def __repr__(self) -> str:
        name = type(self.model).__name__
        return f"Server({name}, nodes={self.num_nodes}, messages={self.graph.rows.nnz})"


def _answers(model: GNN, graph: ServedGraph) -> Answers:
    """The way to compute a built-in model for some nodes."""
    if isinstance(model, AttentionGNN):
        return AttentionAnswers(model, graph)
    if isinstance(model, LayeredGNN):
        return LinearAnswers(model, graph)
    if model.by_node:
        return TokenAnswers(model, graph)
    raise InputError(
        f"a {type(model).__name__} cannot be served: each of its outputs depends on the whole "
        "graph; use predict(data)"
    )


def _smaller(model: nn.Module, adapter: Callable[[nn.Module], ModuleAdapter]) -> nn.Module:
    """A module without its dead units, where it can be had."""
    try:
        return compact_module(model, lambda network: adapter(network).evaluation_outputs())
    except NotSmallerError as error:
        warn(f"served with dead units: {error}")
        return model


def _module_answers(
    whole: ModuleAdapter, graph: ServedGraph, node_values: Mapping[str, Tensor], hops: int | None
) -> SubgraphAnswers:
    """Answers of a module from as few hops as equal a pass over the whole graph."""
    layers = sum(isinstance(part, MessagePassing) for part in whole.network.modules())
    generator = np.random.default_rng(0)
    nodes = generator.permutation(graph.num_nodes)[:_COMPARED]
    expected = whole.evaluation_outputs()[torch.from_numpy(nodes)]
    tries = [hops] if hops is not None else range(layers, layers + _MORE_HOPS + 1)
    off = 0.0
    for number in tries:
        answers = SubgraphAnswers(whole, graph, max(number, 1), node_values)
        # One by one: what a node lacks may be in the neighbourhood of another.
        parts = [torch.zeros(0, expected.size(1))]
        for node in nodes:
            with graph.workspaces.take(graph.num_nodes) as workspace:
                parts.append(answers.outputs(np.array([node]), workspace))
        off = float((torch.cat(parts) - expected).abs().max()) if nodes.size else 0.0
        if off <= _TOLERANCE * max(1.0, float(expected.abs().max()) if nodes.size else 1.0):
            answers.num_outputs = expected.size(1)
            return answers
    raise InputError(
        f"outputs of a {type(whole.network).__name__} from {max(number, 1)} hops differ from a "
        f"pass over the whole graph by {off:.1e}, expected a module that looks at a node's "
        "neighbourhood alone, or more hops (hops=...); else use predict(data)"
    )


def _forget_locks() -> None:
    """Give each server of a forked process a lock that nobody holds."""
    for server in list(_servers):
        server._lock = SharedLock()


os.register_at_fork(after_in_child=_forget_locks)
