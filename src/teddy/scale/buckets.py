"""Distinct edges on disk, in files that each fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teddy.errors import InputError
from teddy.kernels import edge_keys as kernels
from teddy.scale.prefetch import prefetch_map
from teddy.scale.row_writer import writing

Keys = NDArray[np.uint64]

#: Keys that are sorted at once, and keys of a chunk.
SORTED, CHUNK = 1 << 23, 1 << 21
# Keys of a bucket that are buffered before a write.
_BUFFERED = 1 << 14
_MOST_FILES = 512


class Buckets:
    """Edges as 64-bit keys, partitioned into files by one of their nodes.

    Args:
        node_bits: Bits of the highest node index, if known; then a bucket has edges of nodes with
            neighbouring indices.
    """

    def __init__(self, folder: Path, num_rows: int, node_bits: int | None, directed: bool) -> None:
        wanted = min(max(num_rows // SORTED, 1), _MOST_FILES)
        bits = (wanted - 1).bit_length()
        self._shift = max((node_bits or 0) - bits, 0)
        self._directed = directed
        self._paths = [folder / f"bucket-{i:03}" for i in range(1 << bits)]
        self._gathered = np.empty((len(self._paths), _BUFFERED), np.uint64)
        self._fill = np.zeros(len(self._paths), np.int64)
        for path in self._paths:
            path.touch()
        self.num_loops, self.num_edges, self._num_rows = 0, 0, 0

    def add(self, sources: NDArray[Any], targets: NDArray[Any]) -> None:
        """Add rows."""
        place = 0
        self._num_rows += sources.size
        while place < sources.size:
            place, loops = kernels.to_buckets(
                place, sources, targets, self._directed, self._shift, self._gathered, self._fill
            )
            self.num_loops += int(loops)
            self._write(np.flatnonzero(self._fill > _BUFFERED // 2) if place < sources.size else ())

    def _write(self, buckets: Iterable[int]) -> None:
        for bucket in buckets:
            path = self._paths[bucket]
            with writing(path), path.open("ab") as file:  # ndarray.tofile hides a full disk
                file.write(self._gathered[bucket, : self._fill[bucket]].data)
            self._fill[bucket] = 0

    def unique(self) -> Iterator[Keys]:
        """Yield sorted distinct edges, a bucket at a time; the files keep them."""
        self._write(range(len(self._paths)))
        del self._gathered
        self._check_size(self._num_rows - self.num_loops)
        parts = [part for path in self._paths for part in _parts(path)]
        self._paths = [part.result for part in parts]
        for part, keys in zip(parts, prefetch_map(_unique_keys, parts), strict=True):
            self.num_edges += keys.size
            yield keys
            if part.number == part.of - 1 and part.of > 1:
                part.path.unlink()

    def chunks(self) -> Iterator[Keys]:
        """All edges, a chunk at a time."""
        return prefetch_map(_read, self._places(), threads=1)

    def _check_size(self, keys: int) -> None:
        """Raise unless the files hold this number of keys."""
        size = sum(path.stat().st_size for path in self._paths)
        if size != 8 * keys:
            raise InputError(
                f"{self._paths[0].parent}: has {size:,} bytes of edges, expected {8 * keys:,}; "
                "check the disk and that no other program writes there"
            )

    def _places(self) -> Iterator[_Place]:
        self._check_size(self.num_edges)
        for path in self._paths:
            yield from _chunks_of(path)


#: A file, the start of a chunk in it, and the number of its keys.
_Place = tuple[Path, int, int]


def _chunks_of(path: Path) -> Iterator[_Place]:
    size = path.stat().st_size // 8
    return ((path, start, min(CHUNK, size - start)) for start in range(0, size, CHUNK))


def _read(place: _Place) -> Keys:
    path, start, count = place
    keys = np.fromfile(path, np.uint64, count, offset=8 * start)
    if keys.size != count:  # NumPy does not raise on a disk error
        raise InputError(f"{path}: has {keys.size:,} keys after {start:,}, expected {count:,}")
    return keys


@dataclass(frozen=True)
class _Part:
    """Keys of a file that are sorted at once: all, or one of several parts by hash.

    A hub can make one file larger than the others.
    """

    path: Path
    number: int
    of: int

    @property
    def result(self) -> Path:
        """File of its distinct edges."""
        return self.path if self.of == 1 else Path(f"{self.path}-{self.number}")


def _parts(path: Path) -> list[_Part]:
    count = -(-path.stat().st_size // (16 * SORTED)) or 1
    return [_Part(path, number, count) for number in range(count)]


def _unique_keys(part: _Part) -> Keys:
    """Sort keys and drop duplicates; write them if that changes the file."""
    size = part.path.stat().st_size // 8
    if part.of == 1:
        keys = _read((part.path, 0, size))
    else:
        chunks = []
        for chunk in map(_read, _chunks_of(part.path)):
            count = kernels.slice_of(chunk, part.number, part.of, out := np.empty_like(chunk))
            chunks.append(out[:count].copy())
        keys = np.concatenate(chunks)
    keys.sort()
    keys = keys[: kernels.unique_sorted(keys)]
    if keys.size < size:
        with writing(part.result):
            part.result.write_bytes(keys.data)
    return keys
