"""Multiply-accumulates of one forward pass over the whole graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import Linear as PyGLinear
from torch_geometric.nn import MessagePassing

from teddy.models.base import GNN, Features
from teddy.models.module_call import ModuleCall, stop_caching


@torch.no_grad()
def count_macs(model: nn.Module, x: Features, edge_index: Any, **of_edges: Any) -> list[int] | None:
    """Count multiply-accumulates of stored non-zeros; ``of_edges`` are inputs as ``edge_weight``.

    For built-in models, per layer: a product H W costs one for each pair of a stored feature and a
    non-zero weight that meet; an aggregation costs the entries of the adjacency, with the model's
    self-loops, times the output width.

    For another module, one number: each linear layer costs its input rows times its non-zero
    weights, each PyG message passing the number of values in its messages; other products are not
    counted. None without any of these.

    Example:
        >>> from teddy.models import GCN
        >>> model = GCN(3, 2, hidden_channels=4)  # two nodes, one edge: 4 entries in A
        >>> count_macs(model, torch.ones(2, 3), torch.tensor([[0, 1], [1, 0]]))
        [40, 24]
    """
    if isinstance(model, GNN):
        return model.layer_macs(*model.prepare(x, edge_index, **of_edges))
    assert isinstance(x, Tensor)
    seen: list[int] = []

    def linear(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        weight = module.weight
        assert isinstance(weight, Tensor)
        seen.append(output.numel() // output.size(-1) * int(torch.count_nonzero(weight)))

    def message(module: nn.Module, inputs: tuple[object, ...], output: Tensor) -> None:
        seen.append(output.numel())

    hooks = []
    for module in model.modules():
        if isinstance(module, nn.Linear | PyGLinear):
            hooks.append(module.register_forward_hook(linear))
        if isinstance(module, MessagePassing):
            hooks.append(module.register_message_forward_hook(message))
    was_training = model.training
    try:
        ModuleCall(stop_caching(model).eval())(x, edge_index, of_edges)
    finally:
        model.train(was_training)
        for hook in hooks:
            hook.remove()
    return [sum(seen)] if seen else None
