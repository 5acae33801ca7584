"""Eigenvalues and eigenvectors of a graph's normalised Laplacian."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from teddy.errors import InputError
from teddy.kernels.pattern import Pattern
from teddy.machine import free_memory
from teddy.models.subspace import block_width, smallest_pairs
from teddy.sparsity import check_count
from teddy.store import cache as disk

Array = NDArray[Any]

_WORTH_KEEPING = 500  # nodes; a smaller graph is decomposed faster than read
_STACKED = 64  # nodes up to which components of one size are decomposed together
_DENSE = 600  # nodes up to which a part of a component's spectrum is taken from the whole
_MOST_BY_EVD = 32_765  # nodes; it counts its workspace of 1 + 6n + 2n^2 numbers in 32 bits
_ROUNDING = 1e-13  # an entry below it is 0


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues and eigenvectors of a Laplacian.

    Attributes:
        values: ``[k]``, ascending, from 0 to 2.
        vectors: ``[N, k]``, orthonormal columns; the largest entry of each (the first one of
            equals) is positive.
    """

    values: Tensor
    vectors: Tensor


def spectrum(pattern: Pattern, count: int = 0, cache: bool = True) -> Spectrum:
    """Decompose :math:`L = I - D^{-1/2} A D^{-1/2}` of an undirected graph, in float64.

    Edges in one direction count as both. A node without edges is a connected component with
    :math:`L_{ii} = 0`, not 1.

    Each connected component is decomposed separately, which is far cheaper after pruning, when
    most are small. Its simple eigenvalue 0 is exact, with the eigenvector :math:`D^{1/2} 1` on its
    nodes. Equal eigenvalues are in the order of the components.

    A part of the spectrum is its lower end: eigenvalues 0 of components with an edge, the largest
    first, for at most half of the pairs, then the smallest eigenvalues above 0, and last nodes
    without edges. Large components use :func:`~teddy.models.subspace.smallest_pairs`.

    Args:
        pattern: Edges; self-loops are ignored.
        count: Number of pairs; 0 or at least N: all.
        cache: Whether to cache the result on disk, from 500 nodes.

    Raises:
        InputError: if the free memory is too small; see :func:`spectrum_bytes`.

    Example:
        >>> edge = Pattern.from_entries(torch.tensor([0, 1]), torch.tensor([1, 0]), (3, 3))
        >>> spectrum(edge)  # and a lone node
        Spectrum(values=tensor([0., 0., 2.]), vectors=tensor([[ 0.7071,  0.0000,  0.7071],
                [ 0.7071,  0.0000, -0.7071],
                [ 0.0000,  1.0000,  0.0000]]))
    """
    graph = _Graph(pattern)
    count = check_count(count, "eigenvalues", 0)
    count = count if 0 < count < graph.num_nodes else graph.num_nodes
    return _cached(graph, count, with_kernel=True, cache=cache)


def positions(pattern: Pattern, count: int, cache: bool = True) -> Tensor:
    """Return positions of nodes: entries of the eigenvectors of the smallest eigenvalues above 0.

    See :func:`spectrum`. With fewer than ``count`` of them, the last columns are 0.

    Example:
        >>> edge = Pattern.from_entries(torch.tensor([0, 1]), torch.tensor([1, 0]), (2, 2))
        >>> positions(edge, 2)
        tensor([[ 0.7071,  0.0000],
                [-0.7071,  0.0000]])
    """
    graph = _Graph(pattern)
    count = check_count(count, "positions", 0)
    most = min(count, graph.num_nodes)
    vectors = _cached(graph, most, with_kernel=False, cache=cache).vectors
    return torch.nn.functional.pad(vectors, (0, count - vectors.size(1)))


def spectrum_bytes(pattern: Pattern, count: int = 0) -> int:
    """Return the peak memory of :func:`spectrum` in bytes, including the result.

    Each component in turn needs three float64 matrices, or for a part of its spectrum six float64
    blocks of iterated vectors. All together need the float32 vectors of each component, and the
    result.
    """
    graph = _Graph(pattern)
    return graph.bytes(count if 0 < count < graph.num_nodes else graph.num_nodes)


