"""Messages of an ``edge_index`` as a sparse matrix, computed once for each graph."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from teddy.kernels.pattern import Pattern
from teddy.kernels.sparse import SparseMatrix

#: Edge lists whose content is compared with a new one.
_KNOWN = 4


@dataclass(frozen=True)
class Entries:
    """Messages by target, then source; a message that is listed twice is two entries.

    Attributes:
        pattern: A row for each target and a column for each source.
        order: Column of ``edge_index`` of each entry.
    """

    pattern: Pattern
    order: Tensor

    @staticmethod
    def from_edges(source: Tensor, target: Tensor, shape: tuple[int, int]) -> Entries | None:
        """Sort messages; None if an end is no node.

        Args:
            source: Source of each message, int64 ``[E]``.
            target: Its target.
            shape: Number of targets and of sources.
        """
        for ends, count in ((source, shape[1]), (target, shape[0])):
            if ends.numel() and not 0 <= int(ends.min()) <= int(ends.max()) < count:
                return None
        order = torch.argsort(target * shape[1] + source, stable=True)
        counts = torch.bincount(target, minlength=shape[0])
        crow = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        return Entries(Pattern(crow, source[order], shape), order)

    @cached_property
    def share(self) -> Tensor:
        """One over the messages of each entry's target, float64."""
        with torch.inference_mode(False):
            counts = self.pattern.crow.diff()
            return counts.clamp(min=1).double().reciprocal().repeat_interleave(counts)

    @cached_property
    def _constant(self) -> dict[tuple[str, torch.dtype], SparseMatrix]:
        return {}

    def matrix(self, reduce: str, dtype: torch.dtype) -> SparseMatrix:
        """Matrix of a sum (entries of 1) or a mean; cached."""
        key = reduce, dtype
        if key not in self._constant:
            with torch.inference_mode(False):
                ones = torch.ones(self.pattern.nnz, dtype=dtype)
                values = ones if reduce == "sum" else self.share.to(dtype)
                self._constant[key] = SparseMatrix(self.pattern, values, unit=reduce == "sum")
        return self._constant[key]

    def weighted(self, weight: Tensor, reduce: str) -> SparseMatrix:
        """Matrix of weighted messages, with gradients for the weights.

        Args:
            weight: Weight of each message, ``[E]``, or of each message and head, ``[E, heads]``.
            reduce: ``sum`` or ``mean``.
        """
        values = weight.index_select(0, self.order)
        if reduce == "mean":
            share = self.share.to(values.dtype)
            values = values * (share if values.dim() == 1 else share[:, None])
        if values.dim() == 1 or values.size(1) == 1:
            return SparseMatrix(self.pattern, values.flatten())
        heads = values.size(1)
        with torch.inference_mode(False):
            pattern = self.pattern.repeat(heads)
            assert pattern.origin is not None
            place = pattern.origin * heads + pattern.row % heads
        return SparseMatrix(pattern, values.flatten().index_select(0, place))


class EntriesCache:
    """Entries of the last edge lists, by their content.

    Layers such as GCNConv make a new tensor in every pass, with the same content. An edge list that
    was changed in place is another one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: list[tuple[Tensor, tuple[int, int, bool], Entries]] = []

    def __reduce__(self) -> tuple[type[EntriesCache], tuple[()]]:
        """Copy and pickle an empty cache."""
        return EntriesCache, ()

    def find(self, edge_index: Tensor, shape: tuple[int, int], backwards: bool) -> Entries | None:
        """Return the entries of an edge list; None if an end is no node.

        Args:
            edge_index: Edges, int64 ``[2, E]``.
            shape: Number of targets and of sources.
            backwards: Whether messages flow from ``edge_index[1]`` to ``edge_index[0]``.
        """
        key = (*shape, backwards)
        with self._lock:
            for place, (content, known_key, entries) in enumerate(self._known):
                if known_key == key and torch.equal(content, edge_index):
                    self._known.insert(0, self._known.pop(place))
                    return entries
            with torch.inference_mode(False), torch.no_grad():
                content = edge_index.clone()
                target, source = content if backwards else content.flip(0)
                made = Entries.from_edges(source, target, shape)
            if made is not None:
                self._known = [(content, key, made), *self._known[: _KNOWN - 1]]
            return made
