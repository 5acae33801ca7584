"""Engine ``stream``: node arrays in memory, edges on disk."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from teddy.errors import InputError
from teddy.kernels import edge_keys as kernels
from teddy.kernels import jit
from teddy.scale.buckets import Buckets, Keys
from teddy.scale.engine import Degrees, Engine, EngineJob
from teddy.scale.node_index import MOST, HashNodeIndex, NodeIndex, RangeNodeIndex
from teddy.scale.table import EdgeTable
from teddy.scale.threshold import Bins, CandidateEdges, Threshold, find_threshold

#: Bytes of a node: degree, sum or value, and root of its component.
NODE = 4 + 8 + 4
#: Bytes of a node with sparse integer ids, and with text ids of about 16 bytes, at the peak, while
#: the hash table doubles.
FAR_NODE, TEXT_NODE = NODE + 80, NODE + 112
#: Bytes of everything else: Python, torch, chunks of edges, batches of rows.
FIXED = 1_200_000_000

_BINS = 21  # bits: the sign, the exponent and 9 of the fraction


class StreamEngine(Engine):
    """Engine that reads the table twice, and its distinct edges from files of keys."""

    numbers: NodeIndex

    def __init__(self, job: EngineJob) -> None:
        super().__init__(job)
        if jit.numba is None:
            raise InputError("the stream engine needs numba: pip install 'teddy-glt[scale]'")
        if job.memory < FIXED:
            raise InputError(
                f"memory is {job.memory / 1e9:.1f} GB, expected at least {FIXED / 1e9:.1f} GB for "
                "stream"
            )
        self.threshold: Threshold | None = None
        self.product = job.score.join is operator.mul

    def score(self) -> None:
        """Build the graph and compute the value of each node."""
        self.numbers, node_bits = self._numbers()
        self.buckets = Buckets(
            Path(self.job.work), self.job.table.num_rows, node_bits, self.job.directed
        )
        self._read()
        degree = self._count()
        self.num_edges, self.num_loops = self.buckets.num_edges, self.buckets.num_loops
        self.degrees = Degrees.from_counts(_nodes_of_degree(degree))
        self.values = self._values(degree)

    def choose(self, num_pruned: int) -> Threshold:
        """Return the threshold: the last removed edge."""
        self.threshold = find_threshold(self, num_pruned)
        self.components = self._components()
        return self.threshold

    def keep(self, batch: pa.RecordBatch, first_row: int) -> NDArray[np.bool_]:
        """Mask of the kept rows of a batch."""
        assert self.threshold is not None
        sources, targets = (
            self.numbers.encode(ids, new=False) for ids in self.job.table.ends(batch, first_row)
        )
        keep = np.empty(sources.size, np.uint8)
        score = self.threshold.score
        if kernels.compare_rows(sources, targets, self.values, self.product, score, keep):
            equal = np.flatnonzero(keep == 2)
            digests = self._digests(_keys(sources[equal], targets[equal]))
            keep[equal] = digests > self.threshold.digest.encode()
        return keep.astype(bool)

    def histogram(self, low: float, high: float) -> Bins:
        """Ranges of all edges with scores from ``low`` to ``high``, by the scores' upper bits."""
        first, last = _order(low), _order(high)
        shift = max((last - first).bit_length() - _BINS, 0)
        counts = np.zeros((torch.get_num_threads(), (last - first >> shift) + 1), np.int64)
        ends = np.uint64(first), np.uint64(last)
        for keys in self._edges("compared"):
            jit.run_parts(
                kernels.count_scores,
                [
                    (keys[begin:end], self.values, self.product, *ends, np.uint64(shift), bins)
                    for (begin, end), bins in zip(jit.split(keys.size), counts, strict=False)
                ],
            )

        def range_of(place: int) -> tuple[float, float]:
            start = first + (place << shift)
            return _number(start), _number(min(start + (1 << shift) - 1, last))

        return Bins(counts.sum(axis=0), range_of)

    def digest_histogram(self, score: float) -> dict[str, int]:
        """Number of edges of one score by the first four digits of their md5."""
        counts: Counter[str] = Counter()
        for keys in self._in_range(score, score):
            names, numbers = np.unique(self._digests(keys).astype("S4"), return_counts=True)
            counts.update(dict(zip(names.astype(str).tolist(), numbers.tolist(), strict=True)))
        return counts

    def candidates(self, low: float, high: float, digits: str = "") -> CandidateEdges:
        """Edges in a range whose md5 begins with these digits."""
        chunks = []
        for keys in self._in_range(low, high):
            if digits:
                keys = keys[np.char.startswith(self._digests(keys), digits.encode())]
            chunks.append(keys)
        keys = np.concatenate(chunks)
        return CandidateEdges(self._scores(keys), lambda places: self._digests(keys[places]))

    def _numbers(self) -> tuple[NodeIndex, int | None]:
        """Index of nodes, and the bits of the highest index if it is known."""
        table, available = self.job.table, self.job.memory - FIXED
        ids = table.id_range
        if ids is not None:
            low, high = ids
            if lie_close(low, high, table.num_rows) and (high - low + 1) * NODE <= available:
                return RangeNodeIndex(low, high), (high - low).bit_length()
        return HashNodeIndex(table.text_ids, available, NODE), None

    def _read(self) -> None:
        done, table = 0, self.job.table
        for sources, targets in table.id_batches():
            self.buckets.add(self.numbers.encode(sources), self.numbers.encode(targets))
            done += len(sources)
            self.job.progress("rows read", done, table.num_rows)
        self._check_memory()

    def _check_memory(self) -> None:
        nodes, available = self.numbers.size, self.job.memory - FIXED
        if isinstance(self.numbers, HashNodeIndex):
            available -= self.numbers.num_bytes
        if nodes * NODE > available:
            raise InputError(
                f"{nodes:,} nodes take {nodes * NODE / 1e9:.1f} GB, expected at most "
                f"{max(available, 0) / 1e9:.1f} GB beside {FIXED / 1e9:.1f} GB of the engine; "
                "give more memory or use another engine, duckdb or spark"
            )

    def _count(self) -> NDArray[np.uint32]:
        """Degrees of the simple graph."""
        degree = np.zeros(self.numbers.size, np.uint32)
        for keys in self.buckets.unique():
            kernels.count_ends(keys, degree)
            self.job.progress("edges counted", self.buckets.num_edges, self.job.table.num_rows)
        return degree

    def _values(self, degree: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Values of nodes, which overwrite their sums."""
        score = self.job.score
        sums = np.zeros(degree.size, np.int64) if score.summed is None else self._sum(degree)
        values = sums.view(np.float64)
        for first, last in _parts(degree.size):
            part = None if score.summed is None else sums[first:last]
            values[first:last] = score.node_values(degree[first:last], part, self.degrees.max)
        return values

    def _sum(self, degree: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Sums over neighbours, in integers."""
        table = self.job.score.summed_of_degrees(self.degrees.max)
        sums = np.zeros(degree.size, np.int64)
        nodes = jit.split(degree.size)
        for keys in self._edges("summed"):
            jit.run_parts(
                kernels.add_to_sums, [(*part, keys, degree, table, sums) for part in nodes]
            )
        return sums

    def _components(self) -> int:
        """Number of connected components of the kept edges."""
        assert self.threshold is not None
        parents = np.arange(self.numbers.size, dtype=np.uint32)
        joined, score = 0, self.threshold.score
        for keys in self._edges("joined"):
            places = np.empty(keys.size, np.int64)
            fewer, count = kernels.join_components(
                keys, self.values, self.product, score, parents, places
            )
            equal = keys[places[:count]]
            stay = equal[self._digests(equal) > self.threshold.digest.encode()]
            joined += int(fewer) + int(kernels.join_all(stay, parents))
        return self.degrees.nodes - joined

    def _edges(self, what: str) -> Iterator[Any]:
        done = 0
        for keys in self.buckets.chunks():
            yield keys
            done += keys.size
            self.job.progress(f"edges {what}", done, self.num_edges)

    def _in_range(self, low: float, high: float) -> Iterator[Keys]:
        """Yield the edges of a range of scores in chunks."""
        return (self._within(keys, low, high) for keys in self._edges("selected"))

    def _within(self, keys: Keys, low: float, high: float) -> Keys:
        """Select the edges of a range of scores, with all threads."""
        parts = [keys[begin:end] for begin, end in jit.split(keys.size)]
        places = [np.empty(part.size, np.int64) for part in parts]
        counts = jit.run_parts(
            kernels.find_scores,
            [
                (part, self.values, self.product, low, high, chosen)
                for part, chosen in zip(parts, places, strict=True)
            ],
        )
        selected = zip(parts, places, counts, strict=True)
        return np.concatenate([part[chosen[:count]] for part, chosen, count in selected])

    def _scores(self, keys: Keys) -> NDArray[np.float64]:
        sources, targets = _ends(keys)
        scores: NDArray[np.float64] = self.job.score.join(
            self.values[sources], self.values[targets]
        )
        return scores

    def _digests(self, keys: Keys) -> NDArray[np.bytes_]:
        """md5 of edges by their ids; the lower id of an undirected edge comes first."""
        return self.numbers.digests(*_ends(keys), self.job.directed, self.job.digest_prefix)


def lie_close(low: int, high: int, num_rows: int) -> bool:
    """Return whether ids of a range can be indices themselves, without much waste.

    Example:
        >>> lie_close(0, 10**6, 10**5), lie_close(0, 10**12, 10**5)
        (True, False)
    """
    return high - low < min(64 * (2 * num_rows + 1024), MOST)


def most_nodes(table: EdgeTable) -> tuple[int, str, int]:
    """Maximum number of nodes of a table, the source of that number, and bytes per node."""
    ids = table.id_range
    if ids is not None and lie_close(*ids, table.num_rows):
        return ids[1] - ids[0] + 1, "by their ids", NODE
    return 2 * table.num_rows, "at most", TEXT_NODE if ids is None else FAR_NODE


def _keys(sources: Any, targets: Any) -> Keys:
    keys: Keys = sources.astype(np.uint64) << np.uint64(32) | targets.astype(np.uint64)
    return keys


def _ends(keys: Keys) -> tuple[Any, Any]:
    return keys >> np.uint64(32), keys & np.uint64(0xFFFFFFFF)


def _nodes_of_degree(degree: NDArray[np.uint32]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for first, last in _parts(degree.size):
        values, numbers = np.unique(degree[first:last], return_counts=True)
        counts.update(dict(zip(values.tolist(), numbers.tolist(), strict=True)))
    return counts


def _parts(size: int) -> Iterator[tuple[int, int]]:
    step = 1 << 20
    return ((first, min(first + step, size)) for first in range(0, size, step))


def _order(number: float) -> int:
    """Order-preserving 64-bit integer, see :func:`teddy.kernels.edge_keys.count_scores`.

    Example:
        >>> _order(-1.0) < _order(-0.5) < _order(0.0) < _order(2.0)
        True
    """
    bits = int(np.array(number).view(np.uint64))
    return 2**64 - 1 - bits if bits >= 2**63 else bits + 2**63


def _number(order: int) -> float:
    """Inverse of :func:`_order`.

    Example:
        >>> [_number(_order(number)) for number in (-1.5, 0.0, 0.1)]
        [-1.5, 0.0, 0.1]
    """
    bits = order - 2**63 if order >= 2**63 else 2**64 - 1 - order
    return float(np.array(bits, np.uint64).view(np.float64))
