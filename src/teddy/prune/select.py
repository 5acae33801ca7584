"""Exact selection of the k edges of lowest score, with ties broken by the md5 of the end ids.

The tie rule depends on the two ids of an edge, not on its row, and md5 exists on every engine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from teddy.errors import InputError
from teddy.kernels import jit
from teddy.kernels.pair_digests import integer_digests

#: Function from edge indices, int64 ``[P]``, to the hashes that break ties.
Digests = Callable[[Tensor], NDArray[np.bytes_]]
Ids = Iterable[int | str] | NDArray[np.int64]

# Maximum number of pairs that are hashed without the kernel.
_FEW = 10_000


def lowest_edges(scores: Tensor, k: int, digests: Digests) -> Tensor:
    """Mark the ``k`` lowest edges in the total order (score, md5 of the pair).

    The edges marked for a smaller ``k`` are a subset. Only edges at the threshold are hashed.

    Example:
        >>> digests = index_digests(torch.tensor([[0, 0, 1], [1, 2, 2]]))
        >>> lowest_edges(torch.tensor([3.0, 1.0, 2.0]), 2, digests)
        tensor([False,  True,  True])
    """
    if torch.isnan(scores).any():
        raise InputError("an edge score is nan, expected a number for each edge")
    if k == 0 or k == scores.numel():
        return torch.full_like(scores, k > 0, dtype=torch.bool)
    threshold = torch.from_numpy(np.partition(scores.cpu().numpy(), k - 1)[k - 1 : k])
    threshold = threshold.to(scores.device)
    marked = scores < threshold
    ties = (scores == threshold).nonzero().flatten()
    missing = k - int(marked.sum())
    order = np.argsort(digests(ties))
    marked[ties[torch.from_numpy(order[:missing]).to(ties.device)]] = True
    return marked


def lowest_of_groups(scores: Tensor, group: Tensor, budgets: Tensor, digests: Digests) -> Tensor:
    """Mark the lowest edges of each group as :func:`lowest_edges`, with a budget per group.

    Args:
        scores: float64 ``[M]``.
        group: int64 ``[M]``, ascending.
        budgets: int64 ``[G]``, at most the number of edges of each group.
        digests: Function from edge indices to the hashes of their ends within the group.

    Example:
        >>> digests = index_digests(torch.tensor([[0, 0, 1], [1, 2, 2]]))
        >>> scores, group = torch.tensor([3.0, 1.0, 2.0]), torch.tensor([0, 0, 1])
        >>> lowest_of_groups(scores, group, torch.tensor([1, 1]), digests)
        tensor([False,  True,  True])
    """
    if torch.isnan(scores).any():
        raise InputError("an edge score is nan, expected a number for each edge")
    if not scores.numel():
        return torch.zeros_like(scores, dtype=torch.bool)
    # Sorted by group, then by score: entry k - 1 of a group is its k-th lowest score.
    ordered = scores[torch.from_numpy(np.lexsort((scores.cpu(), group.cpu()))).to(scores.device)]
    first = torch.searchsorted(group, torch.arange(budgets.numel(), device=group.device))
    threshold = ordered[(first + budgets - 1).clamp(0, scores.numel() - 1)]
    threshold = threshold.masked_fill(budgets == 0, -torch.inf)[group]
    marked = scores < threshold
    missing = budgets - torch.bincount(group[marked], minlength=budgets.numel())
    ties = ((scores == threshold) & (missing[group] > 0)).nonzero().flatten()
    tie_group = group[ties]
    whole = torch.bincount(tie_group, minlength=budgets.numel()) == missing
    marked[ties[whole[tie_group]]] = True
    ties, tie_group = ties[~whole[tie_group]], tie_group[~whole[tie_group]]
    if ties.numel():
        order = np.lexsort((digests(ties), tie_group.cpu()))
        ties = ties[torch.from_numpy(order).to(ties.device)]
        position = torch.arange(ties.numel(), device=ties.device)
        before = torch.searchsorted(tie_group, tie_group)  # ties of the groups before
        marked[ties[position - before < missing[tie_group]]] = True
    return marked


def index_digests(pairs: Tensor) -> Digests:
    """Return the hashes of edges by the indices of their ends ``[2, M]``, the lower one first."""

    def digests(edges: Tensor) -> NDArray[np.bytes_]:
        # In a set of graphs many edges have the same indices.
        unique, index = torch.unique(pairs[:, edges], dim=1, return_inverse=True)
        hashes: NDArray[np.bytes_] = pair_digests(*unique.cpu().numpy())[index.cpu().numpy()]
        return hashes

    return digests


def pair_text(low: int | str, high: int | str) -> str:
    """Return the text of an edge to hash, unique for each edge.

    Example:
        >>> pair_text(3, 12), pair_text("a-b", "c")
        ('3-12', '3:a-b-c')
    """
    return f"{low}-{high}" if isinstance(low, int) else f"{len(low)}:{low}-{high}"


def pair_digests(lows: Ids, highs: Ids, prefix: str = "") -> NDArray[np.bytes_]:
    """Return the md5 of each pair in hexadecimal digits, ``S32 [P]``, which sort as numbers.

    Args:
        lows: Ids of one end, the lower one of an undirected edge; large arrays are hashed by a
            compiled kernel if numba is installed.
        highs: Ids of the other end.
        prefix: Text before each pair.

    Example:
        >>> pair_digests([0, 0], [1, 2]).tolist()
        [b'c2eb282156233b5d827219971c8b04c2', b'dfbffab08ce62ec457a6c2cf7f55e76c']
    """
    if isinstance(lows, np.ndarray) and isinstance(highs, np.ndarray):
        if lows.size > _FEW and jit.numba is not None:
            return integer_digests(lows, highs, prefix=prefix)
        lows, highs = lows.tolist(), highs.tolist()
    digests = [
        hashlib.md5(f"{prefix}{pair_text(*pair)}".encode(), usedforsecurity=False).hexdigest()
        for pair in zip(lows, highs, strict=True)
    ]
    return np.array(digests, dtype="S32")
