"""Sorted graphs with both directions, as in PyG, scored and pruned in linear time."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from teddy.errors import InputError
from teddy.kernels import jit
from teddy.kernels import selection as kernels
from teddy.prune.scores.score import Score
from teddy.prune.select import index_digests, lowest_edges

Array = NDArray[Any]

# Number of columns that are checked first.
_FIRST = 2048


class SortedGraph:
    """Sorted ``edge_index`` with both directions of every edge and without duplicates.

    Its columns are the entries of the adjacency matrix, row by row, so nothing is sorted or copied,
    and passes run on all threads.

    Attributes:
        num_nodes: Number of nodes :math:`N`.
        num_edges: Number of undirected edges :math:`M`, without self-loops.
        degree: int64 ``[N]``, number of neighbours.
    """

    def __init__(self, crow: Array, row: Array, col: Array, num_loops: int) -> None:
        self.num_nodes, self.num_edges = crow.size - 1, (col.size - num_loops) // 2
        self._crow, self._row, self._col = crow, row, col
        degree = np.empty(self.num_nodes, np.int64)
        kernels.close_rows(crow, degree)
        self._loops = np.flatnonzero(row == col) if num_loops else np.empty(0, np.int64)
        degree[col[self._loops]] -= 1
        self.degree = torch.from_numpy(degree)

    @staticmethod
    def from_edge_index(edge_index: Tensor, num_nodes: int | None = None) -> SortedGraph | None:
        """Return the graph of an ``edge_index`` sorted by its first or second row, else None.

        Both directions are present if a sum of 64-bit hashes of the edges, signed by direction, is
        zero. For another ``edge_index`` this has a probability of 2^-64.

        Example:
            >>> SortedGraph.from_edge_index(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])).num_edges
            2
            >>> one_direction = torch.tensor([[0, 1], [1, 2]])
            >>> SortedGraph.from_edge_index(one_direction) is None
            True
        """
        if jit.numba is None or not _is_edge_index(edge_index):
            return None  # an invalid one raises an error elsewhere
        if not isinstance(num_nodes, int | None):
            return None
        first, second = edge_index.numpy()
        for row, col in ((first, second), (second, first)):
            size = int(row[-1]) + 1 if num_nodes is None else num_nodes
            sorted_start = (np.diff(row[:_FIRST]) >= 0).all()  # to skip most unsorted ones early
            if sorted_start and 0 <= row[0] <= row[-1] < size <= kernels.MAX_NODES:
                graph = SortedGraph._check(size, row, col)
                if graph is not None:
                    return graph
        return None

    @staticmethod
    def _check(num_nodes: int, row: Array, col: Array) -> SortedGraph | None:
        crow = np.zeros(num_nodes + 1, np.int64)
        parts = [(*part, row, col, num_nodes, crow[1:]) for part in _parts(row)]
        checks = jit.run_parts(kernels.check_sorted, parts)
        total = sum(int(hashes) for _, hashes, _ in checks) % 2**64  # sums wrap around
        if total or not all(ordered for ordered, _, _ in checks):
            return None
        num_loops = int(sum(loops for _, _, loops in checks))
        return SortedGraph(crow, row, col, num_loops)

    def sum_over_neighbours(self, table: Tensor) -> Tensor:
        """Sum ``table[deg(u)]`` over the neighbours u of each node, int64 ``[N]``."""
        degree = self.degree.numpy()
        if table.dtype != torch.int64 or table.numel() <= degree.max():
            raise InputError(
                f"table has {table.numel()} entries of {table.dtype}, expected int64 for "
                f"degrees up to {degree.max()}"
            )
        padded = np.zeros(max(table.numel(), kernels.MANY + 1), np.int64)
        padded[: table.numel()] = table.numpy()
        sums = np.zeros(self.num_nodes, np.int64)
        short = np.empty(self.num_nodes, np.uint8)
        kernels.to_bytes(degree, short)
        arrays = self._row, self._col, short, degree, padded, sums
        jit.run_parts(kernels.sum_over_rows, [(*p, *arrays) for p in _parts(self._row)])
        jit.run_parts(kernels.differences, [(*p, self._crow, sums) for p in self._row_parts()])
        loops = self._col[self._loops]
        sums[loops] -= padded[degree[loops]]
        return torch.from_numpy(sums)

    def scores(self, score: Score) -> Tensor:
        """Return the score of each column, float64 ``[E]``."""
        out = np.empty(self._col.size)
        arrays = self._crow, self._col, self._values(score), score.join is torch.mul, out
        jit.run_parts(kernels.score_rows, [(*part, *arrays) for part in self._row_parts()])
        return torch.from_numpy(out)

    def keep(self, score: Score, num_pruned: int) -> Tensor:
        """Return a mask of the columns of all but the lowest ``num_pruned`` edges, bool ``[E]``.

        The order is that of :func:`~teddy.prune.select.lowest_edges`: score, then md5.
        """
        if num_pruned == 0:
            return torch.ones(self._col.size, dtype=torch.bool)
        keep = np.empty(self._col.size, dtype=bool)
        values = self._values(score)
        bins, counts = self._bins(_codes(values, self.degree, score))
        ends = counts.cumsum()
        cut = int(np.searchsorted(ends, 2 * num_pruned))  # each edge has two columns
        # An edge's bin is by less than two too low, so the threshold lies in this bin or the next,
        # and only edges up to one bin away can be on either side; one more is for rounding.
        low, high = max(cut - 2, 0), min(cut + 2, counts.size - 1)
        num_between = int(counts[low : high + 1].sum()) + self._loops.size
        parts = jit.split(bins.size)
        buffers = [np.empty(min(b - a, num_between), np.int64) for a, b in parts]
        arguments = [(*p, bins, low, high, keep, b) for p, b in zip(parts, buffers, strict=True)]
        sizes = jit.run_parts(kernels.select_bins, arguments)
        between = np.concatenate([b[:n] for b, n in zip(buffers, sizes, strict=True)])
        between = between[self._row[between] != self._col[between]]
        num_below = int(counts[:low].sum()) // 2
        order, kept = self._exactly(between, num_pruned - num_below, values, score)
        keep[between[order]] = kept
        keep[self._loops] = True
        return torch.from_numpy(keep)

    def _values(self, score: Score) -> NDArray[np.float64]:
        assert score.node_values is not None
        values: NDArray[np.float64] = score.node_values(self).double().numpy()
        if not np.isfinite(values.sum()):
            raise InputError("a node score is not finite, expected a number for each node")
        return values

    def _bins(self, codes: Array) -> tuple[Array, Array]:
        """Return the bin of each column, and the number of columns per bin without self-loops."""
        bins, parts = np.empty(self._col.size, np.uint16), self._row_parts()
        counts = np.zeros((len(parts), 2 * kernels.NUM_CODES), np.int32)
        arrays = self._crow, self._col, codes, bins
        arguments = [(*part, *arrays, count) for part, count in zip(parts, counts, strict=True)]
        jit.run_parts(kernels.bin_rows, arguments)
        loops = np.bincount(bins[self._loops], minlength=counts.shape[1])
        return bins, counts.sum(axis=0, dtype=np.int64) - loops

    def _exactly(
        self, entries: Array, num_pruned: int, values: NDArray[np.float64], score: Score
    ) -> tuple[Array, Array]:
        """Select among some edges; return an order of both directions, and their mask."""
        row, col = (array[entries].astype(np.int64) for array in (self._row, self._col))
        once = row < col
        pairs = torch.from_numpy(np.stack([row[once], col[once]]))
        ends = torch.from_numpy(values)[pairs]
        assert score.join is not None
        scores = score.join(ends[0], ends[1])
        kept = ~lowest_edges(scores, num_pruned, index_digests(pairs)).numpy()
        # The edges are sorted; this key puts both directions of each side by side.
        key = np.minimum(row, col) * self.num_nodes + np.maximum(row, col)
        return np.argsort(key, kind="stable"), np.repeat(kept, 2)

    def _row_parts(self) -> list[tuple[int, int]]:
        """Ranges of the rows of :func:`_parts`."""
        cuts = [int(self._row[begin]) for begin, _ in _parts(self._row)[1:]]
        return list(pairwise([0, *cuts, self.num_nodes]))


def _is_edge_index(edges: object) -> bool:
    return (
        isinstance(edges, Tensor)
        and edges.device.type == "cpu"
        and edges.dtype in (torch.int32, torch.int64)
        and edges.dim() == 2
        and edges.size(0) == 2
        and edges.numel() > 0
        and edges.is_contiguous()
    )


def _parts(row: Array) -> list[tuple[int, int]]:
    """Return ranges of columns of similar size, one per thread, that don't divide a row."""
    cuts = {int(np.searchsorted(row, row[begin])) for begin, _ in jit.split(row.size)[1:]}
    return list(pairwise([0, *sorted(cuts - {0}), row.size]))


def _codes(values: NDArray[np.float64], degree: Tensor, score: Score) -> NDArray[np.uint16]:
    """Round node values down to 15 bits, such that sums of codes have the order of scores.

    If there is no such order, as with products with zero, all codes are equal, and every edge is
    compared by its score.
    """
    codes = torch.from_numpy(values).float()
    if score.join is torch.mul:
        codes.log2_()
    isolated = degree == 0  # in no score
    if isolated.any():
        codes[isolated] = codes[~isolated].amax()
    lowest, highest = (float(end) for end in codes.aminmax())
    if not math.isfinite(highest - lowest):
        return np.zeros(values.size, np.uint16)
    # Not finer than single precision resolves.
    finest = 1e-5 * max(1, abs(lowest), abs(highest))
    step = max((highest - lowest) / (kernels.NUM_CODES - 1), finest)
    result: NDArray[np.uint16] = codes.sub_(lowest).div_(step).numpy().astype(np.uint16)
    return result
