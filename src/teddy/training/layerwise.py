"""Exact evaluation of a whole graph, a layer after the other, some nodes at a time."""

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

# Bytes of a block's widest row times its nodes.
_BLOCK_BYTES = 1 << 23


@dataclass(frozen=True)
class Block:
    """Some nodes, one after the other.

    Attributes:
        start: The first.
        end: One past the last.
        x: Their features.
        adjacency: Their rows.
        neighbours: The nodes that its columns stand for; None: all.
    """

    start: int
    end: int
    x: Features
    adjacency: SparseMatrix
    neighbours: Tensor | None


class LayerwiseAdapter(Adapter):
    """A model of layers, evaluated with a block of nodes in memory.

    What nodes give to the next layer (see :meth:`~teddy.models.layered.LayeredGNN.project`) is on
    the disk, and a layer is computed a block of nodes at a time from it. All edges count, as in
    one pass over the whole graph, and the result is the same up to rounding. Edges and features
    themselves are in memory. Several processes share the blocks.

    Args:
        model: One of layers that can be evaluated in this way.
        x: Features of all nodes.
        edge_index: All edges, in the direction of their messages.
        block: Nodes of a block; by default as many as fill a few megabytes.
        edge_weight: Weights of the edges; by default all 1.

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
        """Not implemented: the model is trained on batches."""
        raise NotImplementedError

    @torch.no_grad()
    def evaluation_outputs(self, nodes: Tensor | None = None) -> Tensor:
        """Outputs with the weights as they are now, of all nodes or of these."""
        model, last = self.model.eval(), self.model.num_layers
        rows: Callable[[Block], Rows] = _features
        for index in range(last):
            rows = self._layer(index, self._of_all(index, self._given(index, rows)))
        (logits,) = self._of_all(last, lambda block: (model.logits(rows(block)),))
        device = next(model.parameters()).device
        if nodes is None:
            self._scratch.pop((last, 0), None)  # what is handed out isn't written to again
            return logits.to(device)
        return logits.index_select(0, nodes.to(logits.device)).to(device)

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

    def _of_all(self, stage: int, compute: Callable[[Block], Rows]) -> tuple[Tensor, ...]:
        """Rows of all nodes, of each process its blocks; on the disk where there are several."""
        world = self.world
        if len(self.blocks) == 1 and world.size == 1:
            return tuple(part.cpu() for part in compute(self.blocks[0]))
        whole: list[Tensor] = []
        for number, block in enumerate(self.blocks):
            parts = compute(block) if number % world.size == world.rank else ()
            if number == 0:  # the first process's
                kinds = world.shared([(part.size(1), part.dtype) for part in parts])
                whole = [self._room(stage, place, *kind) for place, kind in enumerate(kinds)]
            for target, part in zip(whole, parts, strict=False):
                target[block.start : block.end] = part
        for number, block in enumerate(self.blocks):
            for target in whole:
                world.broadcast_(target[block.start : block.end], number % world.size)
        return tuple(whole)

    def _room(self, stage: int, place: int, width: int, kind: torch.dtype) -> Tensor:
        """An array on the disk, the same every time: new pages cost more than what they hold."""
        if (stage, place) not in self._scratch:
            self._scratch[stage, place] = scratch(self.num_nodes, width, kind)
        return self._scratch[stage, place]


def _block(x: Features, adjacency: SparseMatrix, start: int, end: int) -> Block:
    own = x.rows(start, end) if isinstance(x, SparseMatrix) else x[start:end]
    rows = adjacency.rows(start, end)
    if rows.values.device.type == "cpu":  # what is on the disk can be read where it is
        return Block(start, end, own, rows, None)
    return Block(start, end, own, *_compact(rows))


def _compact(rows: SparseMatrix) -> tuple[SparseMatrix, Tensor]:
    """The same with a column for each node that has an entry, and which nodes these are."""
    neighbours, col = rows.pattern.col.unique(return_inverse=True)
    pattern = Pattern(rows.pattern.crow, col, (rows.shape[0], neighbours.numel()))
    return SparseMatrix(pattern, rows.values, rows.unit), neighbours.cpu()


def _features(block: Block) -> Rows:
    return (block.x,)
