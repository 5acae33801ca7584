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

from teddy.kernels.neighbourhood import aggregate, count_entries, entries_of
from teddy.kernels.pattern import Pattern
from teddy.kernels.sparse import SparseMatrix
from teddy.models.base import GNN
from teddy.models.gat import GAT
from teddy.models.layered import AttentionGNN, LayeredGNN, LinearTerm
from teddy.serving.features import DenseFeatures, SparseFeatures
from teddy.serving.graph import ServedGraph
from teddy.serving.workspace import Workspace
from teddy.training.adapters import ModuleAdapter

Array = NDArray[Any]
_EVERY: Array = np.empty(0, np.int32)


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


class LinearAnswers(Answers):
    r"""Layers that sum neighbours, :math:`\sum_t (l \odot A (r \odot H) + o \odot H) W_t`.

    Neighbours are summed before the product with the weight, so that the product is computed for
    nodes ``L - 1`` hops away, not ``L``. Where features are sparse or wider than the first layer,
    their products with its weights are stored in place of them.

    Args:
        model: A GCN, GIN or SAGE.
        graph: The graph; its features are replaced by their products.
    """

    def __init__(self, model: LayeredGNN, graph: ServedGraph) -> None:
        super().__init__(graph, model.num_layers)
        self.model = model
        none = torch.empty(0, dtype=next(model.parameters()).dtype)
        layers = [model.linear_terms(index, none) for index in range(self.hops)]
        self._weights = [[_constant(term.weight) for term in layer] for layer in layers]
        self._scales: list[list[tuple[Array, Array, Array] | None]] = []
        width = sum(weight.size(1) for weight in self._weights[0])
        sparse = isinstance(graph.features, SparseFeatures)
        self._stored = sparse or graph.features.width > width
        if self._stored:
            graph.features = DenseFeatures(self._products(graph.features.all()))
        self.changed(np.arange(graph.num_nodes))

    def prepared(self, x: Tensor) -> Tensor:
        """Features as they are stored."""
        return self._products(x) if self._stored else x

    def _products(self, x: Tensor | SparseMatrix) -> Tensor:
        """Products of features with the weights of the first layer, side by side."""
        return torch.cat([x @ weight for weight in self._weights[0]], dim=1)

    def changed(self, nodes: Array) -> None:
        """Update the scales of these nodes, which depend on their degrees."""
        rows, dtype = self.graph.rows, next(self.model.parameters()).dtype
        _, length, _, weight = rows.arrays
        if not rows.weighted:
            degree = torch.from_numpy(length[nodes]).to(dtype)
        elif nodes.size == rows.num_rows:
            entries, owner = entries_of(rows.arrays, nodes)
            sums = np.bincount(owner, np.abs(weight[entries]), minlength=nodes.size)
            degree = torch.from_numpy(sums).to(dtype)
        else:
            degree = torch.tensor([rows.row_sum(node) for node in nodes.tolist()], dtype=dtype)
        terms = [self.model.linear_terms(index, degree) for index in range(self.hops)]
        if not self._scales:
            self._scales = [[_arrays(term) for term in layer] for layer in terms]
            return
        for layer, new in zip(self._scales, terms, strict=True):
            for place, (old, term) in enumerate(zip(layer, new, strict=True)):
                values = _arrays(term)
                if old is not None and values is not None:
                    pairs = zip(old, values, strict=True)
                    updated = (_updated(a, nodes, b, rows.num_rows) for a, b in pairs)
                    layer[place] = cast(Any, tuple(updated))

    def outputs(self, queries: Array, workspace: Workspace) -> Tensor:
        """Outputs of these nodes, in their order."""
        counts = self.graph.levels(workspace, queries, self.hops - 1)
        outputs: list[Tensor] = []
        h: Tensor | None = None
        for index in range(self.hops):
            nodes = workspace.nodes[: counts[self.hops - 1 - index]]
            z = self._layer(index, h, nodes, workspace)
            outputs.append(z[: counts[0]])
            h = z.relu()
        logits = self.model.read_out(outputs)
        return logits[torch.from_numpy(workspace.position[queries].astype(np.int64))]

    def _layer(self, index: int, h: Tensor | None, nodes: Array, workspace: Workspace) -> Tensor:
        total: Tensor | None = None
        for term in range(len(self._weights[index])):
            z = self._term(index, term, h, nodes, workspace)
            total = z if total is None else total.add_(z)
        assert total is not None
        return total

    def _term(
        self, index: int, term: int, h: Tensor | None, nodes: Array, workspace: Workspace
    ) -> Tensor:
        """One term of a layer, for some nodes."""
        weight, scales = self._weights[index][term], self._scales[index][term]
        features = cast(DenseFeatures, self.graph.features).array
        if h is None and self._stored:
            first = sum(other.size(1) for other in self._weights[0][:term])
            features = features[:, first : first + weight.size(1)]
        source, position = (features, _EVERY) if h is None else (h.numpy(), workspace.position)
        if scales is None:  # the nodes themselves
            own = torch.from_numpy(source[nodes if h is None else slice(nodes.size)])
            return own if h is None and self._stored else own @ weight
        if h is None and self._stored:
            sums = torch.empty(nodes.size, weight.size(1), dtype=weight.dtype)
        else:
            sums = workspace.buffer("sums", nodes.size, source.shape[1], weight.dtype)
        aggregate(self.graph.rows.arrays, nodes, scales, source, position, sums.numpy())
        return sums if h is None and self._stored else sums @ weight


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


def _arrays(term: LinearTerm) -> tuple[Array, Array, Array] | None:
    """Scales of a term as kernels take them; None: the term has the nodes themselves only."""
    if term.left is None or term.right is None:
        return None
    parts = (term.left, term.right, term.own)
    left, right, own = (part.detach().contiguous().numpy() for part in parts)
    return left, right, own


def _updated(values: Array, nodes: Array, new: Array, num_nodes: int) -> Array:
    if values.size < num_nodes:
        values = np.concatenate([values, np.zeros(max(num_nodes, values.size), values.dtype)])
    values[nodes] = new
    return values


def _constant(weight: Any) -> Tensor:
    constant: Tensor = weight.detach().contiguous()
    return constant
