"""Ways to compute the outputs of a few nodes, by what a network is made of."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from teddy.kernels.neighbourhood import count_entries, entries_of
from teddy.kernels.pattern import Pattern
from teddy.kernels.sparse import SparseMatrix
from teddy.models.base import GNN
from teddy.models.gat import GAT
from teddy.models.layered import AttentionGNN
from teddy.serving.features import DenseFeatures, SparseFeatures
from teddy.serving.graph import ServedGraph
from teddy.serving.workspace import Workspace
from teddy.training.adapters import ModuleAdapter

Array = NDArray[Any]


class Answers(ABC):
    """A network on a graph, computed for some nodes at a time.

    Args:
        graph: The graph.
        hops: Hops from a node to all whose features its output depends on.
    """

    def __init__(self, graph: ServedGraph, hops: int) -> None:
        self.graph, self.hops = graph, hops

    @abstractmethod
    def outputs(self, queries: Array, workspace: Workspace) -> Tensor:
        """Outputs of these nodes, in their order."""

    def prepared(self, x: Tensor) -> Tensor:
        """Features as the graph stores them."""
        return x

    def changed(self, nodes: Array) -> None:  # noqa: B027 - most have nothing to note
        """Take note of nodes whose neighbours have changed, or that are new."""

    def gathered(self, queries: Array, workspace: Workspace) -> tuple[int, int]:
        """Count the nodes and messages that an answer looks at."""
        *_, inner, all_nodes = [0, *self.graph.levels(workspace, queries, self.hops)]
        return all_nodes, count_entries(self.graph.rows.arrays, workspace.nodes[:inner])


class AttentionAnswers(Answers):
    """Layers that attend to neighbours: what nodes give is projected first, then gathered.

    Args:
        model: A GAT or UniMP.
        graph: The graph.
    """

    def __init__(self, model: AttentionGNN, graph: ServedGraph) -> None:
        super().__init__(graph, model.num_layers)
        self.model, self._loops = model, isinstance(model, GAT)
        self._label: Array | None = None
        if getattr(model, "known_nodes", torch.empty(0)).numel():
            known: Any = model
            self._label = np.full(graph.num_nodes, -1)
            self._label[known.known_nodes.numpy()] = known.known_labels.numpy()

    def outputs(self, queries: Array, workspace: Workspace) -> Tensor:
        """Outputs of these nodes, in their order."""
        counts = self.graph.levels(workspace, queries, self.hops)
        rows: tuple[Any, ...] = (self._features(workspace.nodes[: counts[-1]]),)
        for index in range(self.hops):
            outer, inner = counts[self.hops - index], counts[self.hops - 1 - index]
            given = self.model.project(index, rows)
            own = tuple(part[:inner] for part in given)
            rows = self.model.gather(index, given, own, self._block(workspace, inner, outer))
        logits = self.model.logits(rows)
        return logits[torch.from_numpy(workspace.position[queries].astype(np.int64))]

    def _features(self, nodes: Array) -> Tensor | SparseMatrix:
        features = self.graph.features
        if self._label is None:
            dense = isinstance(features, DenseFeatures)
            return features.rows(nodes) if dense else cast(SparseFeatures, features).matrix(nodes)
        x, model = features.rows(nodes), cast(Any, self.model)
        label = np.full(nodes.size, -1)
        known = nodes < self._label.size
        label[known] = self._label[nodes[known]]
        shown = torch.from_numpy(np.flatnonzero(label >= 0))
        return x.index_add(0, shown, model.labels[torch.from_numpy(label[label >= 0])])

    def _block(self, workspace: Workspace, inner: int, outer: int) -> SparseMatrix:
        """Messages to the first nodes, from all that they come from."""
        rows = self.graph.rows
        entries, owner = entries_of(rows.arrays, workspace.nodes[:inner])
        col = workspace.position[rows.arrays[2][entries]].astype(np.int64)
        values = rows.arrays[3][entries] if rows.weighted else None
        if self._loops:
            owner, col = np.append(owner, np.arange(inner)), np.append(col, np.arange(inner))
            order = np.argsort(owner, kind="stable")
            owner, col = owner[order], col[order]
            if values is not None:
                values = np.append(values, np.ones(inner, values.dtype))[order]
        crow = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=inner))])
        pattern = Pattern(torch.from_numpy(crow), torch.from_numpy(col), (inner, outer))
        if values is not None:
            return SparseMatrix(pattern, torch.from_numpy(values))
        dtype = next(self.model.parameters()).dtype
        return SparseMatrix(pattern, torch.ones(col.size, dtype=dtype), unit=True)


class TokenAnswers(Answers):
    """A model that needs the tokens of a node alone; all tokens are computed once per graph.

    After a change of the graph all tokens are computed anew by the next answer.

    Args:
        model: A NAGphormer.
        graph: The graph.
    """

    def __init__(self, model: GNN, graph: ServedGraph) -> None:
        super().__init__(graph, int(model.options["hops"]))
        self.model: Any = model
        self._stem: Tensor | None = None

    def changed(self, nodes: Array) -> None:
        """Forget the tokens."""
        self._stem = None

    def outputs(self, queries: Array, workspace: Workspace) -> Tensor:
        """Outputs of these nodes, in their order."""
        stem = self._stem
        if stem is None:
            x, structure = self.model.prepare(*_whole(self.graph))
            self._stem = stem = self.model.stem(x, structure)
        outputs: Tensor = self.model.head(stem[torch.from_numpy(queries)], None)
        return outputs


class SubgraphAnswers(Answers):
    """Any module, run on the messages within some hops of the queried nodes.

    Args:
        adapter: The module on the whole graph.
        graph: The graph; its entries are the numbers of messages.
        hops: Hops whose messages are in the subgraph.
        node_values: Values of nodes ``[N, ...]`` that the module takes, by name.
    """

    def __init__(
        self, adapter: ModuleAdapter, graph: ServedGraph, hops: int,
        node_values: Mapping[str, Tensor],
    ) -> None:  # fmt: skip
        super().__init__(graph, hops)
        self.adapter, self.node_values = adapter, dict(node_values)
        self.num_outputs = 0

    def outputs(self, queries: Array, workspace: Workspace) -> Tensor:
        """Outputs of these nodes, in their order."""
        counts = self.graph.levels(workspace, queries, self.hops)
        nodes = workspace.nodes[: counts[-1]]
        rows = self.graph.rows.arrays
        entries, target = entries_of(rows, nodes[: counts[-2]])
        source = workspace.position[rows[2][entries]].astype(np.int64)
        order = np.lexsort((target, source))
        edge_index = torch.from_numpy(np.stack([source[order], target[order]]))
        message = torch.from_numpy(rows[3][entries][order])
        values = {name: value[message] for name, value in self.graph.values.items()}
        part = copy.copy(self.adapter)
        part.x, part.num_rows = self.graph.features.rows(nodes), nodes.size
        number = torch.from_numpy(nodes)
        values |= {name: value[number] for name, value in self.node_values.items()}
        part.edge_index, part.values = edge_index, {**self.adapter.values, **values}
        outputs = part.evaluation_outputs()
        return outputs[torch.from_numpy(workspace.position[queries].astype(np.int64))]


def _whole(graph: ServedGraph) -> tuple[Tensor | SparseMatrix, Tensor]:
    """All features, and all messages sorted by source."""
    features, rows = graph.features, graph.rows.arrays
    x = features.all()
    entries, target = entries_of(rows, np.arange(graph.num_nodes))
    source = rows[2][entries].astype(np.int64)
    order = np.lexsort((target, source))
    return x, torch.from_numpy(np.stack([source[order], target[order]]))
