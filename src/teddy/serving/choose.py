"""The way to answer for a network, by what it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

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
from teddy.sparsity import check_count
from teddy.training.adapters import ModuleAdapter

# Nodes whose answers are compared with a full pass, to learn how far a module looks.
_COMPARED = 32
_MORE_HOPS = 3
_TOLERANCE = 1e-4


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
    """Answers of a module from as few hops as equal a pass over the whole graph.

    A number of hops is proved by a node whose neighbourhood extends beyond them. Without one, it is
    one more than the message passings of a pass, since a change of the graph may bring such a node.
    """
    if hops is not None:
        check_count(hops, "hops")
    outputs, passings = _counted_pass(whole)
    shuffled = np.random.default_rng(0).permutation(graph.num_nodes)
    linked = graph.rows.arrays[1][shuffled] > 0
    nodes = shuffled[np.argsort(~linked, kind="stable")][:_COMPARED]
    expected = outputs[torch.from_numpy(nodes)]
    tries = range(max(passings, 1), passings + _MORE_HOPS + 1) if hops is None else [hops]
    scale = max(1.0, float(expected.abs().max())) if nodes.size else 1.0
    for number in tries:
        answers = SubgraphAnswers(whole, graph, number, node_values)
        # One by one: what a node lacks may be in the neighbourhood of another.
        rows, ends = [expected[:0]], True
        for node in nodes[:, None]:
            with graph.workspaces.take(graph.num_nodes) as workspace:
                rows.append(answers.outputs(node, workspace))
                workspace.clear()
                *_, inner, outer = graph.levels(workspace, node, number + 1)
                ends = ends and inner == outer
        off = float((torch.cat(rows) - expected).abs().max()) if nodes.size else 0.0
        if off <= _TOLERANCE * scale and (hops is not None or number > passings or not ends):
            answers.num_outputs = outputs.size(1)
            return answers
    raise InputError(
        f"outputs of a {type(whole.network).__name__} from {number} hops differ from a "
        f"pass over the whole graph by {off:.1e}, expected a module that looks at a node's "
        "neighbourhood alone, or more hops (hops=...); else use predict(data)"
    )


def _counted_pass(whole: ModuleAdapter) -> tuple[Tensor, int]:
    """Outputs of a pass over the whole graph, and how many times messages are passed in it."""
    passings = 0

    def count(*_: object) -> None:
        nonlocal passings
        passings += 1

    parts = [part for part in whole.network.modules() if isinstance(part, MessagePassing)]
    hooks = [part.register_propagate_forward_pre_hook(count) for part in parts]
    try:
        return whole.evaluation_outputs(), max(passings, len(parts))
    finally:
        for hook in hooks:
            hook.remove()
