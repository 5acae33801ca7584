"""The way to answer for a network, by what it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from torch import Tensor, nn

from teddy.errors import InputError, warn
from teddy.kernels.sparse import SparseMatrix
from teddy.models import GNN
from teddy.models.base import as_features, take_features
from teddy.models.compact import NotSmallerError, compact, compact_module
from teddy.models.layered import AttentionGNN, LayeredGNN
from teddy.serving.answers import (
    Answers,
    AttentionAnswers,
    SubgraphAnswers,
    TokenAnswers,
)
from teddy.serving.graph import ServedGraph
from teddy.serving.linear import LinearAnswers
from teddy.training.adapters import ModuleAdapter
from teddy.training.reach import find_hops


def answers_of_model(model: GNN, graph: ServedGraph, store_products: bool | None = None) -> Answers:
    """The way to compute a built-in model for some nodes."""
    if isinstance(model, LayeredGNN) and not isinstance(model, AttentionGNN):
        return LinearAnswers(model, graph, store_products)
    check_no_products(store_products, type(model).__name__)
    if isinstance(model, AttentionGNN):
        return AttentionAnswers(model, graph)
    if model.by_node:
        return TokenAnswers(model, graph)
    raise InputError(
        f"a {type(model).__name__} cannot be served: each of its outputs depends on the whole "
        "graph; use predict(data)"
    )


def check_no_products(store_products: bool | None, name: str) -> None:
    """Raise if products are to be stored for a model whose answers do not use them."""
    if store_products is not None:
        raise InputError(f"store_products is not supported for a {name}, expected GCN, GIN or SAGE")


def shrunk_model(
    model: GNN, x: Tensor, shrink: bool
) -> tuple[GNN, Tensor | SparseMatrix, Tensor | None]:
    """Return a built-in model without its dead parts, and the features that it looks at.

    Args:
        model: The model.
        x: Features ``[N, F]``.
        shrink: Whether to remove anything.

    Returns:
        The model, its features, and their columns in ``x``; None: all.
    """
    features, kept = as_features(x), None
    if shrink:
        model, columns = compact(model)
        if columns.numel() < x.size(1):
            features, kept = take_features(features, columns), columns
    dtype = next(model.parameters()).dtype
    if isinstance(features, Tensor):
        return model, features.to(dtype), kept
    return model, SparseMatrix(features.pattern, features.values.to(dtype)), kept


def smaller_module(model: nn.Module, adapter: Callable[[nn.Module], ModuleAdapter]) -> nn.Module:
    """A module without its dead units, where it can be had."""
    try:
        return compact_module(model, lambda network: adapter(network).evaluation_outputs())
    except NotSmallerError as error:
        warn(f"served with dead units: {error}")
        return model


def answers_of_module(
    whole: ModuleAdapter, graph: ServedGraph, node_values: Mapping[str, Tensor], hops: int | None
) -> SubgraphAnswers:
    """Answers of a module from as few hops as equal a pass over the whole graph."""

    def one_output(node: int, number: int) -> tuple[Tensor, bool]:
        query = np.array([node])
        answers = SubgraphAnswers(whole, graph, number, node_values)
        with graph.workspaces.take(graph.num_nodes) as workspace:
            row = answers.outputs(query, workspace)
            workspace.clear()
            *_, inner, outer = graph.levels(workspace, query, number + 1)
        return row, inner == outer

    neighbours = graph.rows.arrays[1][: graph.num_nodes]
    number, outputs = find_hops(whole, neighbours, one_output, "use predict(data)", hops)
    answers = SubgraphAnswers(whole, graph, number, node_values)
    answers.num_outputs = outputs.size(1)
    return answers
