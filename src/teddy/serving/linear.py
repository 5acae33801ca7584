"""Outputs of a few nodes of a network whose layers sum neighbours."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from teddy.errors import InputError
from teddy.kernels.neighbourhood import aggregate, entries_of
from teddy.kernels.sparse import SparseMatrix
from teddy.models.layered import LayeredGNN, LinearTerm
from teddy.serving.answers import Answers
from teddy.serving.features import DenseFeatures, SparseFeatures
from teddy.serving.graph import ServedGraph
from teddy.serving.workspace import Workspace

Array = NDArray[Any]
_EVERY: Array = np.empty(0, np.int32)
# Multiply-adds of a dense product that take as long as one number of a gathered row, about.
_MACS_OF_NUMBER = 12


class LinearAnswers(Answers):
    r"""Layers that sum neighbours, :math:`\sum_t (l \odot A (r \odot H) + o \odot H) W_t`.

    Neighbours are summed before the product with the weight, so that the product is computed for
    nodes ``L - 1`` hops away, not ``L``. Where features are sparse, wider than the first layer, or
    few of them are summed, their products with its weights are stored in place of them.

    Args:
        model: A GCN, GIN or SAGE.
        graph: The graph; its features are replaced by their products.
        store_products: Whether to store products; None: where that makes answers faster.
    """

    def __init__(
        self, model: LayeredGNN, graph: ServedGraph, store_products: bool | None = None
    ) -> None:
        super().__init__(graph, model.num_layers)
        self.model = model
        none = torch.empty(0, dtype=next(model.parameters()).dtype)
        layers = [model.linear_terms(index, none) for index in range(self.hops)]
        self._weights = [[_constant(term.weight) for term in layer] for layer in layers]
        self._scales: list[list[tuple[Array, Array, Array] | None]] = []
        sparse = isinstance(graph.features, SparseFeatures)
        if store_products is None:
            store_products = sparse or self._storing_is_faster(layers[0])
        elif sparse and not store_products:
            raise InputError("store_products is False, expected True or None for sparse features")
        self._stored = store_products
        if self._stored:
            graph.features = DenseFeatures(self._products(graph.features.all()))
        self.changed(np.arange(graph.num_nodes))

    def _storing_is_faster(self, terms: list[LinearTerm]) -> bool:
        """Compare the cost of a node in the first layer, in gathered numbers.

        A node in reach has more neighbours than an average one: ``sum(d^2) / sum(d)``.
        """
        degree = self.graph.rows.arrays[1].astype(np.float64)
        neighbours = float((degree**2).sum() / max(degree.sum(), 1))
        width = self.graph.features.width
        stored = direct = 0.0
        for term, weight in zip(terms, self._weights[0], strict=True):
            gathered = 1 if term.left is None else neighbours
            stored += gathered * weight.size(1)
            direct += gathered * width + width * weight.size(1) / _MACS_OF_NUMBER
        return stored < direct

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
