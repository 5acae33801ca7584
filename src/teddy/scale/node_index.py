"""Indices of nodes, 0 to N-1, for ids of any type."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from teddy.errors import InputError
from teddy.kernels import edge_keys as kernels
from teddy.kernels.pair_digests import integer_digests, text_digests

Array = NDArray[Any]

#: Maximum index: the two of an edge are packed into 64 bits.
MOST = 2**32 - 1


class NodeIndex(Protocol):
    """Map between ids and indices.

    Attributes:
        size: One more than the highest index.
    """

    size: int

    def encode(self, ids: pa.Array, new: bool = True) -> Array:
        """Unsigned indices of ids; new ids get the next indices."""

    def ids(self, numbers: Array) -> Array:
        """Ids of indices, for integer ids only."""

    def digests(
        self, ones: Array, others: Array, directed: bool, prefix: str = ""
    ) -> NDArray[np.bytes_]:
        """md5 of pairs of ids, see :func:`teddy.prune.select.pair_digests`.

        The lower id of an undirected pair comes first.

        Example:
            >>> RangeNodeIndex(0, 9).digests(np.array([1]), np.array([0]), directed=False).tolist()
            [b'c2eb282156233b5d827219971c8b04c2']
        """
        return integer_digests(self.ids(ones), self.ids(others), directed, prefix)


class RangeNodeIndex(NodeIndex):
    """Index of integers within a narrow range: the offset from the lowest.

    Example:
        >>> import pyarrow as pa
        >>> numbers = RangeNodeIndex(10, 20)
        >>> numbers.encode(pa.array([12, 10])).tolist(), numbers.ids(np.array([2])).tolist()
        ([2, 0], [12])
    """

    def __init__(self, low: int, high: int) -> None:
        if high - low >= MOST:
            raise InputError(f"ids range from {low} to {high}, expected at most {MOST} nodes")
        self._low, self.size = low, high - low + 1

    def encode(self, ids: pa.Array, new: bool = True) -> Array:
        """Indices of ids."""
        numbers: Array = ids.to_numpy() - self._low if self._low else ids.to_numpy()
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < self.size:
            raise InputError("an id is outside the range, expected a table that does not change")
        return numbers

    def ids(self, numbers: Array) -> Array:
        """Ids of indices."""
        return numbers.astype(np.int64) + self._low


class HashNodeIndex(NodeIndex):
    """Index of ids of any type, in the order of their first use, by a hash table.

    Args:
        text: Whether ids are text, else 64-bit integers.
        most_bytes: Maximum memory, that of other arrays included.
        other_bytes: Bytes per node in other arrays.

    Example:
        >>> import pyarrow as pa
        >>> numbers = HashNodeIndex(text=True)
        >>> numbers.encode(pa.array(["ann", "bob", "ann"])).tolist()
        [0, 1, 0]
        >>> numbers.size
        2
    """

    def __init__(self, text: bool, most_bytes: int | None = None, other_bytes: int = 0) -> None:
        self._text, self._most_bytes, self._other_bytes = text, most_bytes, other_bytes
        self._slots = np.zeros(1 << 12, np.uint32)
        self._starts = np.zeros(1 << 11, np.int64)
        self._arena = np.empty(1 << 15, np.uint8)
        self.size = 0

    @property
    def num_bytes(self) -> int:
        """Bytes of its arrays."""
        return self._slots.nbytes + self._starts.nbytes + self._arena.nbytes

    def encode(self, ids: pa.Array, new: bool = True) -> Array:
        """Indices of ids; new ids get the next indices."""
        data, ends = _bytes(ids, self._text)
        numbers, place = np.empty(ends.size - 1, np.uint32), 0
        while place < numbers.size:
            place, self.size = kernels.number_ids(
                place, data, ends, self._slots, self._arena, self._starts, self.size, numbers, new
            )
            if place < numbers.size:
                if not new:
                    raise InputError(
                        f"id {ids[place].as_py()!r} is new, expected a table that does not change"
                    )
                self._grow(int(ends[place + 1] - ends[place]))
        return numbers

    def ids(self, numbers: Array) -> Array:
        """Ids of indices, for integer ids only."""
        return self._arena[: 8 * self.size].view(np.int64)[numbers]

    def digests(
        self, ones: Array, others: Array, directed: bool, prefix: str = ""
    ) -> NDArray[np.bytes_]:
        """md5 of pairs of ids."""
        if not self._text:
            return super().digests(ones, others, directed, prefix)
        return text_digests(self._arena, self._starts, ones, others, directed, prefix)

    def _grow(self, next_id: int) -> None:
        if 2 * (self.size + 1) > self._slots.size:
            self._check_memory(2 * self.num_bytes)
            self._slots = np.zeros(2 * self._slots.size, np.uint32)
            kernels.fill_slots(self._slots, self._arena, self._starts, self.size)
        if self.size + 2 > self._starts.size:
            self._starts = np.concatenate([self._starts, np.zeros_like(self._starts)])
        if self._starts[self.size] + next_id > self._arena.size:
            self._arena = np.concatenate([self._arena, np.empty(self._arena.size + next_id, "u1")])

    def _check_memory(self, needed: int) -> None:
        needed += self._other_bytes * self.size
        if self.size >= MOST or (self._most_bytes is not None and needed > self._most_bytes):
            raise InputError(
                f"the index of more than {self.size:,} ids does not fit into memory, expected "
                "another engine, duckdb or spark"
            )


def _bytes(ids: pa.Array, text: bool) -> tuple[Array, Array]:
    """Bytes of ids, and the offset of each."""
    if not text:
        values = np.ascontiguousarray(ids.to_numpy())
        return values.view(np.uint8), np.arange(0, 8 * values.size + 1, 8, dtype=np.int64)
    _, offsets, data = ids.buffers()
    first = ids.offset
    ends = np.frombuffer(offsets, np.int32)[first : first + len(ids) + 1].astype(np.int64)
    return np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8), ends
