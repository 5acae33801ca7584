"""Sparsity pattern of a matrix: the positions of its entries."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from teddy.kernels import jit
from teddy.kernels import products as kernels
from teddy.tensors import TensorCache

# Elements of a gathered block in a sampled product: small enough to stay in the cache.
_BLOCK = 1 << 20


class Pattern:
    """Positions of a sparse matrix's entries, in CSR order, with a cached transpose.

    Attributes:
        symmetric: True if the pattern is known to be its own transpose.
        origin: Index of each entry in the pattern that this one was made from, if any.

    Example:
        >>> pattern = Pattern.from_entries(torch.tensor([0, 0, 2]), torch.tensor([1, 2, 0]), (3, 3))
        >>> pattern.crow.tolist(), pattern.col.tolist()
        ([0, 2, 2, 3], [1, 2, 0])
        >>> pattern.transpose.col.tolist()
        [2, 0, 0]
    """

    def __init__(
        self,
        crow: Tensor,
        col: Tensor,
        shape: tuple[int, int],
        origin: Tensor | None = None,
        symmetric: bool = False,
    ) -> None:
        self.crow, self.col, self.shape = crow, col, shape
        self.symmetric, self.origin = symmetric, origin
        self._repeated: dict[int, Pattern] = {}
        self._entries: dict[int, kernels.Entries] = {}

    @staticmethod
    def from_entries(row: Tensor, col: Tensor, shape: tuple[int, int]) -> Pattern:
        """Return the pattern of the entries (row, col); duplicates become one entry."""
        keys = torch.unique(row.long() * shape[1] + col.long())
        row, col = keys // shape[1], keys % shape[1]
        return Pattern(_offsets(row, shape[0]), col, shape)

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return self.col.numel()

    @cached_property
    def row(self) -> Tensor:
        """Row of each entry."""
        rows = torch.arange(self.shape[0], device=self.col.device)
        return rows.repeat_interleave(self.crow.diff())

    @cached_property
    def transpose_order(self) -> Tensor:
        """Indices of the entries in the order of the transpose."""
        return column_order(self.crow, self.col, self.shape)

    @cached_property
    def transpose(self) -> Pattern:
        """Pattern of the transpose."""
        if self.symmetric:
            return self
        order = self.transpose_order
        crow = _offsets(self.col[order], self.shape[1])
        return Pattern(crow, self.row[order], (self.shape[1], self.shape[0]))

    @cached_property
    def with_self_loops(self) -> Pattern:
        """Pattern with all diagonal entries; their origin is ``nnz``."""
        # In each row, entries right of the diagonal move one position further than the others.
        right = self.col > self.row
        entries = torch.arange(self.nnz, device=self.col.device)
        nodes = torch.arange(self.shape[0], device=self.col.device)
        position = entries + self.row + right
        diagonal = self.crow[1:] + nodes - torch.bincount(self.row[right], minlength=nodes.numel())
        col = self.col.new_empty(self.nnz + nodes.numel())
        origin = torch.empty_like(col)
        col[position], col[diagonal] = self.col, nodes
        origin[position], origin[diagonal] = entries, self.nnz
        crow = self.crow + torch.arange(self.crow.numel(), device=self.crow.device)
        return Pattern(crow, col, self.shape, origin, self.symmetric)

    def rows(self, start: int, end: int) -> Pattern:
        """Pattern of the rows ``start`` to ``end``, with all columns."""
        crow = self.crow[start : end + 1]
        col = self.col[int(crow[0]) : int(crow[-1])]
        return Pattern(crow - crow[0], col, (end - start, self.shape[1]))

    def repeat(self, heads: int) -> Pattern:
        """Repeat for each head: row (and column) ``i`` becomes ``i * heads + head``; cached."""
        if heads not in self._repeated:
            self._repeated[heads] = self if heads == 1 else self._repeat(heads)
        return self._repeated[heads]

    def _repeat(self, heads: int) -> Pattern:
        counts = self.crow.diff().repeat_interleave(heads)
        crow = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        owner = torch.arange(counts.numel(), device=counts.device).repeat_interleave(counts)
        within = torch.arange(owner.numel(), device=counts.device) - crow[owner]
        origin = self.crow[owner // heads] + within
        col = self.col[origin] * heads + owner % heads
        return Pattern(crow, col, (self.shape[0] * heads, self.shape[1] * heads), origin)

    def entries(self, width: int, chained: bool = False) -> kernels.Entries:
        """Entries in the layout of the kernels for a dense factor of this width; cached."""
        block = kernels.tile_rows(self.shape, self.nnz, width, chained)
        if block not in self._entries:
            self._entries[block] = kernels.Entries(self.crow.numpy(), self.col.numpy(), block)
        return self._entries[block]

    def sampled_product(self, left: Tensor, right: Tensor) -> Tensor:
        """Compute ``left @ right.T`` at the entries of the pattern; no gradients."""
        if jit.available(left, right):
            left, right = left.contiguous(), right.contiguous()
            return kernels.sampled_product(self.row, self.col, left, right)
        step = max(1, _BLOCK // max(1, left.size(1)))
        blocks = zip(self.row.split(step), self.col.split(step), strict=True)
        return torch.cat([(left[row] * right[col]).sum(dim=1) for row, col in blocks])


def column_order(crow: Tensor, col: Tensor, shape: tuple[int, int]) -> Tensor:
    """Order of the entries by column, then row, by a counting sort."""
    if col.device.type != "cpu":
        return torch.argsort(col, stable=True)
    entries = np.arange(col.numel())
    matrix = csr_array((entries, col.numpy(), crow.numpy()), shape=shape)
    return torch.from_numpy(matrix.tocsc().data)


# Patterns of tensors that are still in use.
_patterns = TensorCache()


def cache_pattern(edge_index: Tensor, num_nodes: int) -> None:
    """Cache the pattern of sorted messages in both directions, without self-loops."""
    # A view that does not know its base, which must be free to be released.
    crow = _offsets(edge_index[0], num_nodes)
    pattern = Pattern(crow, edge_index[1].detach(), (num_nodes, num_nodes), symmetric=True)
    _patterns.put(edge_index, num_nodes, pattern)


def edge_pattern(edge_index: Tensor, num_nodes: int) -> Pattern:
    """Pattern with a row for each target and a column for each source, without self-loops.

    It is cached for messages of :class:`teddy.graph.Edges`.
    """
    cached: Pattern | None = _patterns.get(edge_index, num_nodes)
    if cached is not None:
        return cached
    source, target = edge_index[:, edge_index[0] != edge_index[1]]
    return Pattern.from_entries(target, source, (num_nodes, num_nodes))


def row_softmax(scores: Tensor, pattern: Pattern, weights: Tensor | None = None) -> Tensor:
    r"""Softmax over the entries of each row.

    With weights, :math:`w_j \exp(s_j) / \sum_k |w_k| \exp(s_k)`: an entry of weight 0 is ignored,
    and a row of such entries is 0.

    Example:
        >>> pattern = Pattern.from_entries(torch.tensor([0, 0, 1]), torch.tensor([0, 1, 1]), (2, 2))
        >>> row_softmax(torch.tensor([1.0, 1.0, 5.0]), pattern)
        tensor([0.5000, 0.5000, 1.0000])
    """
    row, empty = pattern.row, scores.new_zeros(pattern.shape[0])
    highest = empty.scatter_reduce(0, row, scores.detach(), "amax", include_self=False)
    if weights is not None:
        present = scores.detach().masked_fill(weights == 0, -torch.inf)
        above = empty.scatter_reduce(0, row, present, "amax", include_self=False)
        highest = torch.where(above.isneginf(), highest, above)
    # Only an entry of weight 0 can be above the highest; its share has a gradient.
    shares = (scores - highest[row]).clamp(max=60).exp()
    sizes = shares if weights is None else shares * weights.abs()
    # index_select, not [row]: its gradient is summed in the same order with any number of threads.
    totals = empty.index_add(0, row, sizes)
    if weights is not None:
        totals = totals.masked_fill(totals == 0, 1.0)
    totals = totals.index_select(0, row)
    return (shares if weights is None else shares * weights) / totals


def loop_weights(weights: Tensor, pattern: Pattern) -> Tensor:
    """Weights of the entries of a pattern with self-loops, which have weight 1."""
    assert pattern.origin is not None
    # index_select, not [origin]: its gradient is summed in the same order on any threads.
    return torch.cat([weights, weights.new_ones(1)]).index_select(0, pattern.origin)


def row_sums(values: Tensor, pattern: Pattern) -> Tensor:
    """Sum the entries of each row."""
    return values.new_zeros(pattern.shape[0]).index_add(0, pattern.row, values)


def _offsets(sorted_rows: Tensor, num_rows: int) -> Tensor:
    counts = torch.bincount(sorted_rows, minlength=num_rows)
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])
