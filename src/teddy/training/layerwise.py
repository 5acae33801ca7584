"""Exact evaluation of a whole graph layer by layer, for blocks of nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from teddy.kernels.pattern import Pattern
from teddy.kernels.sparse import SparseMatrix
from teddy.models.base import Features
from teddy.models.layered import LayeredGNN, Rows
from teddy.store.tensors import scratch
from teddy.training.adapters import Adapter
from teddy.training.distributed import World

# Size of a block in bytes: its widest rows.
_BLOCK_BYTES = 1 << 23


@dataclass(frozen=True)
class Block:
    """Block of consecutive nodes.

    Attributes:
        start: First node.
        end: One past the last node.
        x: Features of the nodes.
        adjacency: Rows of the nodes.
        neighbours: Nodes of its columns; None: all.
    """

    start: int
    end: int
    x: Features
    adjacency: SparseMatrix
    neighbours: Tensor | None


class LayerwiseAdapter(Adapter):
    """Evaluation of a model of layers with one block of hidden rows in memory.

    Projected rows (see :meth:`~teddy.models.layered.LayeredGNN.project`) are on disk, and a layer
    is computed block by block. All edges are used, and the result is that of a pass over the whole
    graph up to rounding. Edges and features are in memory. Several processes share the blocks.

    Args:
        model: Model that supports evaluation by layer.
        x: Features of all nodes.
        edge_index: Messages.
        block: Number of nodes in a block; by default for a few megabytes.
        edge_weight: Edge weights, by default 1.

    Example:
        >>> from teddy.models import GCN
        >>> model, x, path = GCN(2, 2), torch.eye(2), torch.tensor([[0, 1], [1, 0]])
        >>> by_layer = LayerwiseAdapter(model, x, path, block=1).evaluation_outputs()
        >>> torch.allclose(by_layer, model.eval()(x, path))
        True
    """

    def __init__(
        self,
        model: LayeredGNN,
        x: Features,
        edge_index: Tensor,
        block: int | None = None,
        edge_weight: Tensor | None = None,
    ) -> None:
        assert model.by_layer
        self.model, self.world = model, World.current()
        features, adjacency = model.prepare(x, edge_index, edge_weight)
        self.num_nodes: int = features.shape[0]
        size = block or max(1, _BLOCK_BYTES // (4 * max(model.channels[1:])))
        self.blocks = [
            _block(features, adjacency, start, min(start + size, self.num_nodes))
            for start in range(0, self.num_nodes, size)
        ]
        self._scratch: dict[tuple[int, int], Tensor] = {}

    def training_outputs(self, nodes: Tensor | None = None) -> Tensor:
        """Raise, since the model is trained on mini-batches."""
        raise NotImplementedError

    @torch.no_grad()
    def evaluation_outputs(self, nodes: Tensor | None = None) -> Tensor:
        """Return evaluation outputs of all nodes, or of these, with the current weights."""
        model, last = self.model.eval(), self.model.num_layers
        rows: Callable[[Block], Rows] = _features
        for index in range(last):
            rows = self._layer(index, self._of_all(index, self._projected(index, rows)))
        (logits,) = self._of_all(last, lambda block: (model.logits(rows(block)),))
        device = next(model.parameters()).device
        if nodes is None:
            self._scratch.pop((last, 0), None)  # the result is not overwritten
            return logits.to(device)
        return logits.index_select(0, nodes.to(logits.device)).to(device)

    def _projected(self, index: int, rows: Callable[[Block], Rows]) -> Callable[[Block], Rows]:
        return lambda block: self.model.project(index, rows(block))

    def _layer(self, index: int, projected: tuple[Tensor, ...]) -> Callable[[Block], Rows]:
        """Return the function that computes a layer of a block from projected rows."""

        def rows(block: Block) -> Rows:
            device = block.adjacency.values.device
            neighbours = projected
            if block.neighbours is not None:
                neighbours = tuple(part[block.neighbours].to(device) for part in projected)
            own = tuple(part[block.start : block.end].to(device) for part in projected)
            return self.model.gather(index, neighbours, own, block.adjacency)

        return rows

    def _of_all(self, stage: int, compute: Callable[[Block], Rows]) -> tuple[Tensor, ...]:
        """Compute rows of all nodes, block by block over all processes; several blocks on disk."""
        world = self.world
        if len(self.blocks) == 1 and world.size == 1:
            return tuple(part.cpu() for part in compute(self.blocks[0]))
        whole: list[Tensor] = []
        for number, block in enumerate(self.blocks):
            parts = compute(block) if number % world.size == world.rank else ()
            if number == 0:  # computed by rank zero
                kinds = world.shared([(part.size(1), part.dtype) for part in parts])
                whole = [self._buffer(stage, place, *kind) for place, kind in enumerate(kinds)]
            for target, part in zip(whole, parts, strict=False):
                target[block.start : block.end] = part
        for number, block in enumerate(self.blocks):
            for target in whole:
                world.broadcast_(target[block.start : block.end], number % world.size)
        return tuple(whole)

    def _buffer(self, stage: int, place: int, width: int, kind: torch.dtype) -> Tensor:
        """Return an array on disk, reused since new pages are expensive."""
        if (stage, place) not in self._scratch:
            self._scratch[stage, place] = scratch(self.num_nodes, width, kind)
        return self._scratch[stage, place]


def _block(x: Features, adjacency: SparseMatrix, start: int, end: int) -> Block:
    own = x.rows(start, end) if isinstance(x, SparseMatrix) else x[start:end]
    rows = adjacency.rows(start, end)
    if rows.values.device.type == "cpu":  # arrays on disk are read in place
        return Block(start, end, own, rows, None)
    return Block(start, end, own, *_compact(rows))


def _compact(rows: SparseMatrix) -> tuple[SparseMatrix, Tensor]:
    """Return rows without empty columns, and the nodes of the columns."""
    neighbours, col = rows.pattern.col.unique(return_inverse=True)
    pattern = Pattern(rows.pattern.crow, col, (rows.shape[0], neighbours.numel()))
    return SparseMatrix(pattern, rows.values, rows.unit), neighbours.cpu()


def _features(block: Block) -> Rows:
    return (block.x,)