class _Graph:
    """Simple undirected graph and its components, numbered by their first nodes."""

    def __init__(self, pattern: Pattern) -> None:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        self.num_nodes, self.device = pattern.shape[0], pattern.col.device
        row, col = pattern.row.cpu().numpy(), pattern.col.cpu().numpy()
        row, col = row[row != col], col[row != col]
        adjacency = csr_array((np.ones(row.size), (row, col)), shape=pattern.shape)
        self.adjacency = ((adjacency + adjacency.T) > 0).astype(float)
        self.adjacency.sort_indices()
        self.degree = np.diff(self.adjacency.indptr)
        component = connected_components(self.adjacency, directed=False)[1]
        self.sizes = np.bincount(component)
        self.order = np.argsort(component, kind="stable")
        self.starts = np.cumsum(self.sizes) - self.sizes

    def fingerprint(self) -> str:
        """Return the sha256 of the number of nodes and the edges."""
        digest = hashlib.sha256(f"{self.num_nodes} nodes\n".encode())
        for part in (self.adjacency.indptr, self.adjacency.indices):
            digest.update(part.astype("<i8").tobytes())
        return digest.hexdigest()

    def batches(self) -> Iterator[Array]:
        """Yield nodes ``[m, n]`` of m components of n nodes: small ones together, others alone."""
        for size in np.unique(self.sizes)[::-1]:
            nodes = self.order[self.starts[self.sizes == size][:, None] + np.arange(size)]
            yield from [nodes] if size <= _STACKED else np.split(nodes, len(nodes))

    def normalised(self, nodes: Array) -> Any:
        """Return the entries of I - L among some nodes, in their order."""
        from scipy.sparse import diags_array

        scale = diags_array(1 / np.sqrt(np.maximum(self.degree[nodes], 1)))
        return (scale @ self.adjacency[nodes][:, nodes] @ scale).tocsr()

    def kernel(self, nodes: Array) -> Array:
        """Return the eigenvector of 0 of each component, ``[m, n]``."""
        root = np.sqrt(np.maximum(self.degree[nodes], 1))
        kernel: Array = root / np.linalg.norm(root, axis=1, keepdims=True)
        return kernel

    def bytes(self, count: int) -> int:
        """Return the bytes needed for a number of pairs."""
        work = held = 0
        for n, m in zip(*np.unique(self.sizes, return_counts=True), strict=True):
            n, m = int(n), int(m)
            together = m if n <= _STACKED else 1
            iterated = 48 * n * block_width(count)
            work = max(work, iterated if _iterates(n, count) else 24 * together * n * n)
            held += 4 * m * n * min(n, count + 1)
        return work + held + 4 * self.num_nodes * count


@dataclass(frozen=True)
class _Component:
    """Nodes ``[n]`` and pairs of a component, the kernel first: float32 ``[j]``, ``[n, j]``."""

    nodes: Array
    values: Array
    vectors: Array


def _cached(graph: _Graph, count: int, with_kernel: bool, cache: bool) -> Spectrum:
    key = f"laplacian 1, {count} pairs, kernel {with_kernel}, {graph.fingerprint()}"
    cache = cache and graph.num_nodes >= _WORTH_KEEPING
    pairs = disk.load(key) if cache else None
    if pairs is None:
        _check_memory(graph, count, with_kernel)
        pairs = _assembled(graph, count, with_kernel)
        if cache:
            disk.save(key, pairs)
    return Spectrum(pairs["values"].to(graph.device), pairs["vectors"].to(graph.device))


