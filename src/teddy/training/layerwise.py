"""Exact evaluation of a whole graph, a layer after the other, some nodes at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from teddy.models.base import Features
from teddy.models.layered import LayeredGNN, Rows
from teddy.models.pattern import Pattern
from teddy.models.sparse import SparseMatrix
from teddy.training.distributed import World
from teddy.training.forward import Evaluation, forward_passes
from teddy.training.scratch import scratch

# Bytes of a block's widest row times its nodes.
_BLOCK_BYTES = 1 << 23


@dataclass(frozen=True)
class Block:
    """Some nodes, one after the other.

    Attributes:
        start: The first.
        end: One past the last.
        adjacency: Their rows.
        neighbours: The nodes that its columns stand for; None: all.
    """

    start: int
    end: int
    adjacency: SparseMatrix
    neighbours: Tensor | None


class LayerwiseForward(Evaluation):
    """The logits of all nodes, with a block of nodes in memory.

    What nodes give to the next layer (see :meth:`~teddy.models.layered.LayeredGNN.project`) is on
    the disk, and a layer is computed a block of nodes at a time from it. All edges count, as in
    one pass over the whole graph, and the result is the same up to rounding. Edges and features
    themselves are in memory. Several processes share the blocks.

    Args:
        model: One of layers that can be evaluated in this way.
        x: Features of all nodes.
        edge_index: All edges.
        block: Nodes of a block; by default as many as fill a few megabytes.

    Example:
        >>> from teddy.models import GCN
        >>> model, x, path = GCN(2, 2), torch.eye(2), torch.tensor([[0, 1], [1, 0]])
        >>> by_layer = LayerwiseForward(model, x, path, block=1).evaluation_logits()
        >>> torch.allclose(by_layer, model.eval()(x, path))
        True
    """

    def __init__(
        self, model: LayeredGNN, x: Features, edge_index: Tensor, block: int | None = None
    ) -> None:
        assert model.by_layer
        self.model, self.world = model, World.current()
        self.x, adjacency = model.prepare(x, edge_index)
        self.num_nodes = self.x.shape[0]
        size = block or max(1, _BLOCK_BYTES // (4 * max(model.channels[1:])))
        on_cpu = adjacency.values.device.type == "cpu"
        self.blocks = [
            _block(adjacency, start, min(start + size, self.num_nodes), on_cpu)
            for start in range(0, self.num_nodes, size)
        ]

    @torch.no_grad()
    def evaluation_logits(self, nodes: Tensor | None = None) -> Tensor:
        """Logits of the weights as they are now, of all nodes or of these."""
        model = self.model.eval()

        rows: Callable[[Block], Rows] = self._features
        for index in range(model.num_layers):
            rows = self._layer(index, self._of_all(self._given(index, rows)))
        (logits,) = self._of_all(lambda block: (model.logits(rows(block)),))
        device = next(model.parameters()).device
        if nodes is None:
            return logits if device.type == "cpu" else logits.to(device)
        return logits.index_select(0, nodes.to(logits.device)).to(device)

    def _features(self, block: Block) -> Rows:
        start, end = block.start, block.end
        if end - start == self.num_nodes:
            return (self.x,)
        sparse = isinstance(self.x, SparseMatrix)
        return (self.x.rows(start, end) if sparse else self.x[start:end],)

    def _given(self, index: int, rows: Callable[[Block], Rows]) -> Callable[[Block], Rows]:
        return lambda block: self.model.project(index, rows(block))

    def _layer(self, index: int, given: tuple[Tensor, ...]) -> Callable[[Block], Rows]:
        """A layer of a block, from what all nodes gave."""

        def rows(block: Block) -> Rows:
            device = block.adjacency.values.device
            seen = given
            if block.neighbours is not None:
                seen = tuple(part[block.neighbours].to(device) for part in given)
            own = tuple(part[block.start : block.end].to(device) for part in given)
            return self.model.gather(index, seen, own, block.adjacency)

        return rows

    def _of_all(self, compute: Callable[[Block], Rows]) -> tuple[Tensor, ...]:
        """Rows of all nodes, of each process its blocks; on the disk where there are several."""
        if len(self.blocks) == 1 and self.world.size == 1:
            return tuple(part.cpu() for part in compute(self.blocks[0]))
        whole: list[Tensor] = []
        widths: list[tuple[int, torch.dtype]] | None = None
        for number, block in enumerate(self.blocks):
            owner = number % self.world.size
            parts = compute(block) if owner == self.world.rank else ()
            if widths is None:
                widths = self.world.shared([(part.size(1), part.dtype) for part in parts])
                whole = [scratch(self.num_nodes, width, kind) for width, kind in widths]
            for target, part in zip(whole, parts, strict=False):
                target[block.start : block.end] = part
        for number, block in enumerate(self.blocks):
            for target in whole:
                self.world.broadcast_(target[block.start : block.end], number % self.world.size)
        return tuple(whole)


def evaluation_passes(
    model: nn.Module, x: Tensor, edge_index: Tensor, _: object = None
) -> Evaluation:
    """Choose how to evaluate a module whose training is past memory.

    Args:
        model: Layer by layer where it can be, else in one pass.
        x: Features.
        edge_index: The graph.
    """
    if isinstance(model, LayeredGNN) and model.by_layer:
        return LayerwiseForward(model, x, edge_index)
    return forward_passes(model, x, edge_index)


def _block(adjacency: SparseMatrix, start: int, end: int, all_columns: bool) -> Block:
    rows = adjacency.rows(start, end)
    if all_columns:  # rows of a factor on the disk can be read where they are
        return Block(start, end, rows, None)
    neighbours, col = rows.pattern.col.unique(return_inverse=True)
    pattern = Pattern(rows.pattern.crow, col, (end - start, neighbours.numel()))
    return Block(start, end, SparseMatrix(pattern, rows.values, rows.unit), neighbours.cpu())
