"""Exact selection: the k edges of lowest score, ties in the order of the md5 of their ends' ids.

The tie rule reads an edge's two ids only, not its index in a table, and md5 exists on every engine.
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

#: From numbers of edges, int64 ``[P]``, to hashes that decide among equal scores.
Digests = Callable[[Tensor], NDArray[np.bytes_]]
Ids = Iterable[int | str] | NDArray[np.int64]

# So few pairs aren't worth loading the kernel.
_FEW = 10_000


def lowest_edges(scores: Tensor, k: int, digests: Digests) -> Tensor:
    """Mark the ``k`` lowest edges in the total order (score, md5 of the pair).

    The order is total, so for a larger ``k`` the marked edges contain those of a smaller one.
    Only edges equal to the threshold are hashed.

    Example:
        >>> digests = index_digests(torch.tensor([[0, 0, 1], [1, 2, 2]]))
        >>> lowest_edges(torch.tensor([3.0, 1.0, 2.0]), 2, digests)
        tensor([False,  True,  True])
    """
    if torch.isnan(scores).any():
        raise InputError("an edge score is nan, expected a number for every edge")
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
    """Mark the lowest edges of all groups, each as by :func:`lowest_edges` with its budget.

    Args:
        scores: float64 ``[M]``.
        group: int64 ``[M]``, ascending.
        budgets: int64 ``[G]``, at most the edges that a group has.
        digests: From numbers of edges to the hashes of their ends within their group.

    Example:
        >>> digests = index_digests(torch.tensor([[0, 0, 1], [1, 2, 2]]))
        >>> scores, group = torch.tensor([3.0, 1.0, 2.0]), torch.tensor([0, 0, 1])
        >>> lowest_of_groups(scores, group, torch.tensor([1, 1]), digests)
        tensor([False,  True,  True])
    """
    if torch.isnan(scores).any():
        raise InputError("an edge score is nan, expected a number for every edge")
    if not scores.numel():
        return torch.zeros_like(scores, dtype=torch.bool)
    # By group, then by score: a group's place k - 1 holds the k-th lowest of it.
    ordered = scores[torch.from_numpy(np.lexsort((scores.cpu(), group.cpu()))).to(scores.device)]
    first = torch.searchsorted(group, torch.arange(budgets.numel(), device=group.device))
    threshold = ordered[(first + budgets - 1).clamp(0, scores.numel() - 1)]
    threshold = threshold.masked_fill(budgets == 0, -torch.inf)[group]
    marked = scores < threshold
    missing = budgets - torch.bincount(group[marked], minlength=budgets.numel())
    ties = ((scores == threshold) & (missing[group] > 0)).nonzero().flatten()
    of_tie = group[ties]
    whole = torch.bincount(of_tie, minlength=budgets.numel()) == missing
    marked[ties[whole[of_tie]]] = True
    ties, of_tie = ties[~whole[of_tie]], of_tie[~whole[of_tie]]
    if ties.numel():
        order = np.lexsort((digests(ties), of_tie.cpu()))
        ties = ties[torch.from_numpy(order).to(ties.device)]
        place = torch.arange(ties.numel(), device=ties.device)
        before = torch.searchsorted(of_tie, of_tie)  # ties of the groups before
        marked[ties[place - before < missing[of_tie]]] = True
    return marked


def index_digests(pairs: Tensor) -> Digests:
    """Hashes of edges by the indices of their ends ``[2, M]``, the lower one first."""

    def digests(edges: Tensor) -> NDArray[np.bytes_]:
        # In a set of graphs many have the same numbers.
        known, place = torch.unique(pairs[:, edges], dim=1, return_inverse=True)
        found: NDArray[np.bytes_] = pair_digests(*known.cpu().numpy())[place.cpu().numpy()]
        return found

    return digests


def pair_text(low: int | str, high: int | str) -> str:
    """The text of an edge that is hashed; no two edges have the same.

    Example:
        >>> pair_text(3, 12), pair_text("a-b", "c")
        ('3-12', '3:a-b-c')
    """
    return f"{low}-{high}" if isinstance(low, int) else f"{len(low)}:{low}-{high}"


def pair_digests(lows: Ids, highs: Ids, prefix: str = "") -> NDArray[np.bytes_]:
    """md5 of each pair in hexadecimal digits, ``S32 [P]``, which sort as the numbers do.

    Args:
        lows: Ids of one end, of an undirected edge the lower; large arrays are hashed by a
            compiled kernel where numba is installed.
        highs: Ids of the other end.
        prefix: Text before that of each pair.

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