def _check_memory(graph: _Graph, count: int, with_kernel: bool) -> None:
    need, free = graph.bytes(count), free_memory()
    if need <= free:
        return
    fewer = count
    while fewer and graph.bytes(fewer) > free:
        fewer //= 2
    name = "eigenvalues" if with_kernel else "positions"
    part = f", or a part of it, such as {name}={fewer}" if fewer else ""
    raise InputError(
        f"the spectrum of {graph.num_nodes} nodes needs {need / 2**30:.1f} GiB of memory, "
        f"{free / 2**30:.1f} GiB are free; expected fewer nodes{part}"
    )


def _assembled(graph: _Graph, count: int, with_kernel: bool) -> dict[str, Tensor]:
    parts = [part for nodes in graph.batches() for part in _decomposed(graph, nodes, count)]
    parts.sort(key=lambda part: int(part.nodes[0]))
    sizes, widths = np.array([part.vectors.shape for part in parts]).T
    values = np.concatenate([part.values for part in parts])
    zero = np.cumsum(widths) - widths
    above = np.delete(np.arange(values.size), zero)
    above = above[np.argsort(values[above], kind="stable")]
    if with_kernel:
        kept = min(int((sizes > 1).sum()), count // 2)
        above = above[: count - kept]
        zero = zero[np.argsort(-sizes, kind="stable")][: count - above.size]
        chosen = np.sort(np.concatenate([zero, above]))
        chosen = chosen[np.argsort(values[chosen], kind="stable")]
    else:
        chosen = above[:count]

    column = np.full(values.size, -1)
    column[chosen] = np.arange(chosen.size)
    vectors = np.zeros((graph.num_nodes, chosen.size), np.float32)
    for part, columns in zip(parts, np.split(column, np.cumsum(widths)[:-1]), strict=True):
        present = columns >= 0
        if present.any():
            vectors[np.ix_(part.nodes, columns[present])] = part.vectors[:, present]
    return {"values": torch.from_numpy(values[chosen]), "vectors": torch.from_numpy(vectors)}


def _decomposed(graph: _Graph, nodes: Array, count: int) -> Iterator[_Component]:
    """Return components of one size, each with at most ``count`` pairs above 0."""
    m, n = nodes.shape
    most, kernel = min(count, n - 1), graph.kernel(nodes)
    S = graph.normalised(nodes.ravel())
    if _iterates(n, count):
        values, vectors = (part[None] for part in smallest_pairs(S, kernel[0], count))
    else:
        values, vectors = _whole(S, m, n)
        values, vectors = values[:, 1 : most + 1], vectors[:, :, 1 : most + 1]
    size = np.abs(vectors)
    vectors[size < _ROUNDING] = 0
    largest = (size >= (1 - 1e-6) * size.max(axis=1, keepdims=True)).argmax(axis=1)[:, None]
    all_values = np.zeros((m, most + 1), np.float32)
    all_vectors = np.empty((m, n, most + 1), np.float32)
    all_values[:, 1:] = values.clip(0, 2)
    all_vectors[:, :, 0] = kernel
    np.multiply(
        vectors,
        np.sign(np.take_along_axis(vectors, largest, axis=1)),
        out=all_vectors[:, :, 1:],
        casting="same_kind",
    )
    return map(_Component, nodes, all_values, all_vectors)


def _whole(S: Any, m: int, n: int) -> tuple[Array, Array]:
    """Return all pairs of m components, whose I - L are the blocks of S."""
    from scipy.linalg import eigh

    if m == 1:
        L = S.toarray()
        np.negative(L, out=L)
        L.flat[:: n + 1] = 1
        driver = "evd" if n <= _MOST_BY_EVD else "evr"
        values, vectors = eigh(L.T, overwrite_a=True, check_finite=False, driver=driver)
        return values[None], vectors[None]
    entries = S.tocoo()
    L = np.tile(np.eye(n), (m, 1, 1))
    L[entries.row // n, entries.row % n, entries.col % n] = -entries.data
    return np.linalg.eigh(L)


def _iterates(n: int, count: int) -> bool:
    """Return whether iteration is cheaper than the whole spectrum of a component."""
    return n > _DENSE and 4 * count < n
