"""Changes of a served graph in place."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

from teddy.errors import InputError
from teddy.models import GNN
from teddy.serving.answers import Answers, SubgraphAnswers
from teddy.serving.checks import Nodes, as_edges, as_new_features, as_nodes, as_values
from teddy.serving.graph import Array, ServedGraph
from teddy.serving.workspace import SharedLock

#: Source and target of messages.
_Messages = list[tuple[int, int]]


class ChangingGraph:
    """A network's graph, which can be changed in place.

    Attributes:
        model: The network.
        graph: The graph.
        num_outputs: Columns of the logits.
    """

    model: nn.Module
    graph: ServedGraph
    num_outputs: int
    _answers: Answers
    _lock: SharedLock
    _order: Tensor | None
    _kept: Tensor | None
    _width: tuple[int, ...]

    def add_nodes(self, x: Tensor) -> Tensor:
        """Add nodes without edges, and return their numbers.

        Args:
            x: Their features, in columns as the data that the server was made of.
        """
        x = self._new_features(x)
        with self._lock.writing():
            return self._append(x)

    def set_features(self, nodes: Nodes, x: Tensor) -> None:
        """Replace the features of some nodes.

        Args:
            nodes: Numbers of nodes.
            x: Their features ``[B, F]``, in columns as the data that the server was made of.
        """
        x = self._new_features(x)
        with self._lock.writing():
            queries = as_nodes(nodes, self.graph)
            if queries.size != x.size(0):
                raise InputError(f"x has {x.size(0)} rows, expected {queries.size}, one for a node")
            self.graph.features.set(queries, self._answers.prepared(x))
            self._answers.changed(queries[:0])

    def add_edges(self, edge_index: Tensor, **values: Tensor) -> int:
        """Add edges, unless they are there or were pruned; return how many are new.

        Args:
            edge_index: int64 ``[2, P]``, each edge in one direction or both.
            values: ``edge_weight`` and others ``[P, ...]``, where the network takes them.
        """
        with self._lock.writing():
            return self._count(self._add_edges(edge_index, values))

    def remove_edges(self, edge_index: Tensor) -> int:
        """Remove edges, where they are; return how many there were.

        Args:
            edge_index: int64 ``[2, P]``, each edge in one direction or both.
        """
        with self._lock.writing():
            messages = self.graph.directions(as_edges(edge_index, self.graph))
            return self._count(self._remove(messages))

    @torch.no_grad()
    def logits_of_new(self, x: Tensor, edge_index: Tensor, **values: Tensor) -> Tensor:
        """Return the logits of nodes that are not in the graph, which stays as it is.

        Equal to :meth:`add_nodes`, :meth:`add_edges` and :meth:`logits` of a copy.

        Args:
            x: Features of the new nodes ``[B, F]``. Their numbers follow those of the graph.
            edge_index: int64 ``[2, P]``, edges between new nodes, or with those of the graph.
            values: Values of edges, see :meth:`add_edges`.
        """
        x = self._new_features(x)
        with self._lock.writing():
            first = self.graph.num_nodes
            self._append(x)
            added: _Messages = []
            try:
                added = self._add_edges(edge_index, values)
                queries = np.arange(first, self.graph.num_nodes)
                if not queries.size:
                    return self._no_logits()
                with self.graph.workspaces.take(self.graph.num_nodes) as workspace:
                    return self._answers.outputs(queries, workspace)
            finally:
                self._remove(added)
                self.graph.drop_nodes(first)

    def _no_logits(self) -> Tensor:
        dtype = next((weight.dtype for weight in self.model.parameters()), torch.float32)
        return torch.empty(0, self.num_outputs, dtype=dtype)

    def _append(self, x: Tensor) -> Tensor:
        if isinstance(self._answers, SubgraphAnswers) and self._answers.node_values:
            names = ", ".join(self._answers.node_values)
            raise InputError(f"the network takes {names} of nodes, expected no new nodes")
        first, count = self.graph.num_nodes, x.size(0)
        self.graph.features.append(self._answers.prepared(x))
        self.graph.rows.append_rows(count)
        self._answers.changed(np.arange(first, first + count))
        return torch.arange(first, first + count)

    def _add_edges(self, edge_index: Tensor, values: Mapping[str, Tensor]) -> _Messages:
        """Add edges and return their messages that are new."""
        edges = as_edges(edge_index, self.graph)
        values = as_values(values, edges.shape[1], self.graph)
        columns = self._columns(edges, values)
        added: _Messages = []
        try:
            for source, target in self.graph.directions(edges):
                if self.graph.is_removed(source, target):
                    continue
                if source == target and isinstance(self.model, GNN):
                    continue
                column = columns[self.graph.key(source, target)]
                if self.graph.add_message(source, target, values, column):
                    added.append((source, target))
        except BaseException:  # such as Ctrl-C
            self._remove(added)
            raise
        self._touch(added)
        return added

    def _columns(self, edges: Array, values: Mapping[str, Tensor]) -> dict[tuple[int, int], int]:
        """Return the first column of each edge, or raise if another has other values."""
        columns: dict[tuple[int, int], int] = {}
        for column, (source, target) in enumerate(edges.T.tolist()):
            first = columns.setdefault(self.graph.key(source, target), column)
            for name, value in values.items():
                if first != column and not torch.equal(value[first], value[column]):
                    raise InputError(
                        f"{name} of edge {source}, {target} has two values, expected one"
                    )
        return columns

    def _remove(self, messages: _Messages) -> _Messages:
        """Remove messages and return those that there were."""
        removed: _Messages = []
        try:
            for source, target in messages:
                if self.graph.remove_message(source, target):
                    removed.append((source, target))
        finally:  # degrees are right after Ctrl-C, too
            self._touch(removed)
        return removed

    def _count(self, messages: _Messages) -> int:
        """Number of edges that some messages belong to."""
        if self.graph.directed:
            return len(messages)
        return len({(min(pair), max(pair)) for pair in messages})

    def _touch(self, messages: _Messages) -> None:
        self._answers.changed(np.unique(np.array(messages, np.int64).reshape(-1)))

    def _new_features(self, x: Tensor) -> Tensor:
        """Features of new or changed nodes, as the network takes them."""
        x = as_new_features(x, self._width, self.graph.features.dtype)
        if self._order is not None:
            x = x[:, self._order]
        if self._kept is not None:
            x = x[:, self._kept]
        return x
