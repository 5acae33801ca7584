"""``propagate`` of a PyG layer with linear messages, as a product with a sparse matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch_geometric.nn import MessagePassing

from teddy.kernels import jit
from teddy.layers.entries import Entries, EntriesCache
from teddy.layers.features import entries_of, runs_plainly
from teddy.layers.messages import REDUCTIONS, linear_message, reason_against

#: Registered hooks of a layer, which see its messages.
_HOOKS = (
    "_propagate_forward_pre_hooks", "_propagate_forward_hooks", "_message_forward_pre_hooks",
    "_message_forward_hooks", "_aggregate_forward_pre_hooks", "_aggregate_forward_hooks",
    "_message_and_aggregate_forward_pre_hooks", "_message_and_aggregate_forward_hooks",
)  # fmt: skip


class FastPropagate:
    r"""The ``propagate`` of a layer, :math:`\sum_j w_{ij} x_j`, as :math:`W X`.

    Whatever it does not support runs as PyG does it: hooks on messages, explanations, methods that
    were replaced, transforms of torch, and other tensors than dense ones on the CPU.

    Args:
        layer: The layer, with linear messages.
        cache: Entries of edge lists, shared by the layers of a model.
    """

    def __init__(self, layer: MessagePassing, cache: EntriesCache) -> None:
        self.layer, self.cache = layer, cache

    def __call__(self, edge_index: Any, size: Any = None, **given: Any) -> Any:
        """Sum the messages of every node."""
        given = entries_of(given)
        out = self._product(edge_index, size, given)
        if out is not None:
            return out
        propagate: Callable[..., Any] = type(self.layer).propagate
        return propagate(self.layer, edge_index, size=size, **given)

    def _product(self, edge_index: Any, size: Any, given: dict[str, Any]) -> Tensor | None:
        layer: Any = self.layer
        message = linear_message(type(layer).message)
        if message is None or reason_against(layer) is not None or runs_plainly():
            return None
        if type(edge_index) is not Tensor or edge_index.dtype != torch.long:
            return None
        if edge_index.dim() != 2 or edge_index.device.type != "cpu":
            return None
        if layer.explain or layer.decomposed_layers > 1 or any(getattr(layer, n) for n in _HOOKS):
            return None
        if not {message.rows, message.weight} - {None} <= given.keys():
            return None
        backwards = layer.flow == "target_to_source"
        rows, shape = _rows_and_shape(given[message.rows], size, backwards)
        weight = None if message.weight is None else given[message.weight]
        if rows is None or not _supports(rows, weight, layer.node_dim, edge_index.size(1)):
            return None
        if weight is not None and rows.dim() == 3 and not message.by_head:
            return None
        entries = self.cache.find(edge_index, shape, backwards)
        reduce = REDUCTIONS[type(layer.aggr_module).__name__]
        return None if entries is None else _sum(entries, rows, weight, reduce)


def _sum(entries: Entries, rows: Tensor, weight: Tensor | None, reduce: str) -> Tensor:
    if weight is None:
        return entries.matrix(reduce, rows.dtype) @ rows
    matrix = entries.weighted(weight.flatten() if rows.dim() == 2 else weight, reduce)
    if rows.dim() == 2:
        return matrix @ rows
    return (matrix @ rows.flatten(0, 1)).view(-1, *rows.shape[1:])


def _rows_and_shape(
    given: Any, size: Any, backwards: bool
) -> tuple[Tensor | None, tuple[int, int]]:
    """Return the rows of sources, and the number of targets and of sources."""
    place = 1 if backwards else 0
    if isinstance(given, tuple | list):
        if len(given) != 2:
            return None, (0, 0)
        rows, own = given[place], given[1 - place]
    else:
        rows = own = given
    if not isinstance(rows, Tensor) or rows.dim() < 2:
        return None, (0, 0)
    targets = own.size(0) if isinstance(own, Tensor) else None
    if size is not None:
        sources_given, targets_given = size[place], size[1 - place]
        if sources_given not in (None, rows.size(0)):
            return None, (0, 0)
        if targets is not None and targets_given not in (None, targets):
            return None, (0, 0)
        targets = targets if targets is not None else targets_given
    return rows, (rows.size(0) if targets is None else int(targets), rows.size(0))


def _supports(rows: Tensor, weight: Any, node_dim: int, edges: int) -> bool:
    """Return whether the kernels support rows of nodes and weights of messages."""
    plain = (Tensor, torch.nn.Parameter)
    if type(rows) not in plain or rows.layout != torch.strided:
        return False
    if rows.is_inference() or not jit.available(rows):
        return False
    if weight is None:
        return rows.dim() == 2
    if type(weight) not in plain or weight.dtype != rows.dtype or weight.device != rows.device:
        return False
    if rows.dim() == 2:
        return weight.shape in ((edges,), (edges, 1))
    heads = rows.dim() == 3 and node_dim == 0
    return heads and weight.shape == (edges, rows.size(1))
