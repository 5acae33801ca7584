"""``propagate`` of a PyG layer with linear messages, as a product with a sparse matrix."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.nn import MessagePassing

from teddy.kernels import jit
from teddy.layers.entries import Entries, EntriesCache
from teddy.layers.features import LateTensor, aggregate, entries_of
from teddy.layers.messages import linear_message

#: Registered hooks of a layer, which see its messages.
_HOOKS = (
    "_propagate_forward_pre_hooks", "_propagate_forward_hooks", "_message_forward_pre_hooks",
    "_message_forward_hooks", "_aggregate_forward_pre_hooks", "_aggregate_forward_hooks",
    "_message_and_aggregate_forward_pre_hooks", "_message_and_aggregate_forward_hooks",
)  # fmt: skip


class FastPropagate:
    r"""The ``propagate`` of a layer, :math:`\sum_j w_{ij} x_j`, as :math:`W X`.

    Whatever it does not support runs as PyG does it: hooks on messages, explanations, other tensors
    than dense ones on the CPU.

    Args:
        layer: The layer, with linear messages.
        cache: Entries of edge lists, shared by the layers of a model.
    """

    def __init__(self, layer: MessagePassing, cache: EntriesCache) -> None:
        self.layer, self.cache = layer, cache
        message = linear_message(type(layer).message)
        assert message is not None
        self.message = message
        self.reduce = {"SumAggregation": "sum", "MeanAggregation": "mean"}[
            type(layer.aggr_module).__name__
        ]

    def __call__(self, edge_index: Any, size: Any = None, **given: Any) -> Any:
        """Sum the messages of every node."""
        with torch._C.DisableTorchFunction():
            out = self._product(edge_index, size, given)
        if out is not None:
            return out
        kind: Any = type(self.layer)
        return kind.propagate(self.layer, edge_index, size=size, **entries_of(given))

    def _product(self, edge_index: Any, size: Any, given: dict[str, Any]) -> Tensor | None:
        layer: Any = self.layer
        if type(edge_index) is not Tensor or edge_index.dtype != torch.long:
            return None
        if edge_index.dim() != 2 or edge_index.device.type != "cpu":
            return None
        if layer.explain or layer.decomposed_layers > 1 or any(getattr(layer, n) for n in _HOOKS):
            return None
        names = {self.message.rows, self.message.weight} - {None}
        if not names <= given.keys() or torch.compiler.is_compiling():
            return None
        backwards = layer.flow == "target_to_source"
        rows, shape = _rows_and_shape(given[self.message.rows], size, backwards)
        weight = None if self.message.weight is None else given[self.message.weight]
        if rows is None or not _supports(rows, weight, layer.node_dim, edge_index.size(1)):
            return None
        entries = self.cache.find(edge_index, shape, backwards)
        return None if entries is None else self._sum(entries, rows, weight)

    def _sum(self, entries: Entries, rows: Tensor, weight: Tensor | None) -> Tensor:
        if weight is None:
            matrix = entries.matrix(self.reduce, rows.dtype)
        else:
            matrix = entries.weighted(weight.flatten() if rows.dim() == 2 else weight, self.reduce)
        if rows.dim() == 2:
            return aggregate(matrix, rows)
        product = matrix @ rows.reshape(-1, rows.size(2))
        return product.view(-1, *rows.shape[1:])


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
    if not isinstance(rows, Tensor):
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
    if type(rows) is not Tensor and not isinstance(rows, LateTensor | torch.nn.Parameter):
        return False
    if rows.layout != torch.strided or rows.is_inference() or not jit.available(rows):
        return False
    if weight is None:
        return rows.dim() == 2
    if type(weight) is not Tensor and not isinstance(weight, torch.nn.Parameter):
        return False
    if weight.dtype != rows.dtype or weight.device != rows.device:
        return False
    if rows.dim() == 2:
        return weight.numel() == edges and weight.dim() <= 2
    heads = rows.dim() == 3 and node_dim == 0
    return heads and weight.shape == (edges, rows.size(1))
